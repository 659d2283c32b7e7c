"""The regularisation path, and its picture."""
