"""pegasos."""
