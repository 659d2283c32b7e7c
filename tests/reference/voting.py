"""One against one, row by row and pair by pair: votes, and every outcome within reach."""

from itertools import combinations, product


def tally(scores, n_classes):
    """The votes of the classes and the sums of their scores; a score is positive for the second of its pair."""
    votes, sums = [0] * n_classes, [0.0] * n_classes
    for score, (first, second) in zip(scores, combinations(range(n_classes), 2), strict=True):
        votes[second if score > 0 else first] += 1
        sums[first] -= score
        sums[second] += score
    return votes, sums


def winner(scores, n_classes):
    """The class with the most votes; of those that tie the one with the largest sum, of these the first."""
    votes, sums = tally(scores, n_classes)
    return max(range(n_classes), key=lambda k: (votes[k], sums[k], -k))


def winners_within(scores, reach, n_classes):
    """The winners at the corners of the box of scores within reach."""
    corners = product(*((score - r, score + r) for score, r in zip(scores, reach, strict=True)))
    return {winner(corner, n_classes) for corner in corners}
