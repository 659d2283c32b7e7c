"""The exceptions of the library; each message is a sentence with the value and the remedy."""


class PegasosError(ValueError):
    """Input or a setting that cannot be used."""
