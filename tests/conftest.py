"""What all tests share: examples drawn by hypothesis are the same in every run."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("repeatable")
