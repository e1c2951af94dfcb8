"""Spectra by way of correlation functions: beside quadrature, and means that are exact."""

import numpy as np
import pytest
from scipy import special

from zonal import spectra as zs

LMAX = 20
# Of a mask that sees all of the sky, so that its correlation function has no zeros.
MASK = np.array([9.0, 1.1, 0.3, 0.1, 0.02, 0.01])
C_L = (np.arange(LMAX + 1) + 1.0) ** -2
TOP = LMAX + len(MASK) - 1


def apodisation(theta):
    """A polynomial of cos(theta), which quadrature integrates exactly."""
    return np.cos(theta / 2) ** 6


def test_an_estimate_is_the_integral_of_the_divided_correlation_function():
    """Beside SciPy's polynomials on other nodes. f / xi_W is no polynomial; it converges geometrically in the number of nodes."""
    pseudo = np.random.default_rng(1).normal(size=2 * LMAX + 1)
    found = zs.correlation_matrices(MASK, LMAX, apodisation, "00")
    x, weight = np.polynomial.legendre.leggauss(300)
    p = special.eval_legendre(np.arange(2 * LMAX + 1)[:, None], x)
    factor = (2 * np.arange(2 * LMAX + 1) + 1) / (4 * np.pi)
    of_mask = (factor[:6] * MASK) @ p[:6]
    expected = 2 * np.pi * (p[:LMAX + 1] * (weight * apodisation(np.arccos(x)) / of_mask)) @ (p.T @ (factor * pseudo))
    np.testing.assert_allclose(found.estimator @ pseudo, expected, atol=1e-13 * np.abs(expected).max())
    kernel = 2 * np.pi * (p[:LMAX + 1] * (weight * apodisation(np.arccos(x)))) @ (p.T * factor)
    np.testing.assert_allclose(found.kernel, kernel, atol=1e-12)  # NumPy's weights of so many nodes are right to 1e-13


@pytest.mark.parametrize("cut", [None, 0.5])
def test_the_mean_of_an_estimate_is_its_kernel_times_the_sky(cut):
    """For any f, also one that is no polynomial: both are sums over the same nodes. Sums of some hundred terms of the largest C_l."""
    def f(theta):
        return apodisation(theta) if cut is None else np.where(theta < cut, np.cos(np.pi * theta / (2 * cut)) ** 2, 0)

    estimator, kernel = zs.correlation_matrices(MASK, LMAX, f, lmax_pseudo=TOP)
    m00, m02, plus, minus = zs.coupling_matrices(MASK, TOP)
    sky = np.zeros((4, TOP + 1))
    sky[:, :LMAX + 1] = C_L * np.array([[1.0], [0.4], [0.3], [0.05]])
    tt, te, ee, bb = sky
    ee[:2] = bb[:2] = te[:2] = 0
    close = {"rtol": 0, "atol": 1e-13}
    np.testing.assert_allclose(estimator[0] @ (m00 @ tt), kernel[0] @ tt, **close)
    np.testing.assert_allclose(estimator[1] @ (m02 @ te), kernel[1] @ te, **close)
    masked = plus @ ee + minus @ bb, minus @ ee + plus @ bb
    np.testing.assert_allclose(estimator[2] @ masked[0] + estimator[3] @ masked[1], kernel[2] @ ee + kernel[3] @ bb, **close)
    np.testing.assert_allclose(estimator[3] @ masked[0] + estimator[2] @ masked[1], kernel[3] @ ee + kernel[2] @ bb, **close)


def test_results_do_not_depend_on_threads():
    one, three = (zs.correlation_matrices(MASK, 60, apodisation, "++", threads=threads) for threads in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, three))


def test_a_mask_without_pairs_at_a_distance_needs_an_f_that_is_0_there():
    """W_0 + 5 W_2 P_2(x) is 0 at the middle one of 7 nodes, x = 0."""
    of_mask = [1.0, 0.0, 0.4]
    with pytest.raises(ValueError, match=r"apodisation: is 1 at theta = 1.5708, where the mask's correlation function is .* must be 0 where"):
        zs.correlation_matrices(of_mask, 3, np.ones_like, "00", lmax_pseudo=3)
    zs.correlation_matrices(of_mask, 3, lambda theta: theta < 1.5, "00", lmax_pseudo=3)


@pytest.mark.parametrize("call,error,message", [
    (lambda: zs.correlation_matrices(MASK, -1, np.cos), ValueError, "lmax = -1: must be 0 or more"),
    (lambda: zs.correlation_matrices(MASK, 4, np.cos, lmax_pseudo=3), ValueError, "lmax_pseudo = 3: must be lmax = 4 or more"),
    (lambda: zs.correlation_matrices(MASK, 4, 1.0), TypeError, "apodisation = 1.0: must be a function of theta"),
    (lambda: zs.correlation_matrices(MASK, 4, np.sum), ValueError, r"apodisation: returns shape \(\) for theta of shape \(13,\)"),
    (lambda: zs.correlation_matrices(-MASK, 4, np.cos), ValueError, "mask_spectrum: has a correlation function that is not positive at theta = 0"),
    (lambda: zs.correlation_matrices([], 4, np.cos), ValueError, "mask_spectrum: has no degrees"),
    (lambda: zs.correlation_matrices([np.nan], 4, np.cos), ValueError, r"mask_spectrum\[0\] = nan"),
    (lambda: zs.correlation_matrices(MASK, 4, lambda theta: theta * np.inf), ValueError, r"apodisation\[0\] = inf")])
def test_what_is_wrong_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
