"""Benchmarks of what is larger than one memory, or one machine."""
