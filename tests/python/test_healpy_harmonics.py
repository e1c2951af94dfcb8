"""Transforms, spectra, beams and random skies under healpy's names, against healpy."""

import healpy
import numpy as np
import pytest

import zonal
import zonal.healpy as hp
from healpy_peer import agree, agree_within
from zonal.healpy import sphtfunc
from zonal.healpy.utils.deprecation import HealpyDeprecationWarning

NSIDE, LMAX = 16, 32
N_PIXELS = 12 * NSIDE**2
# Every Legendre function has a relative error of about lmax eps from its recurrence, in both; an analysis with three
# iterations takes seven transforms.
ROUNDING = 7 * 48 * np.finfo(float).eps


def same(name, *arguments, tolerance=ROUNDING, seed=None, **options):
    """The two functions of this name agree."""
    results = []
    for module in (hp, healpy):
        if seed is not None:
            np.random.seed(seed)
        results.append(getattr(module, name)(*arguments, **options))
    agree_within(*results, tolerance)


@pytest.fixture
def maps(rng):
    """I, Q, U of white noise, [3, pixel]."""
    return rng.standard_normal((3, N_PIXELS))


@pytest.fixture
def alm(random_alm):
    return random_alm(LMAX, shape=(3,))


@pytest.fixture
def holes(maps):
    """I, Q, U as masked arrays of which the first two have holes."""
    holes = maps.copy()
    holes[0, 100:400] = holes[1, 2000:2010] = hp.UNSEEN
    return [hp.ma(row) for row in holes]


@pytest.fixture
def spectra():
    """TT, TE, EE, BB."""
    tt = 1 / np.arange(1.0, LMAX + 2) ** 2
    return [tt, 0.1 * tt, 0.5 * tt, 0.2 * tt]


@pytest.mark.parametrize("options", [{}, {"iter": 0}, {"gal_cut": 20}, {"mmax": 10}, {"lmax": None}, {"pol": False}])
def test_analyses(maps, holes, options):
    options = {"lmax": LMAX, **options}
    for m in (maps[0], [maps[0]], maps, list(maps), holes, holes[0], maps[0].astype(np.float32), np.arange(N_PIXELS),
              np.repeat(maps[0], 2)[::2]):
        same("map2alm", m, **options)


@pytest.mark.parametrize("options", [{}, {"fwhm": 0.1}, {"sigma": 0.1}, {"fwhm": 0.1, "pol": False}])
def test_syntheses(alm, options):
    for a in (alm[0], alm, list(alm), alm[0].astype(np.complex64), alm[0].real):
        same("alm2map", a, NSIDE, **options)
    narrow = np.ones(hp.Alm.getsize(8, 3), complex)
    if not options:
        same("alm2map", narrow, NSIDE, lmax=8, mmax=3)
    wide = hp.resize_alm(narrow, 8, 3, 8, 8)
    # the same sums with zeros for m > 3, which have no rounding
    agree_within(hp.alm2map(narrow, NSIDE, lmax=8, mmax=3, **options), hp.alm2map(wide, NSIDE, **options), 1e-15)


def test_syntheses_in_place_change_the_coefficients_as_the_beam_says(alm):
    expected = hp.smoothalm(alm, fwhm=0.1, inplace=False)
    for given in (alm.copy(), list(alm.copy())):
        hp.alm2map(given, NSIDE, fwhm=0.1, inplace=True)
        np.testing.assert_array_equal(given, expected)
    kept = alm.copy()
    hp.alm2map(alm, NSIDE, fwhm=0.1)
    np.testing.assert_array_equal(alm, kept)


@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_fields_of_a_spin(maps, holes, alm, spin):
    same("alm2map_spin", alm[1:], NSIDE, spin, LMAX)
    same("map2alm_spin", maps[1:], spin, LMAX)
    same("map2alm_spin", holes[:2], spin)


