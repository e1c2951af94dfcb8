"""What holds for the package as a whole."""

import doctest
import importlib
import importlib.util
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import zonal

# PyTorch is too large for every machine that runs the tests.
MISSING = () if importlib.util.find_spec("torch") else ("zonal.torch",)
PUBLIC = [m.name for m in pkgutil.walk_packages(zonal.__path__, "zonal.") if not m.name.endswith("_core") and m.name not in MISSING]


def test_the_version_is_that_of_the_distribution():
    assert zonal.__version__ == version("zonal")


def test_all_names_are_there_and_documented():
    for name in zonal.__all__:
        assert getattr(zonal, name).__doc__ or name in ("__version__", "AngleLike", "UNSEEN"), name


def test_only_names_for_users_are_listed():
    import zonal.healpy

    assert set(dir(zonal)) - set(zonal.__all__) <= {"chebyshev", "gwrm", "healpy", "jax", "mpi", "torch"}
    assert dir(zonal.io) == sorted(zonal.io.__all__)
    assert "healpy" in dir(zonal) and zonal.smooth is importlib.import_module("zonal.smoothing").smooth


@pytest.mark.parametrize("name, hint", [("smoothing", "it is zonal.smooth, and zonal.healpy.smoothing"),
                                        ("read_map", "it is zonal.io.read_map, and zonal.healpy.read_map"),
                                        ("mollview", "it is zonal.plot.mollweide, and zonal.healpy.mollview"),
                                        ("ang2pix", "zonal.healpy has healpy's functions"), ("sht", "zonal.healpy")])
def test_names_of_healpy_are_pointed_to_their_places(name, hint):
    with pytest.raises(AttributeError, match=f"module 'zonal' has no attribute '{name}': {hint}"):
        getattr(zonal, name)


@pytest.mark.parametrize("module", ["zonal", *PUBLIC])
def test_examples_of_docstrings_hold(module):
    result = doctest.testmod(importlib.import_module(module), extraglobs={"zonal": zonal, "np": np})
    assert result.failed == 0


@pytest.mark.parametrize("page", ["chebyshev-in-python.md", "gradients.md", "python/maps.md"])
def test_pages_say_what_happens(page):
    found = doctest.testfile(str(Path(__file__).parents[2] / "docs" / page), module_relative=False)
    assert found.failed == 0 and found.attempted > 10


def test_import_loads_no_heavy_modules():
    """What the import takes is measured in bench/python_package.py."""
    code = "import sys, zonal; print(*[m for m in ('astropy', 'matplotlib', 'scipy', 'tqdm') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
