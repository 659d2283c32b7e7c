"""The exceptions and warnings of the library; each message is a sentence with the value and the remedy."""


class PegasosError(ValueError):
    """Input or a setting that cannot be used."""


class GapWarning(UserWarning):
    """A fit ended before its duality gap reached ``tol``; the message says the gap and the remedy."""