def test_derivatives(alm):
    same("alm2map_der1", alm[0], NSIDE)
    same("alm2map_der1", alm[0].astype(np.complex64), NSIDE)


def test_least_squares_analyses(alm):
    for a in (alm[0], alm):
        sky = hp.alm2map(a, NSIDE)
        found, rest, iterations = hp.map2alm_lsq(sky, LMAX, LMAX, tol=1e-10)
        # |f - S a| <= cond(S) tol |f|, and a HEALPix map's cond(S) at lmax = 2 nside is about 1.1
        assert rest < 1.2e-10 and 1 < iterations < 20
        agree_within(sky, hp.alm2map(found, NSIDE), 1e-9)
    with pytest.warns(zonal.ZonalWarning, match="2 iterations"):
        hp.map2alm_lsq(sky, LMAX, LMAX, maxiter=2)


@pytest.mark.parametrize("options", [{}, {"fwhm": 0.1}, {"sigma": 0.1, "lmax": LMAX}, {"fwhm": 0.1, "pol": False},
                                     {"beam_window": np.ones(9)}])
def test_smoothed_maps(maps, holes, options):
    unseen = maps[0].copy()
    unseen[5:9] = hp.UNSEEN
    for m in (maps[0], maps, list(maps), holes[0], holes, unseen, maps[0].astype(np.float32)):
        same("smoothing", m, **options)


def test_smoothed_maps_in_nest_order_keep_their_holes(maps, holes):
    same("smoothing", maps, fwhm=0.2, nest=True)
    turned = hp.reorder(holes[0], n2r=True)
    expected = hp.reorder(hp.smoothing(turned, fwhm=0.2), r2n=True)
    agree(hp.smoothing(holes[0], fwhm=0.2, nest=True), expected)
    np.testing.assert_array_equal(expected.mask, holes[0].mask)


@pytest.mark.parametrize("options", [{"fwhm": 0.1}, {"sigma": 0.1}, {"fwhm": 0.1, "pol": False},
                                     {"beam_window": np.ones(9)}])
def test_smoothed_coefficients(alm, options):
    for make in (np.copy, lambda a: list(np.copy(a)), lambda a: np.copy(a[0]), lambda a: a[0].astype(np.complex64)):
        ours, theirs = make(alm), make(alm)
        agree_within(hp.smoothalm(ours, **options), healpy.smoothalm(theirs, **options), 1e-15)
        agree_within(ours, theirs, 1e-15)  # changed in place, or not
        assert (hp.smoothalm(ours, **options) is ours) == (healpy.smoothalm(theirs, **options) is theirs)
    ours, theirs = (module.smoothalm(list(alm), inplace=False, **options) for module in (hp, healpy))
    agree_within(ours, theirs, 1e-15)


@pytest.mark.parametrize("options", [{}, {"nspec": 2}, {"alm": True}, {"pol": False}, {"gal_cut": 10, "iter": 1}])
def test_spectra_of_maps(maps, holes, options):
    same("anafast", maps, lmax=LMAX, **options)
    same("anafast", holes, maps, lmax=LMAX, **options)
    if "nspec" not in options:
        same("anafast", maps[0], lmax=LMAX, **options)
        same("anafast", maps[0], holes[0], lmax=LMAX, **options)


def test_spectra_of_coefficients(alm):
    for a in (alm, list(alm), alm[0], [alm[0]]):
        same("alm2cl", a)
        same("alm2cl", a, lmax_out=5)
        same("alm2cl", a, lmax_out=500)
    same("alm2cl", alm, alm[::-1], nspec=4)
    same("alm2cl", np.ones(hp.Alm.getsize(8, 3), complex), lmax=8, mmax=3)


