"""Sphinx: the documentation site, with these pages, the tutorials, a gallery, and the reference of the Python package.

tools/build_site.sh builds it. Doxygen writes the C++ reference from the same pages and the headers.
"""
import pathlib
import re

import zonal

project = "Zonal"
author = "The Zonal developers"
release = version = zonal.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["CMakeLists.txt", "claims/**", "**.ipynb_checkpoints"]
html_theme = "furo"
html_title = f"Zonal {version}"
html_show_copyright = False
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = ["torch", "mpi4py"]  # too large to be installed for docstrings; needs an MPI
myst_heading_anchors = 3
nb_execution_mode = "force"  # of the gallery, whose pictures are in no file
nb_execution_excludepatterns = ["tutorials/*"]  # their outputs are kept; tests/python/test_tutorials.py runs them
nb_execution_raise_on_error = True
nb_execution_timeout = 300
# Links from pages to records and sources, which are no pages; tools/check_links.py checks them.
suppress_warnings = ["myst.xref_missing", "myst.header"]

CONTENTS = """
The [gallery](gallery/index.md) has twelve pictures with the code that draws them.

```{toctree}
:hidden:
gallery/index
```

```{toctree}
:hidden:
:caption: Tutorials
tutorials/smooth_within_an_error
tutorials/masks_and_spectra
tutorials/photons
tutorials/filters_and_wavelets
tutorials/gpu_and_gradients
tutorials/several_machines
tutorials/from_healpy
```

```{toctree}
:hidden:
:caption: Guide
guide/command-line
guide/what-a-request-means
guide/from_healpy
guide/from_ducc0
guide/points
guide/kernels
guide/beams
guide/lensing
guide/several-machines
guide/troubleshooting
guide/file-formats
guide/conventions
```

```{toctree}
:hidden:
:caption: Python
python/index
```

```{toctree}
:hidden:
:caption: How it works
how-it-works/convolution
how-it-works/planner
how-it-works/split
how-it-works/pixel-sum
how-it-works/points
how-it-works/beams
how-it-works/methods
how-it-works/accuracy
how-it-works/speed
how-it-works/several-machines
how-it-works/chebyshev
how-it-works/gwrm
how-it-works/design
decisions/index
```
"""
PARAMETER = re.compile(r"^([a-z_][a-zA-Z_0-9]*(?:, [a-z_][a-zA-Z_0-9]*)*): ")


def add_contents(app, docname, source):
    """The front page is Doxygen's, too, which has no table of contents and no gallery."""
    if docname == "index":
        source[0] += CONTENTS
    if docname == "decisions/index":
        names = sorted(path.stem for path in pathlib.Path(app.srcdir, "decisions").glob("*.md") if path.stem != "index")
        source[0] += "\n```{toctree}\n:hidden:\n" + "\n".join(names) + "\n```\n"
    source[0] = re.sub(r"^(# .*?) \{#[\w-]+\}$", r"\1", source[0], count=1, flags=re.MULTILINE)  # Doxygen's anchors


def to_rst(app, what, name, obj, options, lines):
    """Docstrings are plain text: paragraphs, lines that begin with `name: `, indented formulas, and examples."""
    result, in_item, in_example = [], False, False
    for line in lines:
        in_example = line.startswith(">>>") or in_example and bool(line.strip())
        if not in_example:
            line = line.replace("|", r"\|").replace("*", r"\*")
        parameter = PARAMETER.match(line)
        if parameter:
            if not in_item:
                result.append("")
            result.append(f"- **{parameter[1]}**: {line[parameter.end():]}")
            in_item = True
        elif in_item and line.strip() and not line.startswith(" "):
            result.append("  " + line)
        elif line.startswith("    ") and result and not result[-1].strip() and not in_item:
            result += ["::", "", line]
        else:
            in_item = in_item and bool(line.strip())
            result.append(line)
    lines[:] = result


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", to_rst)
