"""Solvers: each one starts, advances and reports its point; the driver does the rest."""
