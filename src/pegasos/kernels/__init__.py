"""Kernels on vectors, strings, graphs and time series, and their algebra."""