def test_products_with_functions_of_l(alm):
    for f in (np.ones(5), np.arange(50), 1j * np.arange(40), list(range(9))):
        for a in (alm[0], alm[0].astype(np.complex64), list(alm[0])):
            same("almxfl", a, np.asarray(f))
    given = alm[0].copy()
    assert hp.almxfl(given, np.ones(5), inplace=True) is given
    agree(given, hp.almxfl(alm[0], np.ones(5)))
    none = np.empty(0, complex)  # as tests of other packages have it from stand-ins for map2alm
    assert hp.almxfl(none, np.ones(5)).shape == healpy.almxfl(none, np.ones(5)).shape == (0,)
    assert hp.almxfl(none, np.ones(5), inplace=True) is none


def test_other_band_limits(alm):
    for out in ((10, 5), (40, 40)):
        same("resize_alm", alm[0], LMAX, LMAX, *out)
        same("resize_alm", list(alm), LMAX, LMAX, *out)
        same("resize_alm", alm[0].astype(np.complex64), LMAX, LMAX, *out)


def test_rotated_coefficients(alm):
    matrix = zonal.rotation_matrix((0.3, 0.7, 1.2))
    for angles, options in (((0.1, 0.2, 0.3), {}), ((7, -4, 0.3), {}), ((), {"matrix": matrix}),
                            ((0.1, 0.2, 0.3), {"matrix": matrix})):
        ours, theirs = alm.copy(), alm.copy()
        assert hp.rotate_alm(ours, *angles, **options) is None
        healpy.rotate_alm(theirs, *angles, **options)
        agree_within(ours, theirs, ROUNDING)
        rows = list(alm.copy())
        hp.rotate_alm(rows, *angles, **options)
        np.testing.assert_array_equal(rows, ours)
    for wrong in (alm.real, alm.astype(np.complex64), alm.tolist()):
        with pytest.raises(ValueError, match="complex128"):
            hp.rotate_alm(wrong, 0.1)
    with pytest.raises(ValueError, match="mmax = 3: must be lmax"):
        hp.rotate_alm(np.ones(hp.Alm.getsize(8, 3), complex), 0.1, lmax=8, mmax=3)


@pytest.mark.parametrize("options", [{}, {"lmax": 20}, {"lmax": 40}])
def test_random_coefficients_are_those_of_the_seed(spectra, options):
    tt, te, ee, bb = spectra
    for cls in (tt, [tt], spectra, [tt, te, 0.05 * tt, ee, 0.02 * tt, bb], [tt, te, ee], [tt, None, ee, None]):
        same("synalm", cls, seed=5, **options)
    for cls in ([tt, ee, bb, te], [tt, ee, bb, te, 0.02 * tt, 0.01 * tt]):
        same("synalm", cls, new=True, seed=5, **options)


def test_random_coefficients_end_at_mmax(spectra):
    np.random.seed(5)
    alm = hp.synalm(spectra, lmax=20, mmax=4)
    assert alm.shape == (3, hp.Alm.getsize(20, 4))
    # 2 sum_l (2 l + 1) / 2 degrees of freedom: C_l is within a few of its standard deviations
    c_l = hp.alm2cl(alm[0], lmax=20, mmax=4)[:5]
    assert np.all(np.abs(c_l / spectra[0][:5] - 1) < 5 * np.sqrt(2 / (2 * np.arange(5) + 1)))


def test_spectra_that_no_fields_have_are_told(spectra):
    tt = spectra[0]
    for cls in ([None, tt, tt, tt], [tt, 3 * tt, tt, tt], -tt):
        with pytest.warns(zonal.ZonalWarning, match="l = 0"):
            same("synalm", cls, seed=5)


@pytest.mark.parametrize("options", [{}, {"fwhm": 0.1}, {"sigma": 0.1}, {"lmax": 20, "alm": True, "fwhm": 0.1}])
def test_random_maps_are_those_of_the_seed(spectra, options):
    same("synfast", spectra, NSIDE, seed=5, **options)
    same("synfast", spectra[0], NSIDE, seed=5, **options)
    same("synfast", [spectra[0], spectra[1], spectra[2]], NSIDE, pol=False, seed=5, **options)


