"""Splits of kernels: their parts make up the kernel, and their convolutions are the sum over pixels."""
import pickle

import numpy as np
import pytest

import zonal
import zonal.healpy

LMAX = 3 * 64 - 1


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def sum_over_pixels(maps, window, spin):
    """By the whole window in harmonic space, on a map that ends at LMAX."""
    sht = zonal.SHT(zonal.Grid.healpix(64), LMAX, spin=spin)
    alm = sht.adjoint(maps * (4 * np.pi / maps.shape[-1]))
    return sht.synthesize(zonal.almxfl(alm, window))


def sky(spin, dtype=np.float64):
    rng = np.random.default_rng(5)
    sht = zonal.SHT(zonal.Grid.healpix(64), 64, spin=spin)
    alm = rng.normal(size=(2 if spin else 1, sht.n_alm)) + 0j
    return sht.synthesize(alm if spin else alm[0]).astype(dtype)


@pytest.fixture(scope="module", params=[0, 2])
def split(request):
    return zonal.Split(zonal.gaussian_window("5deg", LMAX, request.param), "8deg", error=1e-5, spin=request.param)


def test_the_parts_make_up_the_kernel(split):
    window = zonal.gaussian_window("5deg", LMAX, split.spin)
    together = split.profile_window.copy()
    together[:split.l_cut + 1] += split.window
    weight = 2 * np.arange(LMAX + 1) + 1
    found = np.sqrt(np.sum(weight * (together - window) ** 2) / np.sum(weight * window**2))
    # The two windows' errors at l_cut and below are rounding of values up to 1, those above what the split states.
    assert abs(found - split.actual_error) <= 16 * np.finfo(float).eps
    assert split.actual_error <= split.estimated_error <= 1e-5
    assert 0 < split.l_cut < LMAX and len(split.window) == split.l_cut + 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_convolution_is_the_sum_over_pixels(split, dtype):
    maps = sky(split.spin, dtype)
    expected = sum_over_pixels(maps.astype(np.float64), zonal.gaussian_window("5deg", LMAX, split.spin), split.spin)
    found = split.convolve(maps)
    assert found.dtype == dtype and found.shape == maps.shape
    # 1e-7 of the profile's largest value is the accuracy of the sums; the profile is up to `amplification` of the kernel,
    # and a map of degrees to 64 loses half of its rms in it. float32 rounds the result once, and the map before.
    rounding = 4e-7 * split.amplification + (2 * np.finfo(np.float32).eps if dtype == np.float32 else 0)
    assert rms(found - expected) <= (split.estimated_error + rounding) * rms(expected)


def test_nest_order_and_out(split):
    maps = sky(split.spin)
    order = [zonal.healpy.reorder(row, r2n=True) for row in np.atleast_2d(maps)]
    nested = np.array(order) if split.spin else order[0]
    found = split.convolve(nested, nest=True)
    out = np.empty_like(maps)
    assert split.convolve(maps, out=out) is out
    back = [zonal.healpy.reorder(row, n2r=True) for row in np.atleast_2d(found)]
    assert np.array_equal(np.array(back).reshape(out.shape), out)


def test_pickled_splits_convolve_the_same(split):
    again = pickle.loads(pickle.dumps(split))
    maps = sky(split.spin)
    assert np.array_equal(again.convolve(maps), split.convolve(maps))
    assert repr(again) == repr(split)


def test_the_profile_is_a_kernel():
    split = zonal.Split(zonal.gaussian_window("5deg", LMAX), "5deg", l_cut=20)
    assert split.l_cut == 20
    assert split.profile.support == pytest.approx(np.radians(5))
    assert np.allclose(split.profile.window(LMAX), split.profile_window, rtol=0, atol=1e-12)


def test_rejects_what_makes_no_split():
    window = zonal.gaussian_window("5deg", LMAX)
    with pytest.raises(ValueError, match="error, l_cut: give one of them"):
        zonal.Split(window, "5deg")
    with pytest.raises(ValueError, match="error, l_cut: give one of them"):
        zonal.Split(window, "5deg", error=1e-3, l_cut=3)
    with pytest.raises(ValueError, match="error = 1e-05: no l_cut was found that keeps it with theta_cut = 5 degrees, of 65 from 0 to 190"):
        zonal.Split(zonal.gaussian_window("3deg", LMAX), "5deg", error=1e-5)
    with pytest.raises(ValueError, match="theta_cut"):
        zonal.Split(window, "200deg", error=1e-3)
    with pytest.raises(ValueError, match="l_cut = 191"):
        zonal.Split(window, "5deg", l_cut=LMAX)


@pytest.mark.parametrize("hole", [np.nan, np.inf, zonal.UNSEEN])
def test_rejects_pixels_without_a_number(hole):
    split = zonal.Split(zonal.gaussian_window("5deg", LMAX), "5deg", l_cut=20)
    sky_with_hole = sky(0)
    sky_with_hole[7] = hole
    with pytest.raises(ValueError, match='have pixels without a number.*method="split"'):
        split.convolve(sky_with_hole)


def test_wavelet_scales_are_alm_times_windows():
    alm = zonal.synalm(np.ones(65), seed=3)
    windows = zonal.scale_discretised_windows(2.0, 2, 64)
    scales = zonal.wavelet_transform(alm, windows)
    assert all(np.array_equal(scale, zonal.almxfl(alm, window)) for scale, window in zip(scales, windows))
    # Squares of the windows sum to 1 within a rounding for each of them.
    assert np.allclose(zonal.inverse_wavelet_transform(scales, windows), alm, rtol=0, atol=len(windows) * 1e-15 * 5)
    with pytest.raises(ValueError, match=r"window"):
        zonal.wavelet_transform(alm, [window[:-1] for window in windows])
    with pytest.raises(ValueError, match=r"scales: has shape"):
        zonal.inverse_wavelet_transform(alm, windows)
