"""Kernels, and plans of convolutions for any grid."""

import pickle

import numpy as np
import pytest
from scipy.special import eval_legendre

import zonal

EPS = np.finfo(float).eps

BEAM = zonal.Kernel.gaussian("20deg")
GRID = zonal.Grid.gauss_legendre(40, 79)


@pytest.mark.parametrize("kernel", [
    BEAM, zonal.Kernel.top_hat("30deg"), zonal.Kernel.mexican_hat("15deg"), zonal.Kernel.from_window([1.0, 0.5, 0.2]),
    zonal.Kernel.from_profile([0.0, 0.3, 0.6], [2.0, 1.0, 0.0]), 2 * BEAM.truncated("25deg") / 3,
], ids=lambda kernel: kernel.name)
def test_window_and_profile_belong_together(kernel):
    """K_l = 2 pi int K(theta) P_l(cos theta) d cos theta, by the trapezoidal rule on 20,000 intervals of theta."""
    theta = np.linspace(0, kernel.support, 20001)
    values = kernel.profile(theta) * np.sin(theta) * 2 * np.pi
    # The truncated and the flat kernel jump at their end, where the profile has its last value.
    for l, expected in enumerate(kernel.window(12)):
        integral = np.trapezoid(values * eval_legendre(l, np.cos(theta)), theta)
        assert integral == pytest.approx(expected, abs=1e-6)
    again = pickle.loads(pickle.dumps(kernel))
    assert again.name == kernel.name
    np.testing.assert_array_equal(again.window(12), kernel.window(12))


def test_filters_are_their_formulas(rng):
    c_l, n_l, b_l = rng.uniform(0.5, 2, (3, 20))
    np.testing.assert_allclose(zonal.sky_window(c_l, b_l), np.sqrt(c_l) * b_l, rtol=1e-14)
    np.testing.assert_allclose(zonal.wiener_window(c_l, n_l), c_l / (c_l + n_l), rtol=1e-14)
    np.testing.assert_allclose(zonal.deconvolution_window(b_l, c_l, 0.0), b_l / c_l, rtol=1e-14)
    weight = (2 * np.arange(20) + 1) / (4 * np.pi) * b_l
    filtered = zonal.matched_filter_window(b_l, c_l, n_l)
    assert weight @ filtered == pytest.approx(1, rel=20 * EPS, abs=0)  # of 20 terms: a source keeps its peak


def test_squares_of_wavelets_sum_to_one():
    for windows in (zonal.needlet_windows(1.7, 50), zonal.scale_discretised_windows(2.0, 1, 50)):
        np.testing.assert_allclose(sum(w**2 for w in windows), np.ones(51), rtol=0, atol=64 * EPS)  # integrals of the generating function, each to some ten eps


def test_a_kernel_is_made_by_a_factory():
    with pytest.raises(TypeError, match="use a factory"):
        zonal.Kernel()
    with pytest.raises(ValueError, match="fwhm"):
        zonal.Kernel.gaussian(-1.0)
    with pytest.raises(ValueError, match="window: has shape"):
        zonal.Kernel.from_window([[1.0]])


def test_truncation_costs_what_was_allowed():
    cut = BEAM.support_for_error(1e-3)
    assert 0.9e-3 < BEAM.truncation_error(cut) <= 1.0001e-3


def rms(values, weights):
    return np.sqrt(np.sum(weights * values**2, axis=-1))


@pytest.fixture
def maps():
    """Two maps with alm up to 12, and what the kernel makes of them."""
    sht = zonal.SHT(GRID, 12)
    alm = np.stack([zonal.synalm(np.ones(13), seed=seed) for seed in (1, 2)])
    l = np.concatenate([np.arange(m, 13) for m in range(13)])
    return sht.synthesize(alm), sht.synthesize(alm * BEAM.window(12)[l])


