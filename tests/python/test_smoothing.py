"""Smoothing and convolution against healpy, plain sums, and their own certificates."""

import healpy
import numpy as np
import pytest

import zonal

NSIDE, LMAX = 16, 32
FWHM = np.deg2rad(20)
EPS = np.finfo(float).eps
# Each side's eight transforms are off by about eps * lmax of values of up to 50.
TRANSFORMS = 2 * 8 * LMAX * 50 * EPS


@pytest.fixture
def alm(random_alm):
    return random_alm(LMAX, shape=(3,), spin=2)


@pytest.fixture
def sky(alm):
    """I, Q, U of band-limited alm."""
    return zonal.alm2map(alm, NSIDE)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def test_three_iterations_are_those_of_healpy(sky):
    expected = healpy.smoothing(sky[0], fwhm=FWHM, iter=3)
    np.testing.assert_allclose(zonal.smooth(sky[0], FWHM, method="harmonic"), expected, rtol=0, atol=TRANSFORMS)


def test_polarised_smoothing_is_that_of_healpy(sky):
    expected = healpy.smoothing(sky, fwhm=FWHM, iter=3, pol=True)
    np.testing.assert_allclose(zonal.smooth(sky, FWHM, pol=True, method="harmonic"), expected, rtol=0, atol=TRANSFORMS)


def test_unseen_pixels_stay_unseen_as_in_healpy(sky):
    cut = sky[0].copy()
    cut[100:200] = zonal.UNSEEN
    expected = healpy.smoothing(cut, fwhm=FWHM, iter=3)
    smoothed = zonal.smooth(cut, FWHM, method="harmonic")
    np.testing.assert_array_equal(smoothed == zonal.UNSEEN, expected == healpy.UNSEEN)
    np.testing.assert_allclose(smoothed, expected, rtol=1e-11, atol=TRANSFORMS)
    mask = np.ones(len(cut))
    mask[100:200] = 0
    np.testing.assert_array_equal(zonal.smooth(sky[0], FWHM, method="harmonic", mask=mask), smoothed)


def test_renormalising_keeps_a_constant(sky):
    mask = np.ones(12 * NSIDE**2)
    mask[:500] = 0
    smoothed = zonal.smooth(np.full(12 * NSIDE**2, 3.0), FWHM, mask=mask, mask_mode="renormalize", method="ring-fft")
    np.testing.assert_allclose(smoothed[smoothed != zonal.UNSEEN], 3, rtol=1e-6)  # to any error: of map and mask it is the same


@pytest.mark.parametrize("error", [1e-3, 1e-8])
def test_the_certificate_bounds_the_true_error(alm, sky, error):
    smoothed, parts = zonal.smooth(sky, FWHM, pol=True, error=error, lmax=LMAX, return_report=True)
    beam = np.stack([zonal.gaussian_window(FWHM, LMAX, spin) for spin in (0, 2, 2)])
    truth = zonal.alm2map(np.stack([healpy.almxfl(a, b) for a, b in zip(alm, beam)]), NSIDE)
    bounds = [c.error for part in parts for c in part.certificates]
    assert len(bounds) == 2 and all(bound <= error for bound in bounds)
    for part in parts:
        (certificate,) = part.certificates
        rows = list(part.rows)
        assert rms(smoothed[rows] - truth[rows]) <= certificate.error * rms(truth[rows])


def test_an_error_that_no_way_keeps_raises(rng):
    noise = rng.standard_normal(12 * NSIDE**2)
    with pytest.raises(zonal.ErrorNotKept, match="error = 1e-15"):
        zonal.smooth(noise, FWHM, error=1e-15)
    low = zonal.alm2map(zonal.synalm(np.ones(9), seed=4), NSIDE)
    with pytest.warns(zonal.ZonalWarning, match="error = 1e-15: rows .0.: .*more than the 1e-15 asked for"):
        assert zonal.smooth(low, 2 * FWHM, error=1e-15, keep_missed=True, lmax=LMAX).shape == noise.shape


def test_sums_over_pixels_are_plain_sums(rng):
    nside, sky = 4, rng.standard_normal(192)
    vectors = np.array(healpy.pix2vec(nside, np.arange(192))).T
    kernel = zonal.Kernel.from_profile(np.deg2rad([0, 10, 25, 40]), [3.0, 2.0, 0.5, 0.0])
    separation = np.arctan2(np.linalg.norm(np.cross(vectors[:, None], vectors), axis=-1), vectors @ vectors.T)
    expected = 4 * np.pi / 192 * kernel.profile(separation) @ sky
    for method in ("pixel-sum", "ring-fft"):
        convolved = zonal.convolve(sky, kernel, method=method, normalization="none", precision="float64",
                                   cut="40deg")
        np.testing.assert_allclose(convolved, expected, rtol=0, atol=1e-5 * rms(expected))  # the error that is allowed


