"""Error bars of zonal.spectra.estimate. That they are those of simulated skies is in test_band_powers.py."""

import numpy as np
import pytest

from test_band_powers import BINS, LMAX, SMOOTH, powers, sky
from zonal.spectra import Field, chi_squared, estimate


def test_error_bars_are_those_of_the_spectra_that_are_kept():
    theory = {"TT": 1 / (1.0 + np.arange(LMAX + 1)), "EE": np.ones(LMAX + 1), "TE": 0.1 * np.ones(LMAX + 1)}
    found = estimate(Field(sky(), mask=SMOOTH), BINS, lmax_sky=LMAX, low_degrees=False, theory=theory)
    assert found.covariance.shape == (6 * len(BINS),) * 2
    assert np.array_equal(np.concatenate([found.error[name] for name in found]), np.sqrt(found.covariance.diagonal()))
    residual = np.concatenate([found[name] - found.theory(theory)[name] for name in ("EE", "BB")])
    rows = np.r_[3 * len(BINS):4 * len(BINS), 5 * len(BINS):6 * len(BINS)]
    assert found.chi_squared(theory, names=["EE", "BB"]) == chi_squared(residual, found.covariance[np.ix_(rows, rows)])
    assert found.chi_squared(theory).value > found.chi_squared(theory, names=["TT"]).value > 0
    with pytest.raises(ValueError, match="must be of TT, TE, TB, EE, EB, BB"):
        found.chi_squared(theory, names=["TQ"])


def test_bands_without_theory_have_no_error_bars():
    assert powers().error is None and powers().covariance is None
    with pytest.raises(ValueError, match="give estimate the spectra of the sky, theory="):
        powers().chi_squared(np.ones(LMAX + 1))
    with pytest.raises(ValueError, match=r"theory\['TT'\]: ends at l = 3: must reach lmax_sky = 24"):
        estimate(Field(sky()[0]), BINS, lmax_sky=LMAX, theory=np.ones(4))
    with pytest.raises(ValueError, match="theory: is no covariance at l = 2"):
        estimate(Field(sky()), BINS, lmax_sky=LMAX, theory={"TT": np.ones(LMAX + 1), "EE": np.ones(LMAX + 1), "TE": 2 * (np.arange(LMAX + 1) > 1)})
    with pytest.raises(ValueError, match="must have names of TT, EE, BB, TE, TB, EB"):
        estimate(Field(sky()[0]), BINS, lmax_sky=LMAX, theory={"ET": np.ones(LMAX + 1)})


def test_theory_says_where_errors_are_exact():
    """The whole sky: errors of both ways are sqrt(2 / (2l+1)) C_l, and a mask's kernel makes the approximation another."""
    theory = 1 / (2.0 + np.arange(LMAX + 1)) ** 3
    exact, narrow = (estimate(Field(sky()[0], mask=SMOOTH), BINS, lmax_sky=LMAX, low_degrees=False, theory=theory, exact_lmax=lmax)
                     for lmax in (LMAX, -1))
    assert np.array_equal(exact["TT"], narrow["TT"])
    assert 0.01 < np.abs(exact.error["TT"][0] / narrow.error["TT"][0] - 1) < 0.5
