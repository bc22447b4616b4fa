"""How Sphinx makes the site of these pages: `make docs`.

Everything that a page needs lies beside it, so the site can be read from disk, without a network.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_extensions"))

import redac

project = "redac"
author = "The redac developers"
copyright = f"{author}, BSD-3-Clause"  # noqa: A001
version = release = redac.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "commands",
]
templates_path = ["_templates"]
# The scripts of the gallery become pages of examples/.
exclude_patterns = ["gallery", "_*"]
suppress_warnings = ["config.cache"]  # sphinx_gallery_conf has functions, which cannot be cached
highlight_language = "none"
nitpicky = True
smartquotes = False  # `--output` stays as it is

# Headings have the anchors that they have where Markdown is read as it is.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

# Types are in the docstrings.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
# Names that differ in capitals only would be one file on some systems.
autosummary_filename_map = {
    "redac.stability": "redac.stability_function",
    "redac.certificate.certificate": "redac.certificate.certificate_function",
}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # their page loads scripts from elsewhere
    "plot_gallery": True,
    "doc_module": ("redac",),
    "reference_url": {"redac": None},
    "backreferences_dir": "reference/generated/examples",
    "inspect_global_variables": True,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "redac"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}
html_show_search_summary = False  # it would read other pages, which browsers refuse from disk
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,  # all parts of the site
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": True,
}


def leave_out(app, kind, name, member, skip, options):
    """Methods that scikit-learn gives every estimator are described by scikit-learn."""
    return skip or (getattr(member, "__module__", None) or "").startswith("sklearn.") or None


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-skip-member", leave_out)
