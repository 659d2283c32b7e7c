"""Choosing lam along its path; choosing scaling, kernel, width and lam by search within a budget."""