def test_orders_of_spectra():
    for names in ("a", "abc", "abcdef", "abcdefghij"):
        if len(names) < 10:
            assert sphtfunc.new_to_old_spectra_order(names) == healpy.sphtfunc.new_to_old_spectra_order(names)
    assert sphtfunc.new_to_old_spectra_order(["TT", "EE", "BB", "TE", "EB", "TB"]) == \
        ["TT", "TE", "TB", "EE", "EB", "BB"]


def test_beams():
    theta = np.linspace(0, 1, 99)
    profile = np.exp(-(theta**2) / 0.1)
    for pol in (False, True):
        same("gauss_beam", 0.1, 30, pol=pol, tolerance=1e-15)
        same("blm_gauss", 0.3, 20, pol=pol, tolerance=1e-15)
    same("beam2bl", profile, theta, 20, tolerance=1e-15)
    # sum_l (2 l + 1) / (4 pi) b_l P_l, each P_l with an error of up to l eps
    same("bl2beam", 1 / np.arange(1.0, 30), theta, tolerance=30 * np.finfo(float).eps)
    for arcmin in (False, True):
        agree(hp.effective_resolution_fwhm(64, arcmin), healpy.effective_resolution_fwhm(64, arcmin))
    np.testing.assert_array_equal(hp.beam2bl(profile[::-1], theta[::-1], 20), hp.beam2bl(profile, theta, 20))


def test_layouts():
    for call in ("getlm(4)", "getlm(4, 7)", "getlm(4, np.array([0, 4, 5, 14]))", "getidx(4, 3, 2)",
                 "getidx(4, np.array([3, 4]), 2)", "getlmax(15)", "getlmax(14)", "getlmax(12, 2)", "getlmax(13, 2)",
                 "getlmax(12, -1)", "getsize(4)", "getsize(4, 2)", "getsize(4, -1)", "getsize(4, 9)"):
        ours, theirs = (eval(f"Alm.{call}", {"Alm": module.Alm, "np": np}) for module in (hp, healpy))
        agree(ours, theirs)
    for l, m in ((5, 2), (2, 3), (2, -1)):
        with pytest.raises(ValueError, match="lmax = 4"):
            hp.Alm.getidx(4, l, m)
    for i in (15, -1):
        with pytest.raises(AssertionError, match="0 to 14"):
            hp.Alm.getlm(4, i)


def test_pixel_windows_are_what_pixels_leave_of_modes():
    # The means over the 32^2 centres in a pixel differ from those over the pixel by about (l pi / (nside 32))^2 / 24.
    nside, l, fine = 2, 6, 64
    power = 0.0
    for m in range(l + 1):
        for part in (1, 1j) if m else (1,):  # a_lm = 1 gives sqrt(2) times a mode of unit norm if m > 0
            mode = np.zeros(hp.Alm.getsize(l), complex)
            mode[hp.Alm.getidx(l, l, m)] = part
            means = hp.reorder(hp.alm2map(mode, fine), r2n=True).reshape(12 * nside**2, -1).mean(1)
            power += (means**2).mean() / (2 if m else 1)
    expected = np.sqrt(power * 4 * np.pi / (2 * l + 1))
    np.testing.assert_allclose(hp.pixwin(nside, lmax=l)[l], expected, rtol=0, atol=(np.pi * l / (nside * 32)) ** 2 / 24)


def test_pixel_windows_of_healpix_files():
    # values of HEALPix's pixel_window_n0002.fits and n0064.fits: temperature and polarisation at l = 2, and at 4 nside
    temperature, polarisation = hp.pixwin(2, pol=True, lmax=8)
    np.testing.assert_allclose(temperature[2], 0.93310702, rtol=0, atol=1e-8)
    np.testing.assert_allclose(polarisation[:4], [0, 0, 0.97751743, 0.91178970], rtol=0, atol=1e-8)
    assert len(hp.pixwin(128)) == 384 and len(hp.pixwin(15, lmax=7)) == 8
    with pytest.raises(ValueError, match="lmax = 9: must be from 0 to 4 nside = 8"):
        hp.pixwin(2, lmax=9)


