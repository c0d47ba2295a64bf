"""Settings of the documentation site; `make docs` builds it, with warnings as errors."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the modules of this folder

import jella  # noqa: E402

project = "jella"
author = "The jella developers"
copyright = author
version = release = jella.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "provenance_note",
    "root_pages",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    f"{folder}/{kind}" for folder in ("gallery", "tutorials") for kind in ("*.ipynb", "*.py", "*.zip", "*.md5")
]
exclude_patterns += ["sg_execution_times.rst", "*/sg_execution_times.rst"]
default_role = "obj"
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]

# Markdown
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# API reference
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# prompts are not copied
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# gallery
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery"), str(HERE.parent / "examples" / "tutorials")],
    "gallery_dirs": ["gallery", "tutorials"],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"plot_\w+\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "min_reported_time": 5,
    "show_memory": False,
    "ignore_repr_types": r"matplotlib\.(axes|figure)",
    "show_signature": False,
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "doc_module": ("jella",),
    "backreferences_dir": None,
}
warnings.filterwarnings("ignore", message="no clear clusters")

# look
html_theme = "pydata_sphinx_theme"
html_title = "jella"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "jella", "image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["last-updated"],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "monokai",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
