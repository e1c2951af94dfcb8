"""zonal.spectra: what a user may pass, and what masked skies have. Matrices beside 3j symbols are in tests/oracle."""

import numpy as np
import pytest

import zonal

RNG = np.random.default_rng(1)
W = 1 / (1 + np.arange(41.0)) ** 2


def test_kinds_and_masks_choose_axes():
    every = zonal.spectra.coupling_matrices(W, 20)
    assert every.shape == (4, 21, 21)
    for number, kind in enumerate(("00", "02", "++", "--")):
        assert np.array_equal(zonal.spectra.coupling_matrices(W, 20, kind), every[number])
    assert np.array_equal(zonal.spectra.coupling_matrices(W, 20, kinds=["--", "00"]), every[[3, 0]])
    two = zonal.spectra.coupling_matrices([W, 2 * W], 20, "02")
    assert two.shape == (2, 21, 21) and np.array_equal(two[1], 2 * every[1])
    assert zonal.spectra.coupling_matrices([W, W], 20).shape == (2, 4, 21, 21)


def test_results_do_not_depend_on_threads():
    assert np.array_equal(zonal.spectra.coupling_matrices(W, 50, threads=1), zonal.spectra.coupling_matrices(W, 50, threads=3))


@pytest.mark.parametrize("arguments,keywords,message", [
    ((W, -1), {}, "lmax = -1: must be 0 or more"), ((W, 4, "EE"), {}, "kinds = 'EE': must be of '00', '02', '"),
    ((W, 4, []), {}, "kinds"), ((W[None, None], 4), {}, r"mask_spectra: has shape \(1, 1, 41\)"),
    (([0.1, np.nan], 4), {}, r"mask_spectra\[0, 1\] = nan"), (([], 4), {}, "mask_spectra"), ((W, 4), {"threads": -2}, "threads = -2")])
def test_what_is_wrong_is_named(arguments, keywords, message):
    with pytest.raises(ValueError, match=message):
        zonal.spectra.coupling_matrices(*arguments, **keywords)


def test_pseudo_spectra_of_masked_skies_have_the_mean_that_the_matrices_say():
    """A plain sum over pixels of a sky that is band-limited has it exactly, if the mask's spectrum is such a sum to lmax + the sky's
    lmax. The mean over skies of C_l = 1 at one degree is a sum over its coefficients: no drawing."""
    nside, lmax, degree = 8, 12, 5
    grid = zonal.Grid.healpix(nside)
    mask = RNG.uniform(size=grid.n_pixels)

    def plain(values, lmax, spin=0):
        sht = zonal.SHT(grid, lmax, spin=spin)
        return sht.adjoint(values * (4 * np.pi / grid.n_pixels))

    def power(alm, lmax):
        m = np.concatenate([np.full(lmax + 1 - k, k) for k in range(lmax + 1)])
        l = np.concatenate([np.arange(k, lmax + 1) for k in range(lmax + 1)])
        return np.array([np.sum(np.where(m > 0, 2, 1)[l == x] * np.abs(alm[l == x]) ** 2) for x in range(lmax + 1)])

    of_mask = power(plain(mask, lmax + degree), lmax + degree) / (2 * np.arange(lmax + degree + 1) + 1)
    m00, _, plus, minus = zonal.spectra.coupling_matrices(of_mask, lmax)
    scalar, spin = zonal.SHT(grid, degree), zonal.SHT(grid, degree, spin=2)
    found = np.zeros((3, lmax + 1))
    for m in range(degree + 1):
        for unit in (1, 1j) if m else (1,):
            alm = np.zeros(scalar.n_alm, complex)
            alm[zonal.alm_index(degree, degree, m)] = unit / (np.sqrt(2) if m else 1)
            found[0] += power(plain(mask * scalar.synthesize(alm), lmax), lmax)
            e, b = plain(mask * spin.synthesize(np.stack([alm, 0 * alm])), lmax, 2)
            found[1] += power(e, lmax)
            found[2] += power(b, lmax)
    found /= 2 * np.arange(lmax + 1) + 1
    for kind, mean in zip((m00, plus, minus), found):
        assert np.abs(mean - kind[:, degree]).max() < 1e-13 * m00[:, degree].max()
