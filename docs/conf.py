"""How `make docs` builds these pages: Markdown by MyST, the reference from NumPy docstrings, the theme Furo."""

from importlib.metadata import version as installed_version

project = "disaggregate"
author = "The disaggregate developers"
version = release = installed_version("disaggregate")
copyright = f"{author}. Licence: BSD 3-clause"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # an included page brings a heading of its own

html_theme = "furo"
html_title = "disaggregate"
html_show_sphinx = False
html_copy_source = False

napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_typehints = "none"  # the docstrings tell the types
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
