"""Which attributes of each estimator a model file holds, and how they become a fitted estimator again."""
