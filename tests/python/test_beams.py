"""Beams that are not round against ducc0 and turned beams, and what the class adds: shapes, types, units, errors."""

from concurrent.futures import ThreadPoolExecutor

import astropy.units as u
import ducc0
import numpy as np
import pytest

import zonal
from zonal import healpy

LMAX, KMAX = 24, 4
RNG = np.random.default_rng(3)


def alm_of(kmax=LMAX, components=3):
    """Random T, or T, E, B."""
    order = np.concatenate([np.full(LMAX + 1 - m, m) for m in range(kmax + 1)])
    degree = np.concatenate([np.arange(m, LMAX + 1) for m in range(kmax + 1)])
    alm = RNG.standard_normal((components, len(order))) + 1j * RNG.standard_normal((components, len(order)))
    alm[:, order == 0] = alm[:, order == 0].real
    alm[1:, degree < 2] = 0
    return alm


SKY, BEAM = alm_of(), alm_of(KMAX)
N = 200
THETA, PHI, PSI, HWP = np.arccos(RNG.uniform(-1, 1, N)), *RNG.uniform(-7, 7, (3, N))
THETA[:2] = 0, np.pi


@pytest.fixture(scope="module")
def convolver():
    return zonal.BeamConvolver(SKY, BEAM, error=1e-11, threads=2)


def turned(beam, sky, theta, phi, psi):
    """The signal by turning the beam for each pointing."""
    return np.array([dot(zonal.rotate_alm(beam, (c, a, b), LMAX, KMAX, mmax_out=LMAX), sky) for a, b, c in zip(theta, phi, psi)])


def turned_by(beam, sky, theta, phi, psi):
    """That of a beam with all orders."""
    return np.array([dot(zonal.rotate_alm(beam, (c, a, b), LMAX), sky) for a, b, c in zip(theta, phi, psi)])


def dot(a, b):
    return (np.where(np.arange(a.shape[-1]) <= LMAX, 1, 2) * (a.conj() * b).real).sum()


def test_the_signal_is_that_of_ducc0(convolver):
    peer = ducc0.totalconvolve.Interpolator(sky=SKY, beam=BEAM, separate=False, lmax=LMAX, kmax=KMAX, epsilon=1e-11, npoints=N, nthreads=1)
    expected = peer.interpol(np.stack([THETA, np.mod(PHI, 2 * np.pi), np.mod(PSI, 2 * np.pi)], 1))[0]
    # Both keep 1e-11 of the largest signal, whose scale that of the pointings is.
    np.testing.assert_allclose(convolver(THETA, PHI, PSI), expected, rtol=0, atol=2e-11 * abs(expected).max())


def test_the_adjoint_is_that_of_ducc0(convolver):
    tod = RNG.standard_normal(N)
    peer = ducc0.totalconvolve.Interpolator(lmax=LMAX, kmax=KMAX, ncomp=1, epsilon=1e-11, npoints=N, nthreads=1)
    peer.deinterpol(np.stack([THETA, np.mod(PHI, 2 * np.pi), np.mod(PSI, 2 * np.pi)], 1), tod[None])
    expected = peer.getSlm(BEAM)
    made = convolver.adjoint(tod, THETA, PHI, PSI)
    made[:, :LMAX + 1].imag = expected[:, :LMAX + 1].imag = 0
    np.testing.assert_allclose(made, expected, rtol=0, atol=1e-9 * abs(expected).max())


def test_the_signal_is_that_of_turned_beams(convolver):
    expected = turned(BEAM, SKY, THETA[:30], PHI[:30], PSI[:30])
    np.testing.assert_allclose(convolver(THETA[:30], PHI[:30], PSI[:30]), expected, rtol=0, atol=1e-10 * abs(expected).max())


@pytest.mark.parametrize("hwp", [None, HWP])
def test_the_adjoint_is_the_transpose(convolver, hwp):
    tod = RNG.standard_normal(N)
    made = convolver(THETA, PHI, PSI, hwp)
    size = np.linalg.norm(made) * np.linalg.norm(tod)
    assert abs(tod @ made - dot(convolver.adjoint(tod, THETA, PHI, PSI, hwp), SKY)) < 1e-13 * size


# What displaced kernels do: a beam of a length and a width, beside the axis.
LONG, ORDERS = zonal.elliptical_beam(0.3, 1.2, lmax=LMAX, error=1e-9, return_report=True)
OFFSET = zonal.rotate_alm(LONG, (0.3, 0.4, 1.0), LMAX, ORDERS.kmax, mmax_out=LMAX)