def test_windows_of_pixels_apply_to_maps_and_random_skies(alm, spectra):
    temperature, polarisation = hp.pixwin(NSIDE, pol=True, lmax=LMAX)
    windowed = [hp.almxfl(a, window) for a, window in zip(alm, (temperature, polarisation, polarisation))]
    np.testing.assert_array_equal(hp.alm2map(alm, NSIDE, pixwin=True), hp.alm2map(windowed, NSIDE))
    np.random.seed(5)
    sky, made_of = hp.synfast(spectra, NSIDE, pixwin=True, alm=True)
    np.testing.assert_array_equal(hp.alm2map(made_of, NSIDE), sky)


def test_weights_make_analyses_better(tmp_path, alm):
    sky = hp.alm2map(alm[0], NSIDE)
    plain = np.abs(hp.map2alm(sky, LMAX, iter=0) - alm[0]).max()
    for option in ("use_weights", "use_pixel_weights"):
        assert np.abs(hp.map2alm(sky, LMAX, iter=0, **{option: True}) - alm[0]).max() < 0.8 * plain
    with pytest.raises(RuntimeError, match="only one"):
        hp.map2alm(sky, use_weights=True, use_pixel_weights=True)
    with pytest.raises(RuntimeError, match="there is neither .*/full_weights/healpix_full_weights_nside_0016.fits nor"):
        hp.map2alm(sky, use_pixel_weights=True, datapath=tmp_path)
    with pytest.raises(ValueError, match="datapath"):
        hp.map2alm(sky, datapath=tmp_path)


def test_wrong_arguments_are_named(maps, alm):
    for call, error, match in (
            (lambda: hp.map2alm(maps[:2]), ValueError, "has 2 maps"),
            (lambda: hp.map2alm(maps[0, :-1]), TypeError, "has 3071 pixels"),
            (lambda: hp.map2alm(maps[0], lmax=-1), ValueError, "lmax = -1"),
            (lambda: hp.map2alm(maps[0], lmax=4, mmax=6), ValueError, "mmax = 6"),
            (lambda: hp.map2alm(maps[0], gal_cut=91), ValueError, "gal_cut = 91"),
            (lambda: hp.map2alm(maps[0], iter=-1), ValueError, "iterations = -1"),
            (lambda: hp.alm2map(alm[:2], NSIDE), TypeError, "has 2 rows"),
            (lambda: hp.alm2map(alm[0, :-1], NSIDE), TypeError, "has 560 coefficients"),
            (lambda: hp.alm2map(alm[0], -1), ValueError, "nside = -1"),
            (lambda: hp.alm2map_spin(alm[0], NSIDE, 2, LMAX), ValueError, "has 1 rows"),
            (lambda: hp.map2alm_spin(maps[1:], -1), ValueError, "spin = -1"),
            (lambda: hp.smoothing(maps[0], fwhm=-1), ValueError, "fwhm = -1"),
            (lambda: hp.smoothing(maps[0], beam_window=np.ones((3, 9))), ValueError, "beam_window"),
            (lambda: hp.synalm([np.ones(9)] * 2), TypeError, "has 2 spectra"),
            (lambda: hp.anafast(maps[0], maps), ValueError, "map2"),
            (lambda: hp.anafast(maps[0], nspec=2), ValueError, "nspec = 2"),
            (lambda: hp.check_max_nside(16384), ValueError, "8192"),
            (lambda: hp.no_such_name, AttributeError, "Coming from healpy")):
        with pytest.raises(error, match=match):
            call()
    with pytest.warns(HealpyDeprecationWarning, match="verbose"):
        hp.map2alm(maps[0], verbose=False)
