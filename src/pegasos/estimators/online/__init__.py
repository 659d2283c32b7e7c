"""Online learners with scikit-learn's interface; the public names are those of `pegasos.online`."""
