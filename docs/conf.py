"""How `make docs` builds these pages: Markdown by MyST, the reference from NumPy docstrings, the theme Furo.

Code cells are executed by MyST-NB. Their outputs are cached per state of the package, so that a page never shows
what an earlier version printed, and a second build runs only the pages that changed.
"""

import hashlib
import os
import re
import shutil
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from docutils import nodes

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / "disaggregate"


def source_digest() -> str:
    """Return a digest of the package's source."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        digest.update(path.relative_to(SOURCE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


project = "disaggregate"
author = "The disaggregate developers"
version = release = installed_version("disaggregate")
copyright = f"{author}. Licence: BSD 3-clause"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "_ipython"]

nb_execution_mode = "cache"
nb_execution_cache_path = str(DOCS / "_build" / ".jupyter_cache" / source_digest())
nb_execution_in_temp = True  # each page in an empty folder
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 600
nb_merge_streams = True
nb_output_stderr = "remove"  # paths of the machine that built the page, and notes on progress
# For cells that call `!disaggregate`: the command of this environment, lines that fit on a page, no progress bars.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["COLUMNS"] = "88"
os.environ["TTY_COMPATIBLE"] = "0"
os.environ["IPYTHONDIR"] = str(DOCS / "_build" / "ipython")
startup = DOCS / "_build" / "ipython" / "profile_default" / "startup"
startup.mkdir(parents=True, exist_ok=True)
shutil.copy(DOCS / "_ipython" / "whole_output.py", startup)

myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # an included page brings a heading of its own

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = "disaggregate"
html_show_sphinx = False
html_copy_source = False

napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = False  # else the trailing underscores of attributes are lost
autodoc_typehints = "none"  # the docstrings give the types
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True


def keep_lines(app, doctree):
    """Let tables and the help of commands scroll on a narrow page, where running text wraps."""
    for block in doctree.findall(nodes.literal_block):
        if "stream" in block["classes"] and re.search(r"^(usage:|\s*[┏┌])", block.astext(), re.MULTILINE):
            block["classes"].append("keeps-lines")


def setup(app):
    """Connect what these pages need."""
    app.connect("doctree-read", keep_lines)
