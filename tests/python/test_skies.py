"""Simulated skies, spectra, rotations and changes of resolution, against healpy."""

import ducc0
import healpy
import numpy as np
import pytest

import zonal
from zonal.sht import healpix_sht

NSIDE, LMAX = 16, 32
CL = 1 / (np.arange(LMAX + 1) + 1.0) ** 2
EPS = np.finfo(float).eps
# Transforms of both sides are off by about eps * lmax of their values: alm of noise, up to 0.25, after seven transforms,
NOISE = 2 * 7 * LMAX * 0.25 * EPS
# and spectra of noise, 4 pi / N, by twice as much of these.
SPECTRA = 2 * 2 * 7 * LMAX * 4 * np.pi / (12 * NSIDE**2) * EPS
# A random walk of as many roundings as there are pixels.
WALK = np.sqrt(12 * NSIDE**2) * EPS
# Phases of orders up to lmax, of angles right to 4 eps, times coefficients up to 4.
TURN = LMAX * 4 * 4 * EPS


@pytest.fixture
def alm(random_alm):
    return random_alm(LMAX, shape=(3,), spin=2)


def healpy_spectra(spectra):
    """Those of healpy, TT EE BB TE EB TB, by their names."""
    return dict(zip(("TT", "EE", "BB", "TE", "EB", "TB"), spectra))


def test_maps_of_alm_are_those_of_healpy(alm):
    np.testing.assert_allclose(zonal.alm2map(alm, NSIDE), healpy.alm2map(alm, NSIDE, pol=True), rtol=0, atol=2e-12)
    np.testing.assert_allclose(zonal.alm2map(alm[0], NSIDE), healpy.alm2map(alm[0], NSIDE), rtol=0, atol=2e-12)


def test_transforms_that_are_kept_heed_the_number_of_threads(alm):
    first = zonal.alm2map(alm[0], NSIDE)
    with zonal.threads(3):
        np.testing.assert_array_equal(zonal.alm2map(alm[0], NSIDE), first)
        assert healpix_sht(64, 128, None, 0, None).threads == 3
    with zonal.threads(2):
        assert healpix_sht(64, 128, None, 0, None).threads == 2
    assert healpix_sht(64, 128, None, 0, 1).threads == 1


def test_plans_and_scratch_memory_are_kept_up_to_the_limit(alm):
    expected = zonal.alm2map(alm, NSIDE)
    zonal.clear_caches()
    assert zonal.cache_limit() == 0
    first = zonal.alm2map(alm, NSIDE)
    kept = zonal.cache_limit()
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(zonal.alm2map(alm, NSIDE), expected)
    np.testing.assert_array_equal(zonal.SHT(zonal.Grid.healpix(NSIDE), LMAX).synthesize(alm[0]), expected[0])
    assert zonal.cache_limit() == kept > 0, "nothing is made that was there"
    zonal.alm2map(alm[0], 2 * NSIDE)
    assert zonal.cache_limit() > kept
    try:
        assert zonal.cache_limit(0) == 0
        np.testing.assert_array_equal(zonal.alm2map(alm, NSIDE), expected)
        assert zonal.cache_limit() == 0
    finally:
        zonal.cache_limit(2**28)


def test_alm_of_maps_are_those_of_healpy(rng):
    maps = rng.standard_normal((3, 12 * NSIDE**2))
    expected = healpy.map2alm(maps, lmax=LMAX, iter=3, pol=True)
    np.testing.assert_allclose(zonal.map2alm(maps, LMAX, pol=True), expected, rtol=0, atol=NOISE)
    np.testing.assert_allclose(zonal.map2alm(maps[0], LMAX, 20),
                               healpy.map2alm(maps[0], lmax=LMAX, mmax=20, iter=3), rtol=0, atol=NOISE)


def test_spectra_of_alm_are_those_of_healpy(alm, random_alm):
    other = random_alm(LMAX, shape=(3,), spin=2)
    spectra = zonal.alm2cl(alm)
    for name, values in healpy_spectra(healpy.alm2cl(alm)).items():
        np.testing.assert_allclose(spectra[name], values, rtol=0, atol=1e-13)
    crossed = zonal.alm2cl(alm, other)
    np.testing.assert_allclose(crossed["TE"], healpy.alm2cl(alm[0], other[1]), rtol=0, atol=1e-13)
    np.testing.assert_allclose(crossed["ET"], healpy.alm2cl(alm[1], other[0]), rtol=0, atol=1e-13)
    np.testing.assert_allclose(zonal.alm2cl(alm[0].astype(np.complex64)), spectra["TT"], rtol=4 * np.finfo(np.float32).eps)


