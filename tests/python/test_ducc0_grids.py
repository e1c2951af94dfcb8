"""zonal.ducc0's transforms on grids that have a name in ducc0 are those of ducc0."""

import ducc0
import numpy as np
import pytest

import zonal
import zonal.ducc0
from ducc0_peer import EPS, GEOMETRIES, LMAX, agree, both, random_alm, tolerance

NTHETA, NPHI = LMAX + 3, 2 * LMAX + 5
REALS = [np.float64, np.float32]
# What ducc0's analysis reaches on NTHETA rings.
LIMITS = {geometry: ducc0.sht.maximum_safe_l(geometry, NTHETA) for geometry in GEOMETRIES}


def complex_of(real):
    return np.complex128 if real is np.float64 else np.complex64


def map_of(n_maps, real=np.float64, shape=(NTHETA, NPHI)):
    return np.random.default_rng(8).standard_normal((n_maps, *shape)).astype(real)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_synthesis_and_its_adjoint(geometry, spin, real):
    n = 1 if spin == 0 else 2
    given = {"lmax": LMAX, "spin": spin, "geometry": geometry, "phi0": 0.7, "nthreads": 2}
    alm = random_alm(LMAX, LMAX, n, spin).astype(complex_of(real))
    for sizes in ((NTHETA, NPHI), (8, 11)):  # enough for lmax, and too few
        both("synthesis_2d", tolerance(real, LMAX), alm=alm, ntheta=sizes[0], nphi=sizes[1], **given)
        both("adjoint_synthesis_2d", tolerance(real, LMAX), map=map_of(n, real, sizes), **given)


@pytest.mark.parametrize("mode, spin", [("GRAD_ONLY", 1), ("GRAD_ONLY", 2), ("GRAD_ONLY", 3), ("DERIV1", 1)])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_modes(geometry, mode, spin):
    given = {"lmax": LMAX, "mmax": 10, "spin": spin, "geometry": geometry, "mode": mode}
    both("synthesis_2d", tolerance(float, LMAX), alm=random_alm(LMAX, 10, 1, spin), ntheta=NTHETA, nphi=NPHI, **given)
    both("adjoint_synthesis_2d", tolerance(float, LMAX), map=map_of(2), **given)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_derivatives(geometry, real):
    both("synthesis_2d_deriv1", tolerance(real, LMAX), alm=random_alm(LMAX, LMAX, 1, 1).astype(complex_of(real)), lmax=LMAX,
         geometry=geometry, ntheta=NTHETA, nphi=NPHI)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("spin", [0, 1, 2, 3])
@pytest.mark.parametrize("mmax", [None, 7])
def test_analysis_of_maps_that_have_no_more_than_lmax(geometry, spin, mmax, real):
    # Exact inverses agree on maps that they are exact for; each rounds in two passes through theta.
    lmax, n = LIMITS[geometry], 1 if spin == 0 else 2
    alm = random_alm(lmax, lmax if mmax is None else mmax, n, spin).astype(complex_of(real))
    sky = ducc0.sht.synthesis_2d(alm=alm, lmax=lmax, mmax=mmax, spin=spin, geometry=geometry, ntheta=NTHETA, nphi=NPHI)
    found = both("analysis_2d", tolerance(real, LMAX, 16), map=sky, lmax=lmax, mmax=mmax, spin=spin, geometry=geometry)
    agree(found, alm, tolerance(real, LMAX, 16))


@pytest.mark.parametrize("geometry", ["CC", "F1", "MW", "MWflip", "GL"])
@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_analysis_of_any_maps_and_its_adjoint(geometry, spin):
    lmax, n = LIMITS[geometry], 1 if spin == 0 else 2
    given = {"lmax": lmax, "spin": spin, "geometry": geometry, "phi0": -0.3}
    shape = (NTHETA, 2 * lmax + 1)
    both("analysis_2d", tolerance(float, LMAX, 16), map=map_of(n, shape=shape), **given)
    both("adjoint_analysis_2d", tolerance(float, LMAX, 16), alm=random_alm(lmax, lmax, n, spin), ntheta=shape[0], nphi=shape[1], **given)