def test_nest_order_is_the_same_map(sky):
    ring = zonal.smooth(sky[0], FWHM, lmax=LMAX)
    nest = zonal.smooth(healpy.reorder(sky[0], r2n=True), FWHM, nest=True, lmax=LMAX)
    np.testing.assert_array_equal(nest, healpy.reorder(ring, r2n=True))


def test_float32_and_out(sky):
    single = sky[0].astype(np.float32)
    out = np.empty(12 * NSIDE**2, np.float32)
    assert zonal.smooth(single, FWHM, lmax=38, out=out) is out
    np.testing.assert_allclose(out, zonal.smooth(sky[0], FWHM, lmax=38), rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="out: must not share memory"):
        zonal.smooth(single, FWHM, out=single)


def test_rows_of_a_batch_are_fields_of_their_own(sky):
    both = zonal.smooth(sky[1:], FWHM, method="harmonic")
    np.testing.assert_allclose(both[1], zonal.smooth(sky[2], FWHM, method="harmonic"), rtol=0, atol=TRANSFORMS)


def test_cylindrical_rings_have_a_grid(rng):
    grid = zonal.Grid.equidistant_cylindrical(24, 48)
    alm = zonal.synalm(np.ones(9), seed=2)
    sht = zonal.SHT(grid, 8)
    smoothed = zonal.smooth(sht.synthesize(alm), FWHM, grid=grid, method="harmonic", lmax=8, iterations=5)
    expected = sht.synthesize(healpy.almxfl(alm, zonal.gaussian_window(FWHM, 8)))
    # The rule is exact for these degrees: transforms round, by eps * lmax of values of up to 5.
    np.testing.assert_allclose(smoothed, expected, rtol=0, atol=12 * 8 * 5 * EPS)
    with pytest.raises(ValueError, match="grid = "):
        zonal.smooth(np.ones(15), FWHM, grid=zonal.Grid.gauss_legendre(3, 5))


def test_the_result_may_have_another_nside(alm, sky):
    finer = zonal.smooth(sky[0], FWHM, grid_out=zonal.Grid.healpix(32), method="harmonic", lmax=LMAX, iterations=10)
    expected = zonal.alm2map(healpy.almxfl(alm[0], zonal.gaussian_window(FWHM, LMAX)), 32)
    # Each of ten iterations leaves a fifth of the quadrature's error, or less, of values of up to 5 below this window.
    np.testing.assert_allclose(finer, expected, rtol=0, atol=5 * 0.2**10)