def test_spectra_of_maps_are_those_of_healpy(rng):
    maps = rng.standard_normal((2, 3, 12 * NSIDE**2))
    spectra = zonal.anafast(maps[0], lmax=LMAX, pol=True)
    for name, values in healpy_spectra(healpy.anafast(maps[0], lmax=LMAX)).items():
        np.testing.assert_allclose(spectra[name], values, rtol=0, atol=SPECTRA)
    expected = healpy.anafast(maps[0, 0], maps[1, 0], lmax=LMAX)
    np.testing.assert_allclose(zonal.anafast(maps[0, 0], maps[1, 0], LMAX), expected, rtol=0, atol=SPECTRA)
    assert len(zonal.anafast(maps[0, 0])) == 3 * NSIDE


def test_a_mask_and_a_removed_dipole_are_those_of_healpy(rng):
    sky = rng.standard_normal(12 * NSIDE**2) + 5
    mask = np.ones(len(sky))
    mask[500:900] = 0
    cut = np.where(mask > 0, sky, healpy.UNSEEN)
    np.testing.assert_allclose(zonal.anafast(sky, lmax=LMAX, mask=mask), healpy.anafast(cut, lmax=LMAX), rtol=0,
                               atol=1e-12)
    without = healpy.remove_dipole(cut)
    np.testing.assert_allclose(zonal.anafast(cut, lmax=LMAX, remove="dipole"), healpy.anafast(without, lmax=LMAX),
                               rtol=0, atol=SPECTRA)


def test_products_and_sizes_of_alm_are_those_of_healpy(alm, random_alm):
    window = np.linspace(1, 2, LMAX + 1)
    np.testing.assert_array_equal(zonal.almxfl(alm, window)[1], healpy.almxfl(alm[1], window))
    narrow = random_alm(LMAX, 10)
    np.testing.assert_array_equal(zonal.almxfl(narrow, window, LMAX, 10), healpy.almxfl(narrow, window, mmax=10))
    for lmax, mmax in ((20, 20), (40, 30)):
        np.testing.assert_array_equal(zonal.resize_alm(alm[0], lmax, mmax),
                                      healpy.resize_alm(alm[0], LMAX, LMAX, lmax, mmax))
    with pytest.raises(ValueError, match="window"):
        zonal.almxfl(alm, window[:5])


def test_dipoles_are_those_of_healpy(rng):
    sky = rng.standard_normal(12 * NSIDE**2) + zonal.Grid.healpix(NSIDE).angles()[0]
    sky[1000:1300] = zonal.UNSEEN
    monopole, dipole = zonal.fit_dipole(sky)
    expected = healpy.fit_dipole(sky)
    np.testing.assert_allclose(monopole, expected[0], rtol=0, atol=WALK)
    np.testing.assert_allclose(dipole, expected[1], rtol=0, atol=WALK)
    np.testing.assert_allclose(zonal.remove_dipole(sky), healpy.remove_dipole(sky), rtol=0, atol=2 * WALK)
    nest = zonal.remove_dipole(healpy.reorder(sky, r2n=True), monopole_only=True, nest=True)
    np.testing.assert_allclose(healpy.reorder(nest, n2r=True), healpy.remove_monopole(sky), rtol=0, atol=WALK)


def test_quadrature_weights_do_what_those_of_healpy_do(rng):
    sky = rng.standard_normal(12 * 32**2)
    weights = zonal.io.quadrature_weights(32, "ring")
    by_ring = zonal.SHT(zonal.Grid.healpix(32), LMAX).analyze(sky, iterations=0, ring_weights=weights)
    np.testing.assert_allclose(zonal.map2alm(sky, LMAX, iterations=0, ring_weights=weights), by_ring, rtol=0,
                               atol=1e-14)
    # healpy's own table of ring weights, for comparison, has 16 digits and another lmax.
    np.testing.assert_allclose(by_ring, healpy.map2alm(sky, lmax=LMAX, iter=0, use_weights=True), rtol=0, atol=1e-3)
    pixel = zonal.io.quadrature_weights(32)
    alm = zonal.synalm(np.ones(LMAX + 1), seed=5)
    back = zonal.map2alm(zonal.alm2map(alm, 32), LMAX, iterations=0, pixel_weights=pixel)
    np.testing.assert_allclose(back, alm, rtol=0, atol=2 * LMAX * 5 * EPS)  # exact, as 2 lmax <= 2.5 nside


def test_skies_end_where_all_spectra_are_known():
    known = {"TT": np.ones(9), "EE": np.ones(7)}
    np.testing.assert_array_equal(zonal.synalm(known, seed=1), zonal.synalm(known, 6, seed=1))


