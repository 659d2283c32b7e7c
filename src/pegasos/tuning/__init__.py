"""Choosing a model: scaling, kernel, width and lam by search within a budget."""
