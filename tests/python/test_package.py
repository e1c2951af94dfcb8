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
MISSING = () if importlib.util.find_spec("torch") else ("zonal.torch", "zonal._torch_")
PUBLIC = [m.name for m in pkgutil.walk_packages(zonal.__path__, "zonal.")
          if not m.name.endswith("_core") and not m.name.startswith(MISSING)]


def test_the_version_is_that_of_the_distribution():
    assert zonal.__version__ == version("zonal")


def test_all_names_are_there_and_documented():
    for name in zonal.__all__:
        assert getattr(zonal, name).__doc__ or name in ("__version__", "AngleLike", "UNSEEN"), name


def test_only_names_for_users_are_listed():
    import zonal.healpy

    assert set(dir(zonal)) - set(zonal.__all__) <= {"chebyshev", "ducc0", "gwrm", "healpy", "jax", "mpi", "torch"}
    import zonal.chebyshev
    import zonal.gwrm

    for module in (zonal.io, zonal.plot, zonal.gwrm, zonal.chebyshev):
        assert dir(module) == sorted(module.__all__)
    assert not [name for name in dir(zonal.healpy) if name.startswith("_") and name != "__version__" or name in ("Any", "importlib")]
    assert set(zonal.healpy.__all__) | {"projview", "pixelfunc", "projector"} <= set(dir(zonal.healpy))
    assert "healpy" in dir(zonal) and zonal.smooth is importlib.import_module("zonal._smoothing").smooth


@pytest.mark.parametrize("name, hint", [("smoothing", "it is zonal.smooth, and zonal.healpy.smoothing"),
                                        ("read_map", "it is zonal.io.read_map, and zonal.healpy.read_map"),
                                        ("mollview", "it is zonal.plot.mollweide, and zonal.healpy.mollview"),
                                        ("projplot", "it is zonal.plot.line, and zonal.healpy.projplot"),
                                        ("ang2pix", "it is zonal.healpy.ang2pix with healpy's arguments$"),
                                        ("read_beam", "it is zonal.io.read_beam$"), ("torch", "import zonal.torch first"),
                                        ("grid", r"is zonal\.Grid meant\?"), ("smoth", r"is zonal\.smooth meant\?")])
def test_names_of_healpy_are_pointed_to_their_places(name, hint):
    with pytest.raises(AttributeError, match=f"module 'zonal' has no attribute '{name}': {hint}"):
        getattr(zonal, name)
    # Nor is there a module of the name, which could not be called.
    assert name in ("grid", "torch") or importlib.util.find_spec(f"zonal.{name}") is None


@pytest.mark.parametrize("module, name, hint", [
    ("io", "readmap", ": is zonal.io.read_map meant?"), ("plot", "mollview", ": it is zonal.plot.mollweide"),
    ("plot", "mollwiede", ": is zonal.plot.mollweide meant?"), ("io", "xyzzy", ""), ("plot", "__wrapped__", "")])
def test_parts_say_where_their_names_are(module, name, hint):
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(zonal, module), name)
    assert str(caught.value) == f"module 'zonal.{module}' has no attribute {name!r}{hint}"


@pytest.mark.parametrize("module", ["zonal", *PUBLIC])
def test_examples_of_docstrings_hold(module):
    result = doctest.testmod(importlib.import_module(module), extraglobs={"zonal": zonal, "np": np})
    assert result.failed == 0


@pytest.mark.parametrize("page", ["python/chebyshev.md", "python/covariance.md", "python/gradients.md", "python/maps.md",
                                  "python/spectra.md"])
def test_pages_say_what_happens(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the files that they write
    found = doctest.testfile(str(Path(__file__).parents[2] / "docs" / page), module_relative=False)
    assert found.failed == 0 and found.attempted > 10


def test_import_loads_no_heavy_modules():
    """Each of them takes longer than the rest."""
    code = "import sys, zonal; print(*[m for m in ('astropy', 'matplotlib', 'scipy', 'tqdm') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_cpp_programs_find_what_they_need_or_hear_why_not(monkeypatch, tmp_path):
    from zonal import _cpp

    for folder, file in (("include/zonal", "sht.hpp"), ("lib/cmake/zonal", "zonalConfig.cmake")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).touch()
    monkeypatch.setattr(_cpp, "_HERE", str(tmp_path))
    assert (Path(zonal.get_include()) / "zonal" / "sht.hpp").exists() and (Path(zonal.cmake_dir()) / "zonalConfig.cmake").exists()
    monkeypatch.setattr(_cpp, "_HERE", str(tmp_path / "checkout"))
    for function, folder in ((zonal.get_include, "include"), (zonal.cmake_dir, "lib/cmake/zonal")):
        with pytest.raises(zonal.Error, match=f"checkout/{folder}: is not there, .* run pip install . in its source"):
            function()
