"""zonal lens: the library's lensing, between files."""

import healpy
import numpy as np
import pytest

from conftest import assert_close, header, read_map

LMAX, NSIDE = 48, 32


def white(seed, lmax=LMAX):
    np.random.seed(seed)
    return healpy.synalm(np.ones(lmax + 1))


def potential(seed, lmax=40, size=0.02):
    """With deflections of about this rms, rad."""
    l = np.arange(lmax + 1.0)
    falling = np.zeros(lmax + 1)
    falling[1:] = (l * (l + 1))[1:] ** -1.5
    alm = healpy.almxfl(white(seed, lmax), falling)
    power = (healpy.alm2cl(alm) * (2 * l + 1) * l * (l + 1)).sum() / (4 * np.pi)
    return alm * size / np.sqrt(power)


@pytest.fixture
def files(tmp_path):
    sky = [white(1), healpy.almxfl(white(2), np.arange(LMAX + 1) > 1), healpy.almxfl(white(3), np.arange(LMAX + 1) > 1)]
    healpy.write_alm(tmp_path / "t.fits", sky[0])
    healpy.write_alm(tmp_path / "teb.fits", sky)
    healpy.write_alm(tmp_path / "phi.fits", potential(4))
    healpy.write_alm(tmp_path / "none.fits", 0 * potential(4))
    healpy.write_alm(tmp_path / "large.fits", potential(4, size=9))
    healpy.write_alm(tmp_path / "longer.fits", potential(4, lmax=41))
    return sky


def along_geodesics(alm, phi, curl=None):
    """T by healpy: its gradients deflect, and the sky is summed directly at the displaced directions."""
    theta, lon = healpy.pix2ang(NSIDE, np.arange(12 * NSIDE**2))
    _, south, east = healpy.alm2map_der1(phi, NSIDE)
    if curl is not None:
        _, c_south, c_east = healpy.alm2map_der1(curl, NSIDE)
        south, east = south - c_east, east + c_south
    some = np.arange(0, theta.size, 997)
    n = np.array(healpy.ang2vec(theta[some], lon[some]))
    e_theta = np.stack([np.cos(theta) * np.cos(lon), np.cos(theta) * np.sin(lon), -np.sin(theta)], 1)[some]
    e_phi = np.stack([-np.sin(lon), np.cos(lon), 0 * lon], 1)[some]
    size = np.hypot(south, east)[some][:, None]
    there = np.cos(size) * n + np.sin(size) / size * (south[some][:, None] * e_theta + east[some][:, None] * e_phi)
    theta2, lon2 = healpy.vec2ang(there)
    return some, sum_at(alm, theta2, lon2)


def sum_at(alm, theta, lon):
    from scipy.special import sph_harm_y

    l, m = healpy.Alm.getlm(LMAX)
    return np.array([((2 - (m == 0)) * (alm * sph_harm_y(l, m, t, p)).real).sum() for t, p in zip(theta, lon)])


@pytest.mark.parametrize("curl", [False, True])
def test_a_lensed_map_is_the_sky_where_geodesics_lead(files, zonal, tmp_path, curl):
    healpy.write_alm(tmp_path / "curl.fits", potential(5))
    report = zonal("lens", "t.fits", "phi.fits", "out.fits", "--nside", NSIDE, "--error", "1e-9", *(["--curl", "curl.fits"] if curl else []))
    some, wanted = along_geodesics(files[0], potential(4), potential(5) if curl else None)
    made = read_map(tmp_path / "out.fits")
    # The error that was asked for, and healpy's derivatives to 1e-10 of the largest.
    assert_close(made[some], wanted, rtol=0, atol=2e-9 * np.abs(made).max())
    assert report["bound"] <= report["error_bound"] == 1e-9
    assert 0 < report["mean_error"] < 1e-9 and 0.015 < report["rms_deflection_rad"] < report["largest_deflection_rad"]


def test_polarised_skies_and_grids(files, zonal, tmp_path):
    zonal("lens", "teb.fits", "none.fits", "out.fits", "--nside", NSIDE, "--error", "1e-11")
    zonal("alm2map", "teb.fits", "plain.fits", "--nside", NSIDE)
    plain = healpy.read_map(tmp_path / "plain.fits", field=None, dtype=np.float64)
    made = healpy.read_map(tmp_path / "out.fits", field=None, dtype=np.float64)
    assert_close(made, plain, rtol=0, atol=1e-10 * np.abs(plain).max())
    # Q and U of a lensed sky are those of its turned axes: of another sign of gamma they would differ.
    zonal("lens", "teb.fits", "phi.fits", "lensed.fits", "--nside", NSIDE)
    zonal("lens", "teb.fits", "phi.fits", "nest.fits", "--nside", NSIDE, "--order", "nest")
    ring = healpy.read_map(tmp_path / "lensed.fits", field=None, dtype=np.float64)
    np.testing.assert_array_equal(healpy.read_map(tmp_path / "nest.fits", field=None, dtype=np.float64), ring)
    assert header(tmp_path / "nest.fits")["ORDERING"] == "NESTED" and header(tmp_path / "lensed.fits")["MAX-LPOL"] == LMAX
    report = zonal("lens", "teb.fits", "phi.fits", "car.fits", "--car", "40x80", "--lmax", 20)
    assert report["lmax"] == 20
    zonal("lens", "t.fits", "phi.fits", "float.fits", "--nside", NSIDE, "--precision", "float")
    assert header(tmp_path / "float.fits")["TFORM1"].endswith("E")


@pytest.mark.parametrize("arguments, status, text", [
    (("t.fits", "phi.fits"), 2, "one of --nside N and --car RINGSxPHI is required"),
    (("t.fits", "teb.fits", "--nside", 8), 1, "teb.fits: has 3 components: a potential has one"),
    (("t.fits", "large.fits", "--nside", 8), 1, "must be a number of radians up to 3"),
    (("t.fits", "phi.fits", "--nside", 8, "--lmax", 99), 2, "--lmax = 99: must be at most 48, where the file ends"),
    (("t.fits", "phi.fits", "--nside", 8, "--error", "1e-15"), 2, "--error"),
    (("teb.fits", "phi.fits", "--nside", 8, "--lmax", 1), 1, "must be 2 or more with E and B"),
    (("t.fits", "phi.fits", "--nside", 8, "--curl", "longer.fits"), 1, "longer.fits: has lmax = 41: must be at most 40"),
])
def test_what_it_cannot_do_is_refused(files, fails, arguments, status, text):
    first, second, *options = arguments
    assert text in fails(status, "lens", first, second, "out.fits", *options)
