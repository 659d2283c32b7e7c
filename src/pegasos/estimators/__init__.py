"""The scikit-learn face: check, encode, build the problem, run, write down."""