@pytest.fixture(scope="module")
def displaced():
    return zonal.BeamConvolver(SKY[0], OFFSET, error=0.05, method="displaced", threads=2)


def test_displaced_kernels_keep_the_error(displaced):
    expected = turned_by(OFFSET, SKY[0], THETA[:60], PHI[:60], PSI[:60])
    signal, report = displaced(THETA[:60], PHI[:60], PSI[:60], return_report=True)
    assert report.method == displaced.method == "displaced" and 1 < report.kernels == displaced.kernels <= 8
    assert report.bound == displaced.bound <= 0.05 and report.left_out == 0
    # The bound is of the rms of all pointings, the largest of which is above it.
    assert abs(signal - expected).max() <= report.bound * abs(expected).max()
    assert 0.2 < (signal - expected).std() / expected.std() / report.mean_error < 2


def test_the_adjoint_of_displaced_kernels_is_the_transpose(displaced):
    tod = RNG.standard_normal(N)
    made = displaced(THETA, PHI, PSI)
    size = np.linalg.norm(made) * np.linalg.norm(tod)
    assert abs(tod @ made - dot(displaced.adjoint(tod, THETA, PHI, PSI), SKY[0])) < 1e-13 * size


def test_displaced_kernels_of_several_detectors_are_those_of_each(displaced):
    other = zonal.elliptical_beam(0.3, 1.1, lmax=LMAX, error=1e-9)
    beams = np.stack([OFFSET, np.concatenate([other, np.zeros(OFFSET.size - other.size)])])
    both = zonal.BeamConvolver(SKY[0], beams, error=0.05, method="displaced", threads=1)
    one = zonal.BeamConvolver(SKY[0], beams[1], error=0.05, method="displaced", threads=1)
    psi = np.stack([PSI, PSI[::-1]])
    np.testing.assert_array_equal(both(THETA, PHI, psi), [displaced(THETA, PHI, PSI), one(THETA, PHI, PSI[::-1])])
    tod = RNG.standard_normal((2, N))
    expected = displaced.adjoint(tod[0], THETA, PHI, PSI) + one.adjoint(tod[1], THETA, PHI, PSI[::-1])
    np.testing.assert_allclose(both.adjoint(tod, THETA, PHI, psi), expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_a_part_of_the_sky_holds_what_displaced_kernels_see(displaced):
    part = zonal.BeamConvolver(SKY[0], OFFSET, error=0.05, method="displaced", theta_range=(1.4, 1.6))
    assert part.n_bytes < displaced.n_bytes
    # Fourier transforms of other rows round otherwise.
    np.testing.assert_allclose(part([1.4, 1.6], 1, [2, 3]), displaced([1.4, 1.6], 1, [2, 3]), rtol=1e-13)
    with pytest.raises(ValueError, match="theta"):
        part(0.2, 1, 2)


def test_displaced_kernels_take_the_cpu_of_any_device(displaced):
    on_any = zonal.BeamConvolver(SKY[0], OFFSET, error=0.05, method="displaced", device="auto")
    assert on_any.device == displaced.device == "cpu"
    np.testing.assert_array_equal(on_any(THETA, PHI, PSI), displaced(THETA, PHI, PSI))


def test_auto_takes_orders_where_these_cost_less():
    window = np.sqrt((2 * np.arange(LMAX + 1) + 1) / (4 * np.pi)) * zonal.gaussian_window(0.3, LMAX)
    assert zonal.BeamConvolver(SKY[0], window).method == "harmonic"
    assert zonal.BeamConvolver(SKY, BEAM).method == "harmonic"


def test_a_half_wave_plate_turns_the_polarisation_of_a_narrow_beam():
    chi = 0.4
    beam = zonal.elliptical_beam(1e-3, 1.5, lmax=LMAX, polarization=chi, error=1e-9)
    made = zonal.BeamConvolver(SKY, beam, error=1e-9)(THETA, PHI, PSI, HWP)
    at = {"theta": THETA, "phi": PHI, "lmax": LMAX}
    q, v = zonal.PointTransform(**at, spin=2).synthesize(SKY[1:])
    seen = np.exp(4j * HWP) * (np.exp(2j * PSI) * (q - 1j * v))  # conj of Q + i U in the beam's frame, turned by the plate
    expected = zonal.PointTransform(**at).synthesize(SKY[0]) + (np.exp(-2j * chi) * seen).real
    # The beam smooths by (l sigma)^2 / 2 = 5e-5 of the smallest structures.
    np.testing.assert_allclose(made, expected, rtol=0, atol=2e-4 * abs(expected).max())


def test_a_round_beam_is_smoothing():
    window = zonal.gaussian_window(0.3, LMAX)
    degree = np.arange(LMAX + 1)
    signal = zonal.BeamConvolver(SKY[0], np.sqrt((2 * degree + 1) / (4 * np.pi)) * window, error=1e-10)(THETA, PHI, PSI)
    expected = zonal.PointTransform(THETA, PHI, LMAX).synthesize(zonal.almxfl(SKY[0], window))
    np.testing.assert_allclose(signal, expected, rtol=0, atol=3e-10 * abs(expected).max())


def test_several_detectors_share_pointings_or_have_their_own(convolver):
    beams = np.stack([BEAM, 2 * BEAM[:, ::1] + alm_of(KMAX)])
    several = zonal.BeamConvolver(SKY, beams, error=1e-11)
    one = zonal.BeamConvolver(SKY, beams[1], error=1e-11)
    shared = several(THETA, PHI, PSI)
    assert shared.shape == (2, N)
    np.testing.assert_array_equal(shared, [convolver(THETA, PHI, PSI), one(THETA, PHI, PSI)])
    own = several(np.stack([THETA, THETA[::-1]]), PHI, [[0.1], [0.2]])
    np.testing.assert_array_equal(own, [convolver(THETA, PHI, 0.1), one(THETA[::-1], PHI, 0.2)])
    tod = RNG.standard_normal((2, N))
    expected = convolver.adjoint(tod[0], THETA, PHI, PSI) + one.adjoint(tod[1], THETA, PHI, PSI)
    np.testing.assert_allclose(several.adjoint(tod, THETA, PHI, PSI), expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_angles_broadcast(convolver):
    signal = convolver(THETA[:6].reshape(2, 3), PHI[:3], 0.5)
    assert signal.shape == (2, 3)
    np.testing.assert_array_equal(signal.ravel(), convolver(THETA[:6], np.tile(PHI[:3], 2), np.full(6, 0.5)))
    assert convolver(0.3, 1, 2).shape == () and convolver([], 1, 2).shape == (0,)


def test_float32_gives_float32(convolver):
    narrow = zonal.BeamConvolver(SKY.astype(np.complex64), BEAM, error=1e-11)
    signal = narrow(THETA, PHI, PSI)
    assert signal.dtype == np.float32
    np.testing.assert_allclose(signal, convolver(THETA, PHI, PSI), rtol=0, atol=1e-5 * abs(signal).max())
    sky = narrow.adjoint(signal, THETA, PHI, PSI)
    assert sky.dtype == np.complex64 and sky.shape == SKY.shape
    assert narrow.adjoint(signal.astype(float), THETA, PHI, PSI).dtype == np.complex128


def test_quantities_give_quantities(convolver):
    signal = zonal.BeamConvolver(SKY * u.K, BEAM, error=1e-11)(np.degrees(THETA) * u.deg, PHI, PSI)
    assert signal.unit == u.K
    np.testing.assert_allclose(signal.value, convolver(THETA, PHI, PSI), rtol=0, atol=1e-10)
    assert convolver.adjoint(signal, THETA, PHI, PSI).unit == u.K


def test_a_part_of_the_sky_takes_less_memory(convolver):
    part = zonal.BeamConvolver(SKY, BEAM, error=1e-11, theta_range=(0.4, "0.6rad"))
    assert part.n_bytes < convolver.n_bytes
    theta = np.linspace(0.4, 0.6, 50)
    expected = convolver(theta, 1, 2)
    np.testing.assert_allclose(part(theta, 1, 2), expected, rtol=0, atol=1e-12 * abs(expected).max())
    with pytest.raises(ValueError, match=r"theta = .*: must lie where the planes were made"):
        part(1.4, 1, 2)


def test_the_report_says_what_is_left_out(convolver):
    cut = zonal.BeamConvolver(SKY, BEAM, 2, error=1e-8)
    assert cut.kmax == 2 and convolver.kmax == KMAX
    theta, phi, psi = np.arccos(RNG.uniform(-1, 1, 30000)), *RNG.uniform(0, 7, (2, 30000))
    signal, report = cut(theta, phi, psi, return_report=True)
    missing = convolver(theta, phi, psi) - signal
    assert report.bound == cut.bound <= 1e-8 and report.mean_error < report.bound
    # As many random pointings tell both to a few per cent.
    assert abs(missing.std() / signal.std() / report.left_out - 1) < 0.05
    assert convolver(theta, phi, psi, return_report=True)[1].left_out == 0


def test_results_do_not_depend_on_threads():
    tod = RNG.standard_normal(N)
    made = [zonal.BeamConvolver(SKY, BEAM, threads=n) for n in (1, 3)]
    np.testing.assert_array_equal(*(one(THETA, PHI, PSI, HWP) for one in made))
    np.testing.assert_array_equal(*(one.adjoint(tod, THETA, PHI, PSI) for one in made))


def test_threads_may_call_at_once():
    convolver = zonal.BeamConvolver(SKY, BEAM, threads=1)
    with ThreadPoolExecutor(4) as pool:
        plates = list(pool.map(lambda hwp: convolver(THETA, PHI, PSI, hwp), [HWP] * 8))
    for one in plates:
        np.testing.assert_array_equal(one, plates[0])


def test_elliptical_beams_have_the_axes_that_are_named():
    # The second moments of the beam along its axes are sigma_1^2 and sigma_2^2: in the plane, and nearly so for 6 degrees.
    fwhm, lmax = np.radians(6), 200
    beam, orders = zonal.elliptical_beam(fwhm, 1.5, lmax=lmax, orientation="30deg", error=1e-10, return_report=True)
    grid = zonal.Grid.gauss_legendre(lmax + 1, 2 * lmax + 2)
    theta, phi = grid.angles()
    values = zonal.SHT(grid, lmax, mmax=orders.kmax).synthesize(beam) * np.repeat(grid.weight, grid.ring_sizes)
    x, y = theta * np.cos(phi - np.pi / 6), theta * np.sin(phi - np.pi / 6)
    sigma = fwhm / np.sqrt(8 * np.log(2))
    assert abs(values.sum() - 1) < 1e-12
    moments = np.array([(values * x * x).sum(), (values * y * y).sum()]) / sigma**2
    np.testing.assert_allclose(moments, [1.5, 1 / 1.5], rtol=2 * sigma**2)
    assert abs((values * x * y).sum()) < 1e-6 * sigma**2 and orders.left_out <= 1e-10


def test_smoothing_with_one_orientation_is_the_signal_at_the_pixels():
    grid = zonal.Grid.healpix(16)
    theta, phi = grid.angles()
    maps = zonal.alm2map(SKY, 16)
    expected = zonal.BeamConvolver(SKY, BEAM, error=1e-11)(theta, phi, 0.7)
    smoothed = zonal.smooth_with_beam(maps, BEAM, "0.7rad", pol=True, lmax=LMAX, tolerance=1e-13)
    assert smoothed.shape == (grid.n_pixels,)
    # The residual times the condition of the analysis, and the convolver's error.
    np.testing.assert_allclose(smoothed, expected, rtol=0, atol=1e-10 * abs(expected).max())
    rows = zonal.smooth_with_beam(maps, BEAM[0], 0.7, lmax=LMAX, tolerance=1e-13)
    one = zonal.BeamConvolver(zonal.map2alm(maps[1], LMAX, tolerance=1e-13), BEAM[0], error=1e-11)(theta, phi, 0.7)
    assert rows.shape == maps.shape
    np.testing.assert_allclose(rows[1], one, rtol=0, atol=1e-10 * abs(one).max())


def test_smoothing_with_a_round_beam_is_smooth():
    sky, window, degree = zonal.alm2map(SKY[0], 16), zonal.gaussian_window(0.3, LMAX), np.arange(LMAX + 1)
    found = zonal.smooth_with_beam(sky, np.sqrt((2 * degree + 1) / (4 * np.pi)) * window, 1.1, lmax=LMAX, tolerance=1e-12)
    expected, (report,) = zonal.smooth(sky, 0.3, lmax=LMAX, error=1e-9, return_report=True)
    assert report.certificates[0].error <= 1e-9
    assert np.linalg.norm(found - expected) <= 2e-9 * np.linalg.norm(expected)


def test_smoothing_keeps_kinds_of_maps():
    sky = zonal.Map(zonal.alm2map(SKY, 16).astype(np.float32), unit="K", coordinates="galactic", pol=True, nest=True)
    found = zonal.smooth_with_beam(sky, BEAM, lmax=LMAX)
    assert isinstance(found, zonal.Map) and found.unit == u.K and found.nest and not found.pol and found.coordinates == "galactic"
    assert found.dtype == np.float32 and found.shape == (3072,)
    ring = zonal.smooth_with_beam(healpy.reorder(np.asarray(sky), n2r=True), BEAM, lmax=LMAX, pol=True)
    np.testing.assert_array_equal(healpy.reorder(np.asarray(found), n2r=True), ring)
    assert zonal.smooth_with_beam(np.asarray(sky)[0] * u.K, BEAM[0], lmax=LMAX).unit == u.K


@pytest.mark.parametrize("call, message", [
    (lambda c: zonal.smooth_with_beam(np.zeros(192), BEAM[0]), "beam: has 115 coefficients: must have those of some kmax up to the lmax"),
    (lambda c: zonal.smooth_with_beam(np.zeros(192), np.ones(12), kmax=2), "kmax = 2: must be from 0 to that of the beam, 0"),
    (lambda c: zonal.smooth_with_beam(np.zeros(192), np.ones(12), kmax=-1), "kmax = -1: must be 0 or more"),
    (lambda c: zonal.smooth_with_beam(np.zeros(192), np.ones((2, 12))), r"beam: has shape \(2, 12\): must be \[n_beam\]"),
    (lambda c: zonal.smooth_with_beam(np.zeros((3, 192)), np.ones((3, 12))), "beam: has T, E and B: the maps must be the rows I, Q, U"),
    (lambda c: zonal.smooth_with_beam(np.zeros((3, 192)), np.ones(12), pol=True), "beam: has T alone"),
    (lambda c: zonal.smooth_with_beam(np.zeros(192), np.ones(12), np.nan), "psi"),
    (lambda c: zonal.smooth_with_beam(np.zeros(192), np.ones(12), iterations=1, tolerance=1e-3), "exclude each other"),
    (lambda c: zonal.BeamConvolver(SKY[:2], BEAM), r"sky: has shape \(2, 325\): must be"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM[0]), r"beam: has shape \(115,\): must be \[3, n_beam\]"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM[:, :-1]), r"beam: has 114 coefficients: must have those of some kmax"),
    (lambda c: zonal.BeamConvolver(SKY[:, :-1], BEAM), r"sky: has 324 coefficients"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM, 5), "kmax = 5: must be from 0 to that of the beams, 4"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM, -1), "kmax = -1: must be 0 or positive"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM, error=0), "error = 0"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM, method="kernels"), "method"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM, method="displaced"), "method.*displaced: is for skies and beams of T alone"),
    (lambda c: zonal.BeamConvolver(SKY[0], BEAM[0], method="displaced"), "error = 1e-06: up to 8 displaced kernels reach"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM, theta_range=(1, 0.5)), "theta_1 and theta_2"),
    (lambda c: zonal.BeamConvolver(SKY, BEAM, theta_range=1 * [0.5]), "theta_range: has 1 parts"),
    (lambda c: zonal.BeamConvolver(SKY[0], BEAM[0])(0.1, 0.1, 0.1, 0.1), "hwp: a half-wave plate acts on polarisation"),
    (lambda c: c(THETA, PHI[:-1], PSI), r"theta, phi, psi: have the shapes \(200,\), \(199,\), \(200,\): must broadcast"),
    (lambda c: c([0.1, 4], 0, 0), r"theta = 4: must be from 0 to pi \(point 1\)"),
    (lambda c: c(0.1, 0, np.nan), "psi = nan: must be finite"),
    (lambda c: c.adjoint(PSI[:-1], THETA, PHI, PSI), r"tod: has shape \(199,\): must be \(200,\), to which theta, phi, psi and hwp broadcast"),
    (lambda c: zonal.BeamConvolver(SKY, [BEAM, BEAM])(THETA[:3].reshape(3, 1), 0, 0), r"must broadcast to \[2, pointing\]"),
    (lambda c: zonal.elliptical_beam(0.1, 0.5, lmax=8), "ellipticity = 0.5: must be from 1"),
    (lambda c: zonal.elliptical_beam(0.1, lmax=8, efficiency=2), "efficiency = 2: must be from 0 to 1"),
    (lambda c: zonal.elliptical_beam("0deg", lmax=8), "fwhm = "),
])
def test_what_is_wrong_is_named(convolver, call, message):
    with pytest.raises(ValueError, match=message):
        call(convolver)
