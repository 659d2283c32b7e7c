"""The documentation's site: ``make docs`` builds it into build/docs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pegasos

project = "pegasos"
author = "The pegasos developers"
project_copyright = author
version = release = pegasos.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "_site.mathml",
    "_site.gallery",
    "_site.notebooks",
    "_site.reference",
    "_site.navigation",
    "_site.playground",
]
exclude_patterns = ["_site"]
nitpicky = True
default_role = "code"

myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 4
html_math_renderer = "mathml"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"pegasos {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"footer_icons": []}
pygments_style = "default"  # every color of it is readable on its background
pygments_dark_style = "monokai"
