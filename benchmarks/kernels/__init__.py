"""The kernel machine against its rivals, to the same measured gap: `python -m benchmarks.kernels.run`."""