@pytest.mark.parametrize("method", ["auto", "harmonic", "ring-fft", "pixel-sum"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_plan_keeps_what_it_certifies(maps, method, dtype):
    sky, expected = maps
    plan = zonal.plan(BEAM, GRID, error=1e-5, method=method, n_maps=2)
    out = np.empty(sky.shape, dtype)
    convolved, result = plan(sky.astype(dtype), out=out, return_report=True)
    assert convolved is out and plan.choice.method == result.method
    weights = np.repeat(GRID.weight, GRID.ring_sizes)
    rounding = 1e-6 if dtype == np.float32 else 0  # of the maps that go in and out
    for error, certificate in zip(rms(out - expected, weights) / rms(expected, weights), result.certificates):
        assert error <= certificate.error + rounding


def test_the_list_of_ways_is_explained():
    plan = zonal.plan(BEAM, GRID)
    assert plan.choices[0].method == plan.choice.method and not plan.choice.excluded
    lines = plan.explain().splitlines()
    assert len(lines) == len(plan.choices) + 1 and lines[1].startswith(f"* {plan.choice.method}")


@pytest.mark.parametrize("kernel, reference", [(BEAM, "continuous"), (zonal.Kernel.from_profile([0.0, 0.3, 0.6], [1.0, 0.4, 0.0]), "discrete")])
def test_the_reference_is_that_of_convolve(rng, kernel, reference):
    grid, sky = zonal.Grid.healpix(16), rng.standard_normal(12 * 16**2)
    plan = zonal.plan(kernel, grid, error=1e-3)
    found, (report,) = zonal.convolve(sky, kernel, error=1e-3, return_report=True)
    assert report.reference == reference and report.method == plan.choice.method
    # Both are within 1e-3 of the same answer.
    assert np.abs(plan(sky) - found).std() <= 2.1e-3 * found.std()


def test_an_error_that_no_way_keeps_raises():
    with pytest.raises(zonal.ErrorNotKept, match="error = 1e-17"):
        zonal.plan(BEAM, zonal.Grid.healpix(8), error=1e-17)


def test_a_plan_can_be_pickled(maps):
    plan = zonal.plan(BEAM, GRID, error=1e-4)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(plan))(maps[0][0]), plan(maps[0][0]))


def test_masks_are_renormalised():
    grid = zonal.Grid.healpix(16)
    plan = zonal.plan(BEAM, grid, mask_mode="renormalize", method="ring-fft", error=1e-4)
    assert plan.choice.method == "ring-fft"
    mask = np.ones(grid.n_pixels)
    mask[:800] = 0
    convolved, result = plan(np.full(grid.n_pixels, 2.0), mask=mask, return_report=True)
    assert result.certificates[0].error <= 1e-4
    np.testing.assert_allclose(convolved[convolved != zonal.UNSEEN], 2, rtol=1e-4)


@pytest.mark.parametrize("method", ["harmonic", "ring-fft"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_masks_are_renormalised_as_by_convolve(method, dtype):
    theta = np.linspace(0, np.radians(30), 201)
    kernel = zonal.Kernel.from_profile(theta, np.exp(-8 * theta**2) * np.cos(3 * theta) ** 2)
    assert abs(kernel.window(0)[0] - 1) > 0.1
    random = np.random.default_rng(3)
    sky, mask = random.normal(size=3072).astype(dtype), random.random(3072).round(1)
    reference = "discrete" if method == "ring-fft" else "continuous"
    found, (report,) = zonal.convolve(sky, kernel, mask=mask, mask_mode="renormalize", method=method, error=1e-3,
                                      reference=reference, return_report=True)
    plan = zonal.plan(kernel, zonal.Grid.healpix(16), mask_mode="renormalize", method=method, error=1e-3, reference=reference)
    planned, result = plan(sky, mask=mask, return_report=True)
    np.testing.assert_array_equal(planned == zonal.UNSEEN, found == zonal.UNSEEN)
    # Both are within 1e-3 of the same answer.
    assert np.abs(planned - found)[found != zonal.UNSEEN].std() <= 2.1e-3 * found[found != zonal.UNSEEN].std()
    # Of the kernel's integral, too, and of what the cut leaves of it.
    assert result.certificates[0].rms_in == pytest.approx(report.certificates[0].rms_in, rel=1e-5)


def test_wrong_maps_are_named(maps):
    plan = zonal.plan(BEAM, GRID)
    with pytest.raises(ValueError, match="maps: has shape"):
        plan(np.ones(7))
    with pytest.raises(ValueError, match="out: must not share memory"):
        plan(maps[0][0], out=maps[0][0])
    with pytest.raises(ValueError, match="mask: has shape"):
        plan(maps[0][0], mask=np.ones(3))
