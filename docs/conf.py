"""Sphinx settings. Build with `python3 -m nox -s docs`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "xpu-sdk"
author = "the xpu-sdk authors"
html_title = "xpu-sdk"
html_theme = "furo"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "from_sources"]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": False}
