"""What zonal.ducc0.misc and zonal.ducc0.fft have is ducc0's, and names that are missing say so."""

import ast
import inspect
import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import ducc0
import numpy as np
import pytest

import zonal
import zonal.ducc0
from ducc0_peer import EPS, length, rings


@pytest.mark.parametrize("n", [1, 2, 3, 64, 65])
def test_gauss_legendre(n):
    np.testing.assert_allclose(zonal.ducc0.misc.GL_thetas(n), ducc0.misc.GL_thetas(n), rtol=0, atol=2e-15)
    # ducc0's rounds by some n eps, relative to the largest.
    weights = ducc0.misc.GL_weights(n, 7)
    np.testing.assert_allclose(zonal.ducc0.misc.GL_weights(n, 7), weights, rtol=0, atol=8 * n * EPS * weights.max())


def deflections(n, real=np.float64, size=0.3):
    ways = np.random.default_rng(1).standard_normal((n, 2)) * size
    ways[0], ways[1], ways[2] = (0, 0), (1e-9, -1e-9), (np.pi, 0.0)
    return ways.astype(real)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("rotation", [False, True])
@pytest.mark.parametrize("size", [1e-3, 0.3, 2.0])
def test_deflected_angles(size, rotation, real):
    where = rings()
    where["theta"][[0, -1]] = 0.01, np.pi - 0.02  # at a pole longitudes have no meaning
    ways = deflections(length(where) + 4, real, size)
    out = np.full((len(ways), 2 + rotation), 5, real)
    ours = zonal.ducc0.misc.get_deflected_angles(**where, deflect=ways, calc_rotation=rotation, res=out, nthreads=2)
    theirs = ducc0.misc.get_deflected_angles(**where, deflect=ways, calc_rotation=rotation, res=np.full_like(out, 5), nthreads=2)
    assert ours is out
    assert np.array_equal(ours == 5, theirs == 5)  # pixels of no ring
    # Longitude and rotation are undetermined by eps / sin(theta') near the poles, and near the antipode of the start, where all
    # ways meet, by eps / (1 + cos |d|).
    within = 64 * (EPS if real is np.float64 else np.finfo(np.float32).eps) / np.maximum(np.sin(theirs[:, :1]), 1e-3)
    within = within / np.maximum(1 + np.cos(np.linalg.norm(ways.astype(float), axis=1)), 1e-4)[:, None]
    turn = 2 * np.pi
    gaps = np.abs(ours - theirs)
    gaps[:, 1:] = np.minimum(gaps[:, 1:], np.abs(gaps[:, 1:] - turn))
    assert np.all(gaps[3:] <= within[3:])
    assert np.all(gaps[:3, 0] <= within[:3, 0])
    assert np.all((ours[ours[:, 0] != 5, 1] >= 0) & (ours[ours[:, 0] != 5, 1] < turn + 1e-6))


def test_pixels_may_be_closer_together():
    where = rings()
    where["theta"][[0, -1]] = 0.3, 2.9
    ways, dphi = deflections(length(where), size=0.05), np.linspace(0.01, 0.2, 13)
    ways[:3] = 0.01
    ours, theirs = (m.get_deflected_angles(**where, deflect=ways, dphi=dphi, res=np.zeros_like(ways)) for m in (zonal.ducc0.misc, ducc0.misc))
    assert np.all((ours[:, 1] >= 0) & (ours[:, 1] < 2 * np.pi))  # ducc0 turns back once at most
    inside = theirs[:, 0] > 0.1
    np.testing.assert_allclose(ours[inside, 0], theirs[inside, 0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.exp(1j * ours[inside, 1]), np.exp(1j * theirs[inside, 1]), rtol=0, atol=1e-13)


def test_deflections_may_have_any_strides():
    where = rings()
    ways = deflections(length(where), size=0.1)
    out = np.zeros((3, len(ways))).T
    zonal.ducc0.misc.get_deflected_angles(**where, deflect=np.asfortranarray(ways), calc_rotation=True, res=out)
    np.testing.assert_array_equal(out, zonal.ducc0.misc.get_deflected_angles(**where, deflect=ways, calc_rotation=True))


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("shape", [(), (7,), (3, 4), (300_001,)])
def test_values_turned_by_the_rotation(shape, dtype):
    rng = np.random.default_rng(3)
    values = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    values = np.asarray(values)
    gamma = np.asarray(rng.uniform(-3, 3, shape)).astype(values.real.dtype)
    ours, theirs = values.copy(), values.copy()
    assert zonal.ducc0.misc.lensing_rotate(ours, gamma, -3, nthreads=2) is None
    ducc0.misc.lensing_rotate(theirs, gamma, -3)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=40 * np.finfo(dtype).eps)  # of angles up to 9 and values up to 4.5
    spread = np.zeros((*shape, 2), dtype)[..., 0]
    spread[...] = values
    zonal.ducc0.misc.lensing_rotate(spread, gamma, -3)
    np.testing.assert_array_equal(spread, ours)


def test_threads_of_the_pool_are_those_of_zonal():
    assert zonal.ducc0.misc.available_hardware_threads() == ducc0.misc.available_hardware_threads()
    with zonal.threads(3):
        assert zonal.ducc0.misc.thread_pool_size() == 3
        zonal.ducc0.misc.resize_thread_pool(2)
        assert zonal.threads() == zonal.ducc0.misc.thread_pool_size() == 2