def test_un_smoothing_undoes_smoothing(alm, sky):
    options = dict(method="harmonic", lmax=LMAX, tolerance=1e-13)
    smoothed = zonal.smooth(sky[0], "5deg", **options)
    back = zonal.smooth(smoothed, beam=np.ones(LMAX + 1), fwhm_in="5deg", **options)
    # The tolerance is of the norm, which an un-smoothing of one window in 1.4 at lmax enlarges.
    np.testing.assert_allclose(back, sky[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("options", "message"), [
    (dict(method="fast"), r"method = 'fast': must be one of 'pixel-sum', 'ring-fft', 'harmonic', 'split', 'auto'"),
    (dict(error=2.0), "error = 2: must be above 0 and below 1"),
    (dict(lmax=-3), "lmax = -3: must be 0 or more"),
    (dict(lmax=1000), "lmax = 1000: must be at most 47"),
    (dict(mask=np.ones(5)), "mask: has shape"),
    (dict(cut="10deg"), "cut: not with method auto"),
    (dict(theta_cut="10deg"), "theta_cut: only with method split"),
    (dict(threads=-2), "threads = -2"),
    (dict(pol=True), "maps: has 1 rows: must be I, Q, U or Q, U"),
    (dict(mask=np.full(12 * NSIDE**2, 2.0)), "mask"),
])
def test_wrong_options_are_named(sky, options, message):
    with pytest.raises(ValueError, match=message):
        zonal.smooth(sky[0], FWHM, **options)


def test_unknown_options_are_refused(sky):
    with pytest.raises(TypeError, match="verbose"):
        zonal.smooth(sky[0], FWHM, verbose=True)


def test_nan_is_named(sky):
    sky[0, 17] = np.nan
    with pytest.raises(ValueError, match="pixel 17"):
        zonal.smooth(sky[0], FWHM)


def test_an_answer_that_depends_on_lmax_says_so():
    """A mode above the lmax that the kernel asks for: pixels mix it into what is kept, and nothing else is left of it."""
    alm = np.zeros(zonal.alm_size(60), complex)
    alm[zonal.alm_index(60, 50, 7)] = 1
    mode = zonal.alm2map(alm, 32)
    _, (report,) = zonal.smooth(mode, "20deg", error=1e-6, return_report=True)
    assert report.lmax < 50
    assert report.lmax_effect > 1e-6 and any("the pixels mix it into lower degrees" in note for note in report.notes)
    low = zonal.alm2map(zonal.synalm(np.ones(9), seed=4), 128)
    for options in (dict(error=1e-3), dict(error=1e-6, lmax=40)):
        _, (report,) = zonal.smooth(low, "20deg", **options, return_report=True)
        assert not report.notes


def test_a_matched_filter_is_applied_as_it_is():
    """The integral of a matched filter is far from 1, and sources keep their peaks all the same."""
    l = np.arange(3.0 * NSIDE)
    b_l, c_l, n_l = np.exp(-l * (l + 1) * 0.02), 1 / (l + 1) ** 2, np.full(l.size, 0.01)
    window = zonal.matched_filter_window(b_l, c_l, n_l)
    source = zonal.alm2map(_source(b_l), NSIDE)
    expected = zonal.alm2map(zonal.almxfl(_source(b_l), window), NSIDE)
    for method in ("auto", "harmonic", "ring-fft", "pixel-sum"):
        found, (report,) = zonal.smooth(source, beam=window, method=method, error=1e-3, return_report=True)
        assert report.kernels[0].scale == 1 and report.kernels[0].integral == pytest.approx(window[0])
        if report.reference == "discrete":  # sums over these pixels are a quadrature, without iterations
            wanted = zonal.smooth(source, beam=window, method="harmonic", reference="discrete", error=1e-3)
            assert rms(found - wanted) <= 2.1e-3 * rms(wanted), method  # each is within 1e-3
        else:
            assert rms(found - expected) <= 1e-3 * rms(expected), method


def _source(b_l):
    """alm of a source at the north pole whose map is sum_l (2l+1)/(4 pi) b_l P_l."""
    lmax = len(b_l) - 1
    alm = np.zeros(zonal.alm_size(lmax), complex)
    alm[: lmax + 1] = np.sqrt((2 * np.arange(lmax + 1) + 1) / (4 * np.pi)) * b_l
    return alm


CMB_WIDTHS = ["30arcmin", "1deg", "2deg", "3deg", "5deg", "10deg"]


@pytest.mark.parametrize("fwhm", CMB_WIDTHS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_note_stands_only_where_the_answer_depends_on_lmax(fwhm, seed):
    """Skies with a beam, as all that is measured: what is noted is above the error, and what is refused is noted."""
    nside = 64
    l = np.arange(3.0 * nside)
    c_l = np.exp(-l * (l + 1) * np.radians(2) ** 2 / (8 * np.log(2))) / np.maximum(l * (l + 1), 1) * (l > 1)
    sky = zonal.synfast(c_l, nside, seed=seed)
    _, (report,) = zonal.smooth(sky, fwhm, return_report=True)
    assert report.is_certified and bool(report.notes) == (report.lmax_effect > 1e-5)
    if report.notes:
        with pytest.raises(zonal.ErrorNotKept, match="strict: the answer depends on lmax"):
            zonal.smooth(sky, fwhm, strict=True)
    else:
        zonal.smooth(sky, fwhm, strict=True)


def test_the_error_that_is_allowed_is_used():
    """Analyses end when the certificate holds: an iteration takes off about a factor of ten, so that of all errors
    between two iterations the median is above a tenth of what was asked for."""
    sky = zonal.synfast(1 / (1 + np.arange(97.0)) ** 2, 32, lmax=64, seed=5)
    used = []
    for error in np.geomspace(1e-8, 1e-2, 13):
        for fwhm in ("8deg", "15deg"):
            _, (report,) = zonal.smooth(sky, fwhm, error=error, return_report=True)
            assert report.certified_error <= error
            used.append(report.certified_error / error)
    assert np.median(used) > 0.1, np.median(used)
