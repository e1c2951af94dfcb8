"""zonal.ducc0's transforms at any points are those of ducc0."""

import ducc0
import numpy as np
import pytest

import zonal
import zonal.ducc0
from ducc0_peer import LMAX, agree, random_alm

MODES = [(0, "STANDARD"), *((spin, mode) for spin in (1, 2, 3) for mode in ("STANDARD", "GRAD_ONLY")), (1, "DERIV1")]
EPSILON = 1e-10
REALS = [np.float64, np.float32]
SHT = zonal.ducc0.sht


def points(n=400):
    rng = np.random.default_rng(7)
    return np.stack([np.arccos(rng.uniform(-1, 1, n)), rng.uniform(0, 2 * np.pi, n)], 1)


def components(spin, mode):
    return 1 if spin == 0 or mode != "STANDARD" else 2, 1 if spin == 0 else 2


def within(real, epsilon=EPSILON):
    """Of the largest value: each of the two errs by epsilon of its largest, ducc0 in the mean; and rounds to the type."""
    return 20 * epsilon + (20 * np.finfo(np.float32).eps if real is np.float32 else 0)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("spin, mode", MODES)
@pytest.mark.parametrize("mmax", [None, 7])
def test_synthesis_and_its_adjoint(spin, mode, mmax, real):
    n = components(spin, mode)
    epsilon = EPSILON if real is np.float64 else 2e-6
    given = {"lmax": LMAX, "mmax": mmax, "spin": spin, "mode": mode, "loc": points(), "epsilon": epsilon, "nthreads": 2}
    alm = random_alm(LMAX, LMAX if mmax is None else mmax, n[0], max(spin, 1)).astype(np.complex128 if real is np.float64 else np.complex64)
    out = np.zeros((n[1], 400), real)
    values = SHT.synthesis_general(alm=alm, map=out, **given)
    assert values is out
    agree(values, ducc0.sht.synthesis_general(alm=alm, **given), within(real, epsilon))
    agree(SHT.adjoint_synthesis_general(map=values, **given), ducc0.sht.adjoint_synthesis_general(map=values, **given),
          within(real, epsilon))


def test_values_at_centres_of_pixels_are_those_of_rings():
    base = zonal.ducc0.healpix.Healpix_Base(8, "RING")
    alm = random_alm(LMAX, LMAX, 2, 2)
    values = SHT.synthesis_general(alm=alm, spin=2, lmax=LMAX, loc=base.pix2ang(np.arange(base.npix())), epsilon=1e-12)
    agree(values, SHT.synthesis(alm=alm, spin=2, lmax=LMAX, **base.sht_info()), 1e-11)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-7, 1e-12])
def test_epsilon_bounds_the_error(epsilon):
    alm, loc = random_alm(LMAX, LMAX, 1), points()
    exact = SHT.synthesis_general(alm=alm, spin=0, lmax=LMAX, loc=loc, epsilon=2e-14)
    found = SHT.synthesis_general(alm=alm, spin=0, lmax=LMAX, loc=loc, epsilon=epsilon)
    largest = np.abs(SHT.synthesis_2d(alm=alm, spin=0, lmax=LMAX, geometry="CC", ntheta=200, nphi=400)).max()
    assert np.abs(found - exact).max() <= epsilon * largest
    assert epsilon < 1e-11 or not np.array_equal(found, exact)


def test_coefficients_at_any_places():
    mmax = 6
    mstart = np.arange(mmax + 1, dtype=np.uint64) * np.uint64(2 * LMAX + 7)
    alm = np.random.default_rng(1).standard_normal((2, (mmax + 1) * (2 * LMAX + 7))) + 0j
    given = {"lmax": LMAX, "spin": 2, "loc": points(), "epsilon": EPSILON, "mstart": mstart, "lstride": 2}
    values = SHT.synthesis_general(alm=alm, **given)
    agree(values, ducc0.sht.synthesis_general(alm=alm, **given), within(float))
    found = SHT.adjoint_synthesis_general(map=values, alm=np.full_like(alm, 6), **given)
    agree(found, ducc0.sht.adjoint_synthesis_general(map=values, alm=np.full_like(alm, 6), **given), within(float))


