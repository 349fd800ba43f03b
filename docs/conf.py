"""How the documentation is built. Nothing is fetched while building, and no page loads anything from elsewhere."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from docstrings import skip_foreign, tidy_docstring  # noqa: E402
from generate import write_reference  # noqa: E402
from quicklinks import QuickPythonDomain  # noqa: E402

import aidos  # noqa: E402

project = "aidos"
author = "The aidos contributors"
copyright = "2026, the aidos contributors"
release = version = aidos.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Quotes and dashes stay as typed: an option that became typographic could not be pasted.
smartquotes = False
default_role = "code"

autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# Two modules may call a class alike; a signature that is read without imports then links to the first of them.
suppress_warnings = ["ref.python"]
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"aidos {release}"
html_static_path = ["static"]
html_css_files = ["aidos.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"footer_icons": []}
pygments_style = "friendly"
pygments_dark_style = "native"


def own_nodes(_app, doctree):
    """Each node belongs to its page.

    What `eval-rst` made belongs to a page of its own that knows the whole environment, and all of it would be written
    and read again with every page.
    """
    for node in doctree.findall():
        node.document = doctree


def setup(app):
    """Write the reference from the code before any page is read, and find links quickly."""
    app.connect("builder-inited", lambda app: write_reference(Path(app.srcdir) / "reference" / "generated"))
    app.connect("doctree-read", own_nodes)
    app.connect("autodoc-process-docstring", tidy_docstring)
    app.connect("autodoc-skip-member", skip_foreign)
    app.add_domain(QuickPythonDomain, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