def test_lengths_that_are_quick_to_transform():
    for real in (False, True):
        assert [zonal.ducc0.fft.good_size(n, real) for n in range(1, 3000)] == [ducc0.fft.good_size(n, real) for n in range(1, 3000)]


def test_the_version_is_that_of_the_ducc0_it_stands_for():
    assert zonal.ducc0.__version__.split(".")[:2] == ducc0.__version__.split(".")[:2]


@pytest.mark.parametrize("module", ["sht", "sht.experimental", "healpix", "misc", "fft"])
def test_names_are_those_of_ducc0(module):
    ours, theirs = zonal.ducc0, ducc0
    for name in module.split("."):
        ours, theirs = getattr(ours, name), getattr(theirs, name)
    assert set(ours.__all__) <= set(dir(theirs))


@pytest.mark.parametrize("module", ["sht", "sht.experimental", "healpix", "misc", "fft"])
def test_defaults_are_those_of_ducc0(module):
    """As the first line of each docstring of ducc0 has them."""
    ours, theirs = attrgetter(module)(zonal.ducc0), attrgetter(module)(ducc0)
    compared = 0
    for name in filter(lambda name: inspect.isfunction(getattr(ours, name)), ours.__all__):
        parameters = inspect.signature(getattr(ours, name)).parameters
        stated = dict(re.findall(r"(\w+): [^=,]+ = ([^,)]+)", getattr(theirs, name).__doc__.splitlines()[0]))
        for keyword in parameters.keys() & stated.keys():
            assert parameters[keyword].default == ast.literal_eval(stated[keyword]), (name, keyword)
            compared += 1
    assert compared >= {"sht": 100, "misc": 5}.get(module, 0)


@pytest.mark.parametrize("call, message", [
    (lambda: zonal.ducc0.nufft, "module 'zonal.ducc0' has no attribute 'nufft': Zonal has nothing of it"),
    (lambda: zonal.ducc0.fft.c2c, "Zonal has no FFTs of arrays"),
    (lambda: zonal.ducc0.sht.sharpjob_d, "it is not in Zonal"),
    (lambda: zonal.ducc0.sht.synthesys, "is zonal.ducc0.sht.synthesis meant"),
    (lambda: zonal.ducc0.sht.experimental.alm2flm, "it is not in Zonal"),
    (lambda: zonal.ducc0.misc.OofaNoise, "module 'zonal.ducc0.misc' has no attribute 'OofaNoise'"),
    (lambda: zonal.ducc0.healpix.vec2angle, "is zonal.ducc0.healpix.vec2ang meant"),
])
def test_names_that_are_missing_say_so(call, message):
    with pytest.raises(AttributeError, match=message):
        call()


DEFLECTION = {"theta": np.array([1.0]), "phi0": np.zeros(1), "nphi": np.array([4]), "ringstart": np.array([0])}


@pytest.mark.parametrize("call, message", [
    (lambda: zonal.ducc0.misc.GL_thetas(0), "nlat = 0: must be 1 or more"),
    (lambda: zonal.ducc0.misc.GL_weights(3, 0), "nlon = 0: must be 1 or more"),
    (lambda: zonal.ducc0.misc.resize_thread_pool(0), "nthreads_new = 0: must be 1 or more"),
    (lambda: zonal.ducc0.fft.good_size(0), "n = 0: must be 1 or more"),
    (lambda: zonal.ducc0.misc.get_deflected_angles(**DEFLECTION, deflect=np.zeros((3, 2))), "deflect: has 3 pixels: must be 4 or more"),
    (lambda: zonal.ducc0.misc.get_deflected_angles(**DEFLECTION, deflect=np.zeros((4, 3))), r"deflect: has shape \(4, 3\)"),
    (lambda: zonal.ducc0.misc.get_deflected_angles(**DEFLECTION, deflect=np.zeros((4, 2)), res=np.zeros((4, 3))),
     r"res: has shape \(4, 3\): must be \(4, 2\)"),
    (lambda: zonal.ducc0.misc.get_deflected_angles(**DEFLECTION, deflect=np.zeros((4, 2)), dphi=np.zeros(2)),
     r"dphi: has shape \(2,\): must be \[1\]"),
    (lambda: zonal.ducc0.misc.lensing_rotate(np.zeros(3, complex), np.zeros(4), 2), r"gamma: has shape \(4,\)"),
    (lambda: zonal.ducc0.misc.lensing_rotate(np.zeros(3), np.zeros(3), 2), "values = an array of float64"),
])
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "from_ducc0.md"
PROGRAMS = [re.sub("(?m)^    ", "", block) for block in re.findall(r"(?m)(?:^(?:    .*)?\n)+", GUIDE.read_text()) if "sys" in block]


@pytest.mark.parametrize("program", PROGRAMS, ids=["whole", "transforms"])
def test_the_guide_puts_it_in_place_of_ducc0(program):
    uses = ["import ducc0, ducc0.healpix, zonal", "from ducc0.sht.experimental import synthesis_2d", "from ducc0.healpix import Healpix_Base",
            "from ducc0.fft import good_size", "from ducc0.misc import get_deflected_angles",
            "assert synthesis_2d is zonal.ducc0.sht.synthesis_2d and ducc0.sht is zonal.ducc0.sht",
            "assert Healpix_Base is zonal.ducc0.healpix.Healpix_Base is ducc0.healpix.Healpix_Base"]
    done = subprocess.run([sys.executable, "-c", "\n".join([program, *uses])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
