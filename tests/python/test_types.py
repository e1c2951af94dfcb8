"""Type checkers know the package as its documentation does."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zonal
from zonal import _options

pytestmark = pytest.mark.xdist_group("types")  # one process, so that mypy looks at the packages once

EXAMPLE = """
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import zonal
from zonal import gwrm
from zonal.chebyshev import Series, sum_of_products

sky = zonal.synfast(np.ones(33), zonal.Grid.healpix(16), seed=1, fwhm="5deg")
smoothed, reports = zonal.smooth(sky, "5deg", error=1e-6, return_report=True)
sht = zonal.SHT(zonal.Grid.healpix(16), lmax=32, spin=2, threads=1)
alm = sht.analyze(np.stack([sky, sky]), progress=lambda done: done < 2)
plan = zonal.plan(3 * zonal.Kernel.gaussian(0.1), sht.grid, error=1e-3, method="ring-fft")
names: list[str] = [choice.method for choice in plan.choices]
zonal.io.write_map("sky.fits", sky, units=["uK"], overwrite=True)
unit: str = zonal.io.read_map("sky.fits").units[0]
dust: zonal.Map = zonal.Map(zonal.io.read_map("sky.fits"), unit="K_CMB").to("MJy/sr", frequency="353 GHz")
seen = (2 * dust - dust[0]).values[dust.reordered(nest=True) > 0]
with zonal.threads(2) as n, ThreadPoolExecutor(n) as pool:
    turned = list(pool.map(lambda a: zonal.rotate_alm(a, "GC"), [zonal.synalm(np.ones(5), seed=3)]))
f = Series.from_function(np.cos, (-1, 2), tolerance=1e-8)
g: Series = 1 / (2 + f * f) - np.float64(3) * f**2 + sum_of_products((2, f, f), (f,))
first_root: float = f.derivative().roots()[0] + g(0.5)
x, nu = gwrm.Axis("x", modes=12), gwrm.Parameter("nu", (0.1, 0.2), modes=4)
u, v = gwrm.unknowns("u", "v")
solution = gwrm.solve({u: nu * u.d(x, 2) - u * v, v: -v + gwrm.known(lambda t, x, nu: t * x)},
                      {u: lambda x, nu: x * (1 - x), v: 1}, t=(0, 1), axes=[x, nu], conditions=[gwrm.dirichlet(u, x)])
both: np.ndarray = zonal.convolve(sky, zonal.Kernel.gaussian(0.1), method="pixel-sum", mask_mode="renormalize")
certified: float = zonal.smooth(dust, "5deg", return_report=True)[1][0].certificates[0].error
unit = zonal.smooth(dust, "5deg", error=1e-3).unit
wind = zonal.alm2vector(alm, 16, scalars="divergence-vorticity", radius=6371e3, components="east-north")
stream = zonal.vector2alm(wind, 32, scalars="potentials", components="east-north")[1]
slopes: np.ndarray = zonal.gradient(stream, zonal.Grid.octahedral(32), radius=6371e3)
largest: float = solution[u].error() + float(solution(1, 0.5, 0.1)[0]) + solution["v"].series(0).truncation_bound(3)
ordinary = gwrm.solve(lambda t, u: [u[1], -u[0]], [0, 1], t=(0, 1), solver="newton")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("typed")


def mypy(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", *arguments],
                          capture_output=True, text=True, cwd=folder)


def test_the_package_and_its_use_are_typed(folder):
    (folder / "example.py").write_text(EXAMPLE)
    for what in (("-p", "zonal"), ("example.py",)):
        done = mypy(folder, *what)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("call", "says"), [
    ('zonal.smooth(sky, "1deg", methud="auto")', 'Unexpected keyword argument "methud"|call-overload'),
    ('zonal.smooth(sky, "1deg", method="autoo")', "call-overload|arg-type"),
    ('zonal.convolve(sky, zonal.Kernel.gaussian(0.1), mask_mode="renormalise")', "call-overload|arg-type"),
    ('zonal.smooth(dust, "5deg", return_report=True).unit', 'has no attribute "unit"'),
    ('zonal.plan(zonal.Kernel.gaussian(0.1), sht.grid, errors=1e-3)', 'Unexpected keyword argument "errors"'),
    ('zonal.plan(zonal.Kernel.gaussian(0.1), sht.grid, reference="pixels")', "arg-type"),
    ('zonal.udgrade(dust, 8).no_such_thing()', "attr-defined"), ('zonal.remove_dipole(dust).no_such_thing()', "attr-defined"),
    ('zonal.rotate_map(dust, "GC").no_such_thing()', "attr-defined"), ('zonal.synfast(np.ones(9), 8)', 'Missing named argument "seed"|call-overload'),
    ('zonal.synfast(np.ones(9), 8, seed=1, return_alm=True).shape', 'has no attribute "shape"'),
    ('zonal.udgrade(sky, 8, combine="max")', "call-overload|arg-type"), ('zonal.alm2vector(alm, 16, scalars="winds")', "arg-type"), ('zonal.smoothing(sky)', "attr-defined"),
    ('zonal.anafast(sky, iter=3)', 'Unexpected keyword argument "iter"'),
    ('zonal.smooth(dust, "5deg").no_such_thing()', "attr-defined"), ('zonal.SHT(16, lmax="32")', "arg-type"),
    ('u.d("x")', "arg-type"), ('zonal.plot.mollweide(sky, colourbar=False)', 'Unexpected keyword argument "colourbar"')])
def test_wrong_keywords_and_choices_are_found_before_the_run(typed_example, call, says):
    assert re.search(says, typed_example[call]), typed_example[call]


@pytest.fixture(scope="module")
def typed_example(folder):
    """What mypy says of each call, all of which are one file."""
    calls = [mark.args[1] for mark in test_wrong_keywords_and_choices_are_found_before_the_run.pytestmark][0]
    first = len(EXAMPLE.splitlines()) + 1
    (folder / "wrong.py").write_text(EXAMPLE + "".join(call + "\n" for call, _ in calls))
    said = mypy(folder, "wrong.py").stdout
    return {call: "\n".join(line for line in said.splitlines() if line.startswith(f"wrong.py:{first + i}:"))
            for i, (call, _) in enumerate(calls)}


@pytest.mark.parametrize(("function", "options", "more"), [
    (zonal.smooth, _options.ConvolutionOptions, {"beam", "fwhm_in", "beam_in", "floor", "pol", "grid_out", "out", "return_report"}),
    (zonal.convolve, _options.ConvolutionOptions, {"out", "return_report"}),
    (zonal.ConvolutionPlan, _options.PlanOptions, set()), (zonal.anafast, _options.AnalysisOptions, set()),
    (zonal.map2alm, _options.AnalysisOptions, set()), (zonal.plot.mollweide, _options.PictureOptions, {"flip"}),
    (zonal.plot.draw, _options.PictureOptions, set()), (zonal.plot.polar, _options.PolarPictureOptions, {"pole", "radius"})])
def test_type_checkers_and_help_know_the_same_keywords(function, options, more):
    parameters = inspect.signature(function).parameters
    by_keyword = {name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}
    assert by_keyword == set(options.__annotations__) | more
    declared = {name: str(one.annotation).strip("'") for name, one in parameters.items() if name in options.__annotations__}
    wanted = {name: getattr(one, "__forward_arg__", one) for name, one in options.__annotations__.items()}
    assert declared == wanted


def test_the_stub_is_that_of_the_extension():
    stub = (Path(zonal.__file__).parent / "_core.pyi").read_text()
    public = [name for name in dir(zonal._core) if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"^(class|def|    def)? ?{name}\b", stub, re.M)] == []
