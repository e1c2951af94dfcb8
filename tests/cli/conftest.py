"""Drives the programs `zonal` and `zonal-bench`, whose paths are in the environment variables ZONAL (default: build/bin/zonal)
and ZONAL_BENCH (default: beside it)."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import healpy
import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from processes import computed_by_children

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
ZONAL = os.environ.get("ZONAL", str(ROOT / "build" / "bin" / "zonal"))
BENCH = os.environ.get("ZONAL_BENCH", str(pathlib.Path(ZONAL).with_name("zonal-bench")))
UNSEEN = healpy.UNSEEN
EPS = 2.0**-52
# `zonal plot` draws by the package of the source tree, where that has been built into it and no other is named.
if "ZONAL_PYTHON" not in os.environ and any((ROOT / "python" / "zonal").glob("_core*.so")):
    os.environ |= {"ZONAL_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "python")}
sys.path.append(str(ROOT / "bench"))  # certificate_attacks and what it compares with


def pytest_sessionstart(session):
    """One clear message instead of a failure of every test."""
    for name, path in (("ZONAL", ZONAL), ("ZONAL_BENCH", BENCH)):
        if not os.access(path, os.X_OK):
            pytest.exit(f"{name} = {path}: no such program; build it or say where it is", returncode=2)


class Result:
    """What one run did."""

    def __init__(self, process, cpu_seconds):
        self.cpu_seconds = cpu_seconds
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def report(self):
        return json.loads(self.out)


def call(*arguments, program=ZONAL, cwd=None, timeout=600, **options):
    """Runs a program, zonal by default, with these arguments."""
    command = [program, *map(str, arguments)]
    before = computed_by_children()
    process = subprocess.run(command, cwd=cwd, timeout=timeout, capture_output=True, text=True, errors="replace", **options)
    return Result(process, computed_by_children() - before)


def expect_success(program, folder):
    """A function that runs the program in a folder and returns the report of --json."""

    def run(*arguments):
        result = call(*arguments, "--json", program=program, cwd=folder)
        assert result.code == 0, result.err
        assert result.err == ""
        return result.report

    return run


def expect_failure(program, folder):
    """A function that runs the program, expects an exit code and exactly one line on standard error, and returns that line."""

    def run(code, *arguments, **options):
        before = sorted(path.name for path in folder.iterdir())
        result = call(*arguments, program=program, cwd=folder, **options)
        assert result.code == code, (result.code, result.err)
        lines = result.err.splitlines()
        assert len(lines) == 1, result.err
        assert lines[0].startswith(pathlib.Path(program).name)
        assert result.out == ""
        assert sorted(path.name for path in folder.iterdir()) == before, "something was left behind"
        return lines[0]

    return run


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the marks
def pytest_collection_modifyitems(items):
    """The tests that share a folder run in one process."""
    for item in items:
        if "folder" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """For large files that the tests of a module share; it goes with the last of them."""
    made = tmp_path_factory.mktemp("module")
    yield made
    shutil.rmtree(made)


@pytest.fixture
def zonal(tmp_path):
    """Runs zonal in an empty folder and expects success; returns the report of --json."""
    return expect_success(ZONAL, tmp_path)


@pytest.fixture
def bench(tmp_path):
    """The same of zonal-bench."""
    return expect_success(BENCH, tmp_path)


@pytest.fixture
def fails(tmp_path):
    """Runs zonal, expects this exit code and exactly one line on standard error, and returns that line."""
    return expect_failure(ZONAL, tmp_path)


@pytest.fixture
def bench_fails(tmp_path):
    """The same of zonal-bench."""
    return expect_failure(BENCH, tmp_path)


@pytest.fixture
def sky(tmp_path):
    """Random band-limited I, Q, U (nside 16, lmax 32), written by healpy as sky.fits; returns the maps."""
    rng = np.random.default_rng(1)
    size = healpy.Alm.getsize(32)
    alm = rng.normal(size=(3, size)) + 1j * rng.normal(size=(3, size))
    alm[:, :33] = alm[:, :33].real
    maps = healpy.alm2map(list(alm), 16)
    healpy.write_map(tmp_path / "sky.fits", maps, dtype=np.float64, column_units="uK", coord="G",
                     extra_header=[("POLCCONV", "COSMO")])
    return maps


def assert_close(found, expected, **options):
    """numpy's assert_allclose, which lets NaN pass where it stands on both sides; this does not."""
    np.testing.assert_allclose(found, expected, equal_nan=False, **options)


def largest(values):
    """The largest of some numbers; NaN where one is, which Python's max drops."""
    return float(np.max(list(values)))


def read_map(path, field=None, **options):
    """All columns (or these) of a map, in its own order, without healpy's conversion of UNSEEN or type; never NaN."""
    maps = healpy.read_map(path, field=field, nest=None, dtype=None, **options)
    assert not np.isnan(maps).any(), f"{path} has NaN"
    return maps


def header(path, hdu=1):
    """FITS header of an extension."""
    from astropy.io import fits

    return fits.getheader(path, hdu)


def write_costs(path, legendre=1.0, sums=1.0):
    """Costs of a CPU whose Legendre transforms and sums over pixels take so many times what one core's take (--costs)."""
    nothing = {"pixels": [], "seconds": []}
    transform = {"legendre_flop": 3.6e-11 * legendre, "pixel": 1.96e-8, "call": 0, "others": nothing}
    names = ("kernel_value", "row_product", "mode_product", "pixel_product", "uneven_product", "pixel_row", "pixel_weight",
             "longest_sum", "fft_pixel", "ring_value", "map", "call")

    def pixels(**values):
        return {name: sums * values.get(name, 0) for name in names} | {"others": nothing}

    def both(product, row):
        return {"pixel_product": product, "uneven_product": product, "pixel_row": row}

    costs = {"smoothing": transform, "iteration": transform,
             "ring_fft_single": pixels(kernel_value=2e-8, mode_product=4e-10, fft_pixel=3.4e-9, **both(2.2e-11, 7.4e-10)),
             "ring_fft_double": pixels(kernel_value=2e-8, mode_product=7.3e-10, fft_pixel=4.1e-9, **both(1.2e-10, 8.3e-10)),
             "pixel_sum_single": pixels(**both(1.1e-11, 7.9e-10)),
             "pixel_sum_double": pixels(**both(3.5e-11, 1.2e-9))}
    device = {"device": "cpu", "scalar": costs, "polarization": costs}
    path.write_text(json.dumps({"zonal_costs": 4, "machine": "made up", "unit": "s", "devices": [device]}))


def runner_with_white_map(folder, nside, **costs):
    """white.fits, costs.json by write_costs, and a function that runs zonal there and returns its report."""
    healpy.write_map(folder / "white.fits", np.random.default_rng(8).normal(size=12 * nside**2), dtype=np.float64)
    write_costs(folder / "costs.json", **costs)

    def zonal(*arguments):
        result = call(*arguments, "--json", cwd=folder)
        assert result.code == 0, result.err
        return result.report

    return zonal
