"""Data that is large: `python -m benchmarks.scale.run`."""
