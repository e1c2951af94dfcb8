"""zonal.resample: maps on other grids, at points, and turned; sums over alm on rings say what is right."""

import numpy as np
import pytest

import zonal

LMAX = 12
TEB = zonal.synalm({"TT": np.ones(LMAX + 1), "EE": np.arange(LMAX + 1) > 1.0, "BB": np.arange(LMAX + 1) > 1.0}, seed=3)
GRIDS = [zonal.Grid.gauss_legendre(13, 25), zonal.Grid.fejer1(13, 26, 0.1), zonal.Grid.clenshaw_curtis(14, 25),
         zonal.Grid.mcewen_wiaux(13, 25), zonal.Grid.healpix(8)]
TURN = (0.4, 1.1, -2.0)


def on(grid, alm=TEB):
    """I, Q, U of these alm."""
    return np.concatenate([[zonal.SHT(grid, LMAX).synthesize(alm[0])], zonal.SHT(grid, LMAX, spin=2).synthesize(alm[1:])])


def at(theta, phi, alm=TEB):
    return on(zonal.Grid(theta, np.ones(theta.size, int), 1.0, phi), alm)


@pytest.mark.parametrize("source", GRIDS, ids=lambda grid: grid.name)
@pytest.mark.parametrize("target", GRIDS, ids=lambda grid: grid.name)
def test_maps_that_end_at_lmax_keep_all(source, target):
    how = {"tolerance": 1e-13} if source.nside else {}
    made, report = zonal.resample(on(source), target, grid=source, pol=True, lmax=LMAX, return_report=True, **how)
    scale = np.abs(made).max()
    # Rounding of two transforms, and on HEALPix the residual, amplified by at most 10.
    np.testing.assert_allclose(made, on(target), rtol=0, atol=scale * (1e-12 if source.nside else 1e-13 * LMAX))
    assert report.lmax == LMAX and report.exact == (source.nside is None) and not report.interpolated and report.unresolved < 1e-12


@pytest.mark.parametrize("error", [1e-4, 1e-9])
def test_at_points_the_error_is_kept(error):
    rng = np.random.default_rng(2)
    theta, phi = np.r_[np.arccos(rng.uniform(-1, 1, 200)), 0, 0, np.pi], np.r_[rng.uniform(-9, 9, 200), 0.3, 2, 1]
    for grid in GRIDS[:-1]:
        made, report = zonal.resample(on(grid), (theta, phi), grid=grid, pol=True, error=error, return_report=True)
        fields = on(zonal.Grid.healpix(16))
        largest = [np.abs(fields[0]).max(), *[np.hypot(*fields[1:]).max()] * 2]
        assert (np.abs(made - at(theta, phi)) <= 1.05 * error * np.array(largest)[:, None] + 1e-12).all()  # largest: of pixels
        assert report.interpolated and 0 < report.mean_error < report.bound <= error
        turned = zonal.resample(on(grid), (theta, phi), grid=grid, pol=True, error=error, rotation=TURN)
        wanted = at(theta, phi, zonal.rotate_alm(TEB, TURN))
        assert (np.abs(turned - wanted) <= 1.5 * error * np.array(largest)[:, None] + 1e-12).all()


@pytest.mark.parametrize("target", GRIDS, ids=lambda grid: grid.name)
def test_turned_by_points_or_alm_is_the_same(target):
    source = GRIDS[0]
    by_alm, by_points = (zonal.resample(on(source), target, grid=source, pol=True, rotation=TURN, by=by, error=1e-10)
                         for by in ("alm", "points"))
    wanted = on(target, zonal.rotate_alm(TEB, TURN))
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(by_alm, wanted, rtol=0, atol=scale * 1e-12)
    np.testing.assert_allclose(by_points, wanted, rtol=0, atol=1.5 * scale * 1e-10)


def test_what_alm_do_not_make_up_is_reported():
    noise = np.random.default_rng(4).standard_normal(GRIDS[-1].n_pixels)
    made, report = zonal.resample(noise, 8, lmax=LMAX, return_report=True)
    # Both are orthogonal but for the quadrature's errors of some 1e-3.
    assert report.unresolved == pytest.approx(np.sqrt(((noise - made) ** 2).sum() / (noise**2).sum()), rel=1e-12)
    assert 0.8 < report.unresolved < 1


def test_maps_stay_maps():
    sky = zonal.Map(on(GRIDS[-1]), unit="uK_CMB", coordinates="G", columns="IQU")
    made = sky.to(GRIDS[0])
    assert made.grid == GRIDS[0] and made.unit == "uK_CMB" and made.coordinates == "galactic" and made.pol
    np.testing.assert_allclose(made.values, on(GRIDS[0]), rtol=0, atol=2e-3 * np.abs(made.values).max())  # three iterations
    assert zonal.resample(sky, 4, rotation="GC").coordinates == "equatorial"
    assert zonal.resample(sky, ([0.1], [0.2])).shape == (3, 1)
    with pytest.raises(ValueError, match="frequency: is for units"):
        sky.to(GRIDS[0], "100 GHz")
    nest = sky.reordered(True)
    np.testing.assert_array_equal(zonal.resample(nest, 4).reordered(False).values, zonal.resample(sky, 4).values)
    assert nest.to(GRIDS[0]).nest is False


def test_unseen_pixels_are_carried_along():
    sky = on(GRIDS[-1])
    sky[1, 100:200] = zonal.UNSEEN
    made = zonal.resample(sky, 16, pol=True)
    theta, phi = zonal.Grid.healpix(16).angles()
    import healpy
    lost = np.isin(healpy.ang2pix(8, theta, phi), np.arange(100, 200))
    for row, unseen in enumerate([lost & False, lost, lost]):
        np.testing.assert_array_equal(made[row] < -1e30, unseen)
    assert not (zonal.resample(sky, 16, pol=True, fill_masked=True) < -1e30).any()
    at_points = zonal.resample(sky, (theta[lost][:3], phi[lost][:3]), pol=True)
    assert (at_points[1:] == zonal.UNSEEN).all() and (at_points[0] > -1e30).all()


def test_what_it_cannot_do_it_says():
    sky = on(GRIDS[0])[0]
    for call, message in [(lambda: zonal.resample(sky, 8), "pixels"),
                          (lambda: zonal.resample(sky, 8, grid=GRIDS[0], by="sums"), "by = 'sums': must be 'alm' or 'points'"),
                          (lambda: zonal.resample(sky, 8, grid=GRIDS[0], lmax=13), "lmax = 13: must be at most 12"),
                          (lambda: zonal.resample(sky, 8, grid=GRIDS[0], iterations=1, tolerance=1e-3), "exclude each other"),
                          (lambda: zonal.resample(sky, ([4.0], [0.0]), grid=GRIDS[0]), r"theta = 4: must be from 0 to pi \(point 0\)"),
                          (lambda: zonal.resample(sky, ([1.0], [0.0]), grid=GRIDS[0], error=1), "error = 1: must be from"),
                          (lambda: zonal.resample(sky, 8, grid=GRIDS[0], error=0), "error = 0: must be from"),
                          (lambda: zonal.resample(np.where(sky > 0, sky, np.nan), 8, grid=GRIDS[0]), "NaN")]:
        with pytest.raises(ValueError, match=message):
            call()


def test_what_an_analysis_misses_becomes_a_warning():
    noise = np.random.default_rng(5).standard_normal(192)
    with pytest.warns(zonal.ZonalWarning, match="tolerance"):
        zonal.resample(noise, 2, lmax=8, tolerance=1e-17)  # below rounding
