"""What the documentation's site needs beyond Sphinx: formulas, the gallery, links."""