@pytest.mark.parametrize("geometry", ["DH", "F2"])
@pytest.mark.parametrize("spin", [0, 2])
def test_analysis_reaches_twice_as_far_as_that_of_ducc0(geometry, spin):
    lmax, n = NTHETA - 1, 1 if spin == 0 else 2
    assert zonal.ducc0.sht.maximum_safe_l(geometry, NTHETA) == lmax >= 2 * LIMITS[geometry]
    alm = random_alm(lmax, lmax, n, spin)
    given = {"lmax": lmax, "spin": spin, "geometry": geometry}
    sky = zonal.ducc0.sht.synthesis_2d(alm=alm, ntheta=NTHETA, nphi=2 * lmax + 1, **given)
    agree(zonal.ducc0.sht.analysis_2d(map=sky, **given), alm, tolerance(float, lmax, 16))
    other = map_of(n, shape=sky.shape[1:])
    left = np.vdot(zonal.ducc0.sht.adjoint_analysis_2d(alm=alm, ntheta=NTHETA, nphi=2 * lmax + 1, **given), other)
    back = zonal.ducc0.sht.analysis_2d(map=other, **given)
    right = 2 * np.vdot(alm, back).real - np.vdot(alm[:, :lmax + 1], back[:, :lmax + 1]).real
    assert abs(left - right) <= 1e-13 * np.linalg.norm(alm) * np.linalg.norm(back)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("ntheta", [2, 3, 8, 9])
def test_sizes_and_weights(geometry, ntheta):
    safe = zonal.ducc0.sht.maximum_safe_l(geometry, ntheta)
    assert safe == (ntheta - 1 if geometry in ("DH", "F2") else ducc0.sht.maximum_safe_l(geometry, ntheta))
    weights = zonal.ducc0.sht.get_gridweights(geometry, ntheta)
    np.testing.assert_allclose(weights.sum(), 4 * np.pi, rtol=1e-14)
    if not geometry.startswith("MW"):  # whose weights ducc0 does not give
        np.testing.assert_allclose(weights, ducc0.sht.get_gridweights(geometry, ntheta), rtol=0, atol=64 * EPS)


@pytest.mark.parametrize("function", ["synthesis_2d", "adjoint_synthesis_2d", "analysis_2d", "adjoint_analysis_2d"])
def test_layouts_factors_and_strides(function):
    lmax, mmax = LIMITS["CC"], 9
    given = {"lmax": lmax, "spin": 2, "geometry": "CC", "ringfactor": np.linspace(-1, 2, NTHETA), "lstride": 2,
             "mstart": np.arange(mmax + 1, dtype=np.uint64) * np.uint64(2 * lmax + 5)}
    size = (mmax + 1) * (2 * lmax + 5)
    if function in ("synthesis_2d", "adjoint_analysis_2d"):
        alm = np.random.default_rng(1).standard_normal((2, size)) + 0j
        both(function, tolerance(float, LMAX, 16), alm=alm, ntheta=NTHETA, nphi=NPHI, **given)
        sky = np.zeros((NPHI, NTHETA, 2)).T
        assert getattr(zonal.ducc0.sht, function)(alm=alm, map=sky, **given) is sky
        agree(sky, getattr(ducc0.sht, function)(alm=alm, map=np.zeros((2, NTHETA, NPHI)), **given), tolerance(float, LMAX, 16))
    else:
        sky = np.random.default_rng(1).standard_normal((NPHI, NTHETA, 2)).T
        both(function, tolerance(float, LMAX, 16), map=sky, alm=np.full((2, size), 3 + 4j), **given)


def test_adjoint_analysis_of_float_alm():
    for geometry in ("CC", "GL"):
        lmax = LIMITS[geometry]  # below it ducc0 integrates what maps hold above lmax by a shorter rule, to 1e-5
        alm = random_alm(lmax, lmax, 2, 2).astype(np.complex64)
        both("adjoint_analysis_2d", tolerance(np.float32, LMAX, 16), alm=alm, lmax=lmax, spin=2, geometry=geometry, ntheta=NTHETA,
             nphi=NPHI)
