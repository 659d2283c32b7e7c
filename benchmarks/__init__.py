"""How long pegasos and its rivals take to come within 1e-2 and 1e-3 of the same optimum: `python -m benchmarks.run`."""
