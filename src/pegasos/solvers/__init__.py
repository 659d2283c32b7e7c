"""Solvers: each knows how to start, advance and show its point; the driver does the rest."""