@pytest.mark.parametrize("spin", [0, 1, 2, 3])
@pytest.mark.parametrize("steps", [1, 3])
def test_iterations_of_least_squares_are_those_of_ducc0(spin, steps):
    lmax, loc = 8, points(1000)
    values = np.random.default_rng(3).standard_normal((1 if spin == 0 else 2, 1000))
    given = {"lmax": lmax, "spin": spin, "loc": loc, "map": values, "maxiter": steps, "epsilon": 1e-10}
    ours, theirs = SHT.pseudo_analysis_general(**given), ducc0.sht.pseudo_analysis_general(**given)
    agree(ours[0], theirs[0], 1e-9)
    assert ours[1:3] == theirs[1:3] == (7, steps)
    np.testing.assert_allclose(ours[3:], theirs[3:], rtol=1e-6)


def test_least_squares_find_what_the_values_were_made_from():
    alm, loc = random_alm(8, 8, 2, 2), points(1000)
    values = SHT.synthesis_general(alm=alm, lmax=8, spin=2, loc=loc, epsilon=1e-12)
    given = {"lmax": 8, "spin": 2, "loc": loc, "map": values, "maxiter": 100, "epsilon": 1e-9}
    found, reason, steps, residual, _ = SHT.pseudo_analysis_general(**given)
    agree(found, alm, 1e-7)
    assert reason == 1
    assert residual <= 1e-9
    out = found.copy()
    again = SHT.pseudo_analysis_general(**{**given, "epsilon": 1e-8}, alm=out, alm_contains_initial_guess=True)
    assert again[0] is out
    assert again[2] == 0 < steps


def test_verbose_says_what_was_chosen(capsys):
    given = {"alm": random_alm(4, 4, 1), "lmax": 4, "spin": 0, "loc": points(5), "epsilon": 1e-3}
    SHT.synthesis_general(**given)
    assert capsys.readouterr().out == ""
    SHT.synthesis_general(**given, verbose=True)
    assert capsys.readouterr().out.startswith("5 points, spin 0, lmax 4: ")


def general(**other):
    return SHT.synthesis_general(**{"alm": np.zeros((1, 15), complex), "lmax": 4, "spin": 0, "loc": points(5), "epsilon": 1e-3, **other})


def pseudo(**other):
    return SHT.pseudo_analysis_general(**{"map": np.zeros((1, 5)), "lmax": 1, "spin": 0, "loc": points(5), "epsilon": 1e-3,
                                          "maxiter": 2, **other})


@pytest.mark.parametrize("call, message", [
    (lambda: general(epsilon=1e-15), "epsilon = 1e-15"),
    (lambda: general(epsilon=0.5), "epsilon = 0.5"),
    (lambda: general(loc=points(5).T), r"loc: has shape \(2, 5\)"),
    (lambda: general(loc=points(5).astype(np.float32)), "loc: has shape .* and type float32: must be .* float64"),
    (lambda: general(loc=points(5) + [4, 0]), r"loc\[:, 0\]|theta"),
    (lambda: general(sigma_min=3.0), "sigma_min = 3.0: must be above 1 and below sigma_max = 2.6"),
    (lambda: general(sigma_max=1.0), "sigma_min = 1.1: must be above 1 and below sigma_max = 1.0"),
    (lambda: general(alm=np.zeros((3, 1, 15), complex)), r"alm: has shape \(3, 1, 15\): must be \(1, x\)"),
    (lambda: general(map=np.zeros((1, 4))), r"map: has shape \(1, 4\): must be \(1, 5\)"),
    (lambda: general(nthreads=-1), "nthreads = -1: must be from 0"),
    (lambda: pseudo(map=np.zeros((1, 4))), "map: has 4 values: must be 5, one for each row of loc"),
    (lambda: pseudo(maxiter=-1), "maxiter = -1: must be 0 or more"),
    (lambda: pseudo(epsilon=-1.0), "epsilon = -1.0: must be above 0 and finite"),
    (lambda: pseudo(alm_contains_initial_guess=True), "alm: must be given where alm_contains_initial_guess = True"),
])
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