def test_a_simulated_sky_has_its_spectrum():
    alm = zonal.synalm({"TT": CL, "EE": CL / 4, "BB": CL / 9, "TE": CL / 3}, seed=7)
    assert alm.shape == (3, zonal.alm_size(LMAX))
    big = zonal.synalm(np.ones(401), seed=7)
    spectrum = zonal.alm2cl(big)[100:]
    # The mean of 301 C_l, each of 2l + 1 squares, has the variance 2 / (sum of 2l + 1); 5 sigma.
    assert abs(np.average(spectrum, weights=2 * np.arange(100, 401) + 1) - 1) < 5 * np.sqrt(2 / 150_000)
    np.testing.assert_array_equal(alm[:, [0, 1]][1:], 0)  # E and B begin at l = 2
    np.testing.assert_array_equal(zonal.synalm(CL, seed=7), alm[0])


def test_synfast_is_its_parts():
    sky, alm = zonal.synfast(CL, NSIDE, seed=3, fwhm="10deg", return_alm=True)
    expected = healpy.almxfl(zonal.synalm(CL, seed=3), healpy.gauss_beam(np.deg2rad(10), LMAX))
    np.testing.assert_allclose(alm, expected, rtol=16 * EPS)  # exponents of up to 6
    np.testing.assert_allclose(sky, healpy.alm2map(alm, NSIDE), rtol=0, atol=1e-13)
    iqu = zonal.synfast({"TT": CL, "EE": CL}, zonal.Grid.gauss_legendre(20, 41), seed=3, dtype=np.float32)
    assert iqu.shape == (3, 820) and iqu.dtype == np.float32


@pytest.mark.parametrize(("arguments", "message"), [
    (dict(c_l={"EE": CL}), "c_l: has the names EE: must have TT"),
    (dict(c_l=-CL), "l = 0"),
    (dict(c_l=CL, lmax=50), "TT ends at l = 32"),
    (dict(c_l={"TT": CL, "EE": CL, "TE": 2 * CL}), "l = 2"),
    (dict(c_l=CL, seed=-1), "seed = -1"),
])
def test_skies_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        zonal.synalm(**{"seed": 1, **arguments})


@pytest.mark.parametrize("angles", [(0.3, 1.1, -2.0), (0.0, 0.0, 0.7), (1.0, np.pi, 0.0)])
def test_rotated_alm_are_those_of_healpy(alm, angles):
    expected = alm.copy()
    healpy.rotate_alm(expected, *angles)
    np.testing.assert_allclose(zonal.rotate_alm(alm, angles), expected, rtol=0, atol=TURN)
    back = zonal.rotate_alm(zonal.rotate_alm(alm, angles), zonal.rotation_matrix(angles).T)
    np.testing.assert_allclose(back, alm, rtol=0, atol=2 * TURN)


@pytest.mark.parametrize("mmax, mmax_out", [(LMAX, 5), (5, LMAX), (0, 7), (9, 9)])
def test_rotated_alm_of_some_orders_are_those_of_ducc0(alm, mmax, mmax_out):
    """Any number of fields at once."""
    angles = (0.3, 1.1, -2.0)
    alm = zonal.resize_alm(alm, LMAX, mmax, lmax=LMAX)
    expected = [ducc0.sht.rotate_alm(row, LMAX, *angles, mmax_in=mmax, mmax_out=mmax_out) for row in alm]
    many = np.stack([alm, 2 * alm, -alm, 0.5 * alm])
    turned = zonal.rotate_alm(many.reshape(2, 2, *alm.shape), angles, LMAX, mmax, mmax_out=mmax_out)
    assert turned.shape == (2, 2, 3, zonal.alm_size(LMAX, mmax_out))
    for row, factor in zip(turned.reshape(4, 3, -1), (1, 2, -1, 0.5)):
        np.testing.assert_allclose(row, factor * np.array(expected), rtol=0, atol=2 * TURN)
    np.testing.assert_array_equal(zonal.rotate_alm(alm[0], angles, mmax=mmax, mmax_out=mmax_out), turned[0, 0, 0])
    np.testing.assert_array_equal(zonal.resize_alm(zonal.rotate_alm(alm, angles, mmax=mmax), LMAX, mmax_out), turned[0, 0])


