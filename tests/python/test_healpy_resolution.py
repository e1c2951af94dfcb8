"""Changes of resolution through coefficients, and extrema, under healpy's names."""

import warnings

import healpy
import numpy as np
import pytest

import zonal.healpy as hp
from healpy_peer import agree, agree_within

NSIDE_IN, NSIDE_OUT = 32, 16
# an analysis of lmax = 47 with three iterations and a synthesis, each with an error of about lmax eps, in both packages
ROUNDING = 8 * 48 * np.finfo(float).eps


@pytest.fixture
def maps(rng):
    return rng.standard_normal((3, 12 * NSIDE_IN**2))


@pytest.mark.parametrize("options", [{}, {"fwhm_out": None}, {"fwhm_in": 0.05, "fwhm_out": 0.2},
                                     {"lmax": 20, "mmax": 9}, {"dtype": np.float32}, {"pol": False}, {"iter": 1},
                                     {"beam_window_out": np.ones((99, 2)) * [1, 0.5]}])
def test_other_resolutions_are_healpys(maps, options):
    for m in (maps, maps[0]) if options.get("iter") is None else (maps[0],):
        given = {"use_pixel_weights": False, "pixwin": False, **options}
        ours, theirs = (package.harmonic_ud_grade(m, NSIDE_OUT, **given) for package in (hp, healpy))
        agree_within(ours, theirs, 1e-7 if "dtype" in options else ROUNDING)


def test_pixel_windows_are_exchanged(random_alm):
    alm = random_alm(20, shape=(3,))
    before, after = (hp.pixwin(nside, pol=True, lmax=20) for nside in (NSIDE_IN, NSIDE_OUT))
    ratio = [np.divide(b, a, out=np.zeros(21), where=a > 0) for a, b in zip(before, after)]
    expected = hp.alm2map([hp.almxfl(row, ratio[i > 0]) for i, row in enumerate(alm)], NSIDE_OUT)
    found = hp.harmonic_ud_grade(alm, NSIDE_OUT, NSIDE_IN, input_type="alm")
    agree_within(found, expected, 1e-15)
    single = hp.harmonic_ud_grade(alm[0], NSIDE_OUT, NSIDE_IN, input_type="alm")
    agree_within(single, expected[0], 1e-15)
    agree_within(hp.harmonic_ud_grade([alm[0]], NSIDE_OUT, NSIDE_IN, input_type="alm"), single, 1e-15)


def test_wrong_arguments_of_changes_of_resolution_are_named(maps, random_alm):
    alm = random_alm(20, shape=(3,))
    for arguments, options, match in (
            ((maps, 8), {"input_type": "cl"}, "not 'cl'"), ((maps, 8), {"fwhm_in": -1}, "fwhm_in must be >= 0, in rad, not -1"),
            ((maps[0], 8), {"beam_window_in": np.ones(5)}, "beam_window_in: has the length 5"),
            ((maps, 8), {"beam_window_out": np.ones(50)}, "beam_window_out: is 1D"),
            ((maps[0], 8), {"beam_window_in": np.zeros(50), "pixwin": False, "use_pixel_weights": False}, "l = 0"),
            ((maps, 8, 16), {}, "nside_in = 16: must be that of the maps, 32"),
            ((alm, 8), {"input_type": "alm"}, "nside_in"), ((alm[:2], 8, 16), {"input_type": "alm"}, "has 2 rows"),
            (([alm[0], alm[1], alm[2][:10]], 8, 16), {"input_type": "alm"}, "same size")):
        with pytest.raises(ValueError, match=match):
            hp.harmonic_ud_grade(*arguments, **options)
    with pytest.warns(UserWarning, match="iter is"):
        hp.harmonic_ud_grade(alm, 8, 16, input_type="alm", iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.harmonic_ud_grade(alm, 8, 16, input_type="alm")


def test_extrema(maps):
    for m in (maps[0], np.where(np.arange(maps[0].size) % 50 == 0, hp.UNSEEN, maps[0])):
        ours, theirs = hp.hotspots(m), healpy.hotspots(m)
        agree(ours[1:], theirs[1:])
        extrema = np.concatenate(ours[1:])
        np.testing.assert_array_equal(ours[0][extrema], m[extrema])
        assert (ours[0] == hp.UNSEEN).sum() == m.size - extrema.size


def test_a_new_resolution_is_a_power_of_2():
    for nside in (0, 3, 2**30):
        with pytest.raises(ValueError, match=rf"nside = {nside}: must be a power of 2 from 1 to 2\^29$"):
            hp.ud_grade(np.ones(48), nside)


def test_rings():
    for nside in (1, 2, 4, 8):
        agree(hp.ringinfo(nside, np.arange(1, 4 * nside)), healpy.ringinfo(nside, np.arange(1, 4 * nside)))
        pixels = np.arange(12 * nside**2)
        agree(hp.pix2ring(nside, pixels, nest=True), healpy.pix2ring(nside, pixels, nest=True))
    with pytest.raises(ValueError, match="ring = 0"):
        hp.ringinfo(4, 0)
