"""SplitMix64, bounded numbers by Lemire's method and the shuffle of Fisher and Yates, on Python's own integers."""

INCREMENT = 0x9E3779B97F4A7C15


class Random:
    """One 64-bit number is the whole state."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + INCREMENT) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """Uniform in 0 .. bound - 1: the 2**32 mod bound products that would favour some numbers are drawn again."""
        while True:
            product = (self.next() >> 32) * bound
            if product % 2**32 >= 2**32 % bound:
                return product >> 32

    def shuffle(self, order: list[int]) -> None:
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