def test_orders_that_a_rotation_does_not_keep_are_named(alm):
    narrow = zonal.resize_alm(alm, LMAX, 5, lmax=LMAX)
    with pytest.raises(ValueError, match=f"mmax = 5: must be lmax = {LMAX} for inplace = True"):
        zonal.rotate_alm(narrow, "GC", mmax=5, inplace=True)
    with pytest.raises(ValueError, match="mmax = 5: must be mmax_out = 6 for inplace = True"):
        zonal.rotate_alm(narrow, "GC", mmax=5, mmax_out=6, inplace=True)
    with pytest.raises(ValueError, match=f"mmax_out = {LMAX + 1}: must be from 0 to lmax = {LMAX}"):
        zonal.rotate_alm(alm, "GC", mmax_out=LMAX + 1)
    with pytest.raises(ValueError, match="which are not those of"):
        zonal.rotate_alm(narrow, "GC", mmax=6)
    expected = zonal.rotate_alm(narrow, "GC", mmax=5, mmax_out=5)
    assert zonal.rotate_alm(narrow, "GC", mmax=5, mmax_out=5, inplace=True) is narrow
    np.testing.assert_array_equal(narrow, expected)


@pytest.mark.parametrize("letters", ["GC", "CE", "EG"])
def test_coordinate_systems_are_those_of_healpy(letters):
    expected = healpy.Rotator(coord=list(letters)).mat
    np.testing.assert_allclose(zonal.rotation_matrix(letters), expected, rtol=0, atol=64 * EPS)  # a product of five matrices


def test_rotation_in_place(alm):
    expected = zonal.rotate_alm(alm, "GC")
    assert zonal.rotate_alm(alm, "GC", inplace=True) is alm
    np.testing.assert_array_equal(alm, expected)
    with pytest.raises(ValueError, match="alm: must be a writeable array"):
        zonal.rotate_alm(alm.tolist(), "GC", inplace=True)


def test_a_turned_map_is_the_map_of_turned_alm(alm):
    angles = ("20deg", "40deg", "-10deg")
    turned = zonal.rotate_map(zonal.alm2map(alm, NSIDE), angles, pol=True, lmax=LMAX, iterations=20)
    # Of 20 iterations rounding is left, eps * lmax of values of 13 in each of the last transforms.
    rounding = 8 * LMAX * 13 * EPS
    np.testing.assert_allclose(turned, zonal.alm2map(zonal.rotate_alm(alm, angles), NSIDE), rtol=0, atol=rounding)
    nest = zonal.rotate_map(healpy.reorder(zonal.alm2map(alm[0], NSIDE), r2n=True), angles, nest=True, lmax=LMAX,
                            iterations=20)
    np.testing.assert_allclose(healpy.reorder(nest, n2r=True), turned[0], rtol=0, atol=rounding)


@pytest.mark.parametrize("rotation", ["GX", "G", (1.0, 2.0), np.eye(3) * 2, ("1deg", "2", 0)])
def test_what_is_no_rotation_is_refused(rotation):
    with pytest.raises(ValueError):
        zonal.rotation_matrix(rotation)


@pytest.mark.parametrize("nside", [4, 32])
@pytest.mark.parametrize("nest", [False, True])
@pytest.mark.parametrize("pessimistic", [False, True])
def test_udgrade_is_that_of_healpy(rng, nside, nest, pessimistic):
    sky = rng.standard_normal(12 * NSIDE**2)
    sky[rng.integers(0, len(sky), 100)] = zonal.UNSEEN
    expected = healpy.ud_grade(sky, nside, pess=pessimistic, order_in="NEST" if nest else "RING")
    np.testing.assert_allclose(zonal.udgrade(sky, nside, nest=nest, pessimistic=pessimistic), expected, rtol=1e-13)
    counts = np.ones((2, 12 * NSIDE**2), np.float32)
    summed = zonal.udgrade(counts, nside, combine="sum")
    assert summed.dtype == np.float32 and summed[1].sum() == counts[1].sum()


def test_windows_of_temperature_and_polarisation_differ():
    """As they multiply the alm of the same sky."""
    c_l = {"TT": np.ones(33), "EE": np.ones(33), "TE": np.zeros(33)}
    windows = zonal.pixel_window(16, 32, polarization=True)
    assert windows.shape == (2, 33) and np.array_equal(zonal.pixel_window(16, 32), windows[0]) and np.all(windows[1, :2] == 0)
    plain = zonal.synalm(c_l, seed=3)
    expected = [zonal.almxfl(alm, windows[part]) for alm, part in zip(plain, (0, 1, 1))]
    for window in (windows, windows[[0, 1, 1]]):
        _, alm = zonal.synfast(c_l, 16, 32, seed=3, window=window, return_alm=True)
        assert np.abs(alm - expected).max() <= 4 * np.finfo(float).eps
    for window, spectra in ((np.ones((4, 33)), c_l), (np.ones((2, 33)), c_l["TT"]), (np.ones((2, 30)), c_l)):
        with pytest.raises(ValueError, match="window: has "):
            zonal.synfast(spectra, 16, 32, seed=3, window=window)
