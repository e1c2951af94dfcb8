"""The halves of transforms under ducc0's names are those of ducc0, and rotations are."""

import ducc0
import numpy as np
import pytest

import zonal
import zonal.ducc0
from ducc0_peer import LMAX, agree, both, length, random_alm, rings, tolerance

REALS = [np.float64, np.float32]
MODES = [(0, "STANDARD"), *((spin, mode) for spin in (1, 2, 3) for mode in ("STANDARD", "GRAD_ONLY")), (1, "DERIV1"), (2, "DERIV1")]


def complex_of(real):
    return np.complex128 if real is np.float64 else np.complex64


def theta(count=27):
    return np.concatenate([[0], np.sort(np.random.default_rng(1).uniform(0, np.pi, count - 2)), [np.pi]])


def random_leg(shape, dtype):
    rng = np.random.default_rng(6)
    leg = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    leg[..., 0].imag = 0
    return leg.astype(dtype)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("spin, mode", MODES)
def test_legendre_stage_and_its_adjoint(spin, mode, real):
    n_alm, n_leg = 1 if spin == 0 or mode != "STANDARD" else 2, 1 if spin == 0 else 2
    given = {"lmax": LMAX, "theta": theta(), "spin": spin, "mode": mode, "nthreads": 2}
    both("alm2leg", tolerance(real, LMAX), alm=random_alm(LMAX, LMAX, n_alm, max(spin, 1)).astype(complex_of(real)), **given)
    both("leg2alm", tolerance(real, LMAX), leg=random_leg((n_leg, 27, LMAX + 1), complex_of(real)), **given)


@pytest.mark.parametrize("spin, mode", [(0, "STANDARD"), (2, "STANDARD"), (1, "DERIV1")])
@pytest.mark.parametrize("mval", [[5], [7, 0, 24, 3]])
@pytest.mark.parametrize("lstride", [1, 2])
def test_some_orders(spin, mode, mval, lstride):
    n_alm = 1 if spin == 0 or mode != "STANDARD" else 2
    mstart = np.arange(len(mval), dtype=np.uint64)[::-1].copy() * np.uint64(lstride * (LMAX + 1) + 3)
    given = {"lmax": LMAX, "theta": theta(), "spin": spin, "mode": mode, "mval": np.array(mval, np.uint64), "mstart": mstart,
             "lstride": lstride}
    rng = np.random.default_rng(2)
    alm = rng.standard_normal((n_alm, len(mval) * (lstride * (LMAX + 1) + 3))) + 0j
    leg = both("alm2leg", tolerance(float, LMAX), alm=alm, **given)
    both("leg2alm", tolerance(float, LMAX), leg=leg, alm=np.full_like(alm, 8), **given)
    found = zonal.ducc0.sht.leg2alm(leg=leg, **given)
    assert found.shape == ducc0.sht.leg2alm(leg=leg, **given).shape


def test_more_rings_than_lmax_needs_go_by_equidistant_ones():
    many = theta(400)
    both("alm2leg", tolerance(float, LMAX) + 1e-12, alm=random_alm(LMAX, LMAX, 1), lmax=LMAX, theta=many)
    both("leg2alm", tolerance(float, LMAX) + 1e-12, leg=random_leg((1, 400, LMAX + 1), complex), lmax=LMAX, theta=many)


def test_derivatives_of_rings():
    both("alm2leg_deriv1", tolerance(float, LMAX), alm=random_alm(LMAX, LMAX, 1), lmax=LMAX, theta=theta())


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("mmax", [0, 5, 70])  # fewer and more than the rings' pixels tell apart
@pytest.mark.parametrize("pixstride", [1, 2])
def test_fourier_stage_and_its_adjoint(mmax, pixstride, real):
    where = rings()
    del where["theta"]
    where["ringstart"] = np.uint64(pixstride) * where["ringstart"]
    given = {"pixstride": pixstride, "ringfactor": np.linspace(-2, 1, 13), "nthreads": 2, **where}
    leg = random_leg((3, 13, mmax + 1), complex_of(real))
    within = tolerance(real, max(mmax, 1))  # phases m phi round by m eps
    sky = both("leg2map", within, leg=leg, map=np.full((3, length(where, pixstride) + 2), 4, real), **given)
    both("map2leg", within, map=sky, mmax=mmax, **given)
    out = np.zeros((mmax + 1, 13, 3), complex_of(real)).T
    assert zonal.ducc0.sht.map2leg(map=sky, mmax=mmax, leg=out, **given) is out


def test_halves_make_the_whole():
    where = rings()
    angles = where.pop("theta")
    alm = random_alm(LMAX, LMAX, 2, 2)
    leg = zonal.ducc0.sht.alm2leg(alm=alm, lmax=LMAX, spin=2, theta=angles)
    agree(zonal.ducc0.sht.leg2map(leg=leg, **where),
          zonal.ducc0.sht.synthesis(alm=alm, lmax=LMAX, spin=2, theta=angles, **where), tolerance(float, LMAX))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("mmax_in, mmax_out", [(None, None), (4, None), (None, 3), (4, 4)])
@pytest.mark.parametrize("axes", [1, 2])
def test_rotation(mmax_in, mmax_out, axes, real):
    alm = random_alm(LMAX, LMAX if mmax_in is None else mmax_in, 3).astype(complex_of(real))
    alm = alm[0] if axes == 1 else alm
    given = {"lmax": LMAX, "psi": 0.3, "theta": 1.1, "phi": -2.0, "mmax_in": mmax_in, "mmax_out": mmax_out, "nthreads": 2}
    expected = ducc0.sht.rotate_alm(alm, **given)
    agree(zonal.ducc0.sht.rotate_alm(alm, **given), expected, tolerance(real, LMAX, 4))
    out = np.zeros(expected.shape[::-1], alm.dtype).T
    assert zonal.ducc0.sht.rotate_alm(alm, out=out, **given) is out
    agree(out, expected, tolerance(real, LMAX, 4))


def test_rotation_in_place():
    alm = random_alm(LMAX, LMAX, 2)
    expected = ducc0.sht.rotate_alm(alm, LMAX, 0.3, 1.1, -2.0)
    assert zonal.ducc0.sht.rotate_alm(alm, LMAX, 0.3, 1.1, -2.0, out=alm) is alm
    agree(alm, expected, tolerance(float, LMAX, 4))
    with pytest.raises(ValueError, match="out: shares memory with alm"):
        zonal.ducc0.sht.rotate_alm(alm[:1], LMAX, 0.3, 1.1, -2.0, out=alm.reshape(-1)[3:3 + alm.shape[1]][None])
