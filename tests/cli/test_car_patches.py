"""Rectangles of CAR pixels, as pixell and astropy write them: each pixel's place as astropy.wcs has it."""

import numpy as np
import pytest
from astropy.io import fits
from astropy.wcs import WCS

from conftest import call

# Pixels of 3 degrees: 120 to a ring, and 60 rings, or 61 with both poles. n1, n2, crpix1, crval1, cdelt1, crpix2, cdelt2:
LAYOUTS = {
    "across longitude 0": (30, 20, 15.5, 0.0, -3.0, 10.5, 3.0),
    "across 180 degrees": (24, 9, -30.0, 300.0, -3.0, 5.0, 3.0),
    "north, with the pole": (11, 7, 60.0, 0.0, -3.0, -23.0, 3.0),
    "north of half-pixel rows": (8, 6, 3.0, 301.5, -3.0, -5.5, 3.0),
    "single row": (40, 1, 20.0, 200.0, -3.0, -7.0, 3.0),
    "single column": (1, 13, 1.0, 359.0, -3.0, 20.0, 3.0),
    "descending declination": (17, 12, 8.0, 90.0, -3.0, 4.5, -3.0),
    "growing right ascension": (17, 12, 8.0, 352.0, 3.0, 4.5, 3.0),
    "full rings": (120, 15, 60.5, 0.0, -3.0, 30.0, 3.0),
    "all but one column": (119, 4, 60.5, 10.0, -3.0, 2.0, 3.0),
    "full sky": (120, 61, 61.0, 0.0, -3.0, 31.0, 3.0),
}


def wcs_of(layout):
    wcs = WCS(naxis=2)
    wcs.wcs.ctype = ["RA---CAR", "DEC--CAR"]
    wcs.wcs.crpix = layout[2], layout[5]
    wcs.wcs.crval = layout[3], 0
    wcs.wcs.cdelt = layout[4], layout[6]
    return wcs


def places(wcs, shape):
    """Degrees east and north of each pixel."""
    east, north = wcs.all_pix2world(*np.meshgrid(np.arange(shape[-1]), np.arange(shape[-2])), 0)
    return east % 360, north


def write_patch(path, layout, values, **cards):
    header = wcs_of(layout).to_header()
    header.update(cards)
    fits.PrimaryHDU(values, header).writeto(path, overwrite=True)


def assert_same_angles(found, expected):
    # Headers hold the angles in 16 digits: rounding is 1e-13 degrees.
    np.testing.assert_allclose((found - expected + 180) % 360, 180, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", LAYOUTS)
def test_pixels_stay_where_astropy_has_them(zonal, tmp_path, name):
    layout = LAYOUTS[name]
    east, north = places(wcs_of(layout), layout[1::-1])
    cube = np.stack([east, north, east * 0 + 7])
    write_patch(tmp_path / "patch.fits", layout, cube)
    reading = zonal("info", "patch.fits")
    assert reading["hdus"][0]["car"] == {"rings": 60 if layout[5] % 1 else 61, "pixels_per_ring": 120}
    assert reading["hdus"][0]["sky"] == ("full" if name == "full sky" else "partial")
    zonal("convert", "patch.fits", "out.fits", "--no-pol")
    with fits.open(tmp_path / "out.fits") as file:
        data, header = file[0].data, file[0].header
        assert data.shape == cube.shape and (data[2] == 7).all()
        found = places(WCS(header).celestial, data.shape)
        assert_same_angles(data[0], found[0])
        np.testing.assert_allclose(data[1], found[1], rtol=0, atol=1e-10)
        # No pixel is so far from the reference that the way from its place to the pixel would be another one.
        columns, rows = WCS(header).celestial.all_world2pix(found[0], found[1], 0)
        assert np.abs(columns - np.arange(data.shape[2])).max() < 1e-8
        assert np.abs(rows - np.arange(data.shape[1])[:, None]).max() < 1e-8


def test_pixels_without_data_are_nan(zonal, tmp_path):
    layout = LAYOUTS["across longitude 0"]
    values = np.random.default_rng(1).normal(size=(20, 30))
    values[3:5, 7] = np.nan
    write_patch(tmp_path / "patch.fits", layout, values, CRPIX1A=15.5, TELESCOP="ACT")
    assert "--nan unseen" in call("convert", "patch.fits", "out.fits", cwd=tmp_path).err
    zonal("convert", "patch.fits", "out.fits", "--nan", "unseen")
    np.testing.assert_array_equal(np.isnan(fits.getdata(tmp_path / "out.fits")), np.isnan(values))
    assert zonal("info", "out.fits")["hdus"][0]["columns"][0]["unseen"] == 2
    header = fits.getheader(tmp_path / "out.fits")
    assert header["TELESCOP"] == "ACT" and "CRPIX1A" not in header  # which would be wrong of another rectangle
    zonal("convert", "out.fits", "full.fits", "--full")
    assert np.isfinite(fits.getdata(tmp_path / "full.fits")).sum() == 20 * 30 - 2
    zonal("convert", "full.fits", "again.fits", "--partial")
    np.testing.assert_array_equal(fits.getdata(tmp_path / "again.fits"), fits.getdata(tmp_path / "out.fits"))


def test_three_planes_are_iqu_of_the_iau_where_the_header_says_so(zonal, tmp_path):
    layout = LAYOUTS["full rings"]
    values = np.random.default_rng(2).normal(size=(3, 15, 120))
    write_patch(tmp_path / "patch.fits", layout, values, CTYPE3="STOKES", CRVAL3=1.0, CRPIX3=1.0, CDELT3=1.0, POLCCONV="IAU")
    assert zonal("info", "patch.fits")["reads_as"].startswith("I, Q, U (IAU), CAR, 61 rings of 120 pixels, poles included, 1800 pixels of the sky")
    zonal("convert", "patch.fits", "out.fits", "--polcconv", "cosmo")
    np.testing.assert_array_equal(fits.getdata(tmp_path / "out.fits") * [[[1]], [[1]], [[-1]]], values[:, :, :])


def vectors(wcs, shape):
    east, north = np.radians(places(wcs, shape))
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], -1)


@pytest.mark.parametrize("method", ["pixel-sum", "ring-fft"])
@pytest.mark.parametrize("name", ["across longitude 0", "full rings", "cap"])
def test_the_interior_of_a_smoothed_patch_is_that_of_the_sky(zonal, tmp_path, name, method):
    layout = (120, 15, 60.5, 10.0, -3.0, -15.0, 3.0) if name == "cap" else LAYOUTS[name]
    grid = (120, 60, 60.5, layout[3], -3.0, 30.5, 3.0) if layout[5] % 1 else (120, 61, 60.5, layout[3], -3.0, 31.0, 3.0)
    shape, radius = layout[1::-1], 9.0
    sky = np.random.default_rng(3).normal(size=grid[1::-1])
    write_patch(tmp_path / "sky.fits", grid, sky)
    columns, rows = np.rint(wcs_of(grid).all_world2pix(*places(wcs_of(layout), shape), 0)).astype(int)
    columns %= 120
    write_patch(tmp_path / "patch.fits", layout, sky[rows, columns])
    (tmp_path / "cone.txt").write_text(f"# theta [deg] value [1/sr]\n0 {float(3 / (np.pi * np.radians(radius)**2))!r}\n{radius} 0\n")
    for which in ("sky", "patch"):
        zonal("smooth", f"{which}.fits", f"{which}_smooth.fits", "--profile", "cone.txt", "--method", method, "--error", "1e-8",
              "--precision", "double")
    whole, part = fits.getdata(tmp_path / "sky_smooth.fits"), fits.getdata(tmp_path / "patch_smooth.fits")
    outside = np.ones(sky.shape, bool)
    outside[rows, columns] = False
    nearest = (vectors(wcs_of(layout), shape) @ vectors(wcs_of(grid), sky.shape)[outside].T).max(-1)
    inside = nearest < np.cos(np.radians(radius + 0.01))
    assert part.shape == shape and inside.sum() > 100
    atol = 2e-8 * np.sqrt(whole.size) * np.sqrt(np.mean(whole**2))
    # Each result is within 1e-8 of the exact sum, relative to the rms of the sky's; a pixel may have all of that error.
    np.testing.assert_allclose(part[inside], whole[rows, columns][inside], rtol=0, atol=atol)


def test_other_commands_take_patches_or_say_what_to_do(zonal, fails, tmp_path):
    layout = LAYOUTS["across longitude 0"]
    write_patch(tmp_path / "patch.fits", layout, np.random.default_rng(4).normal(size=(20, 30)).astype("f4"))
    assert zonal("plot", "patch.fits", "patch.png", "--projection", "gnomonic", "--size", "60deg")["kind"] == "map"
    zonal("compare", "patch.fits", "patch.fits")
    line = fails(2, "udgrade", "patch.fits", "out.fits", "--nside", "8")
    assert "udgrade needs a HEALPix map" in line and "zonal convert --nside" in line
    write_patch(tmp_path / "other.fits", layout[:2] + (15.0,) + layout[3:], np.ones((20, 30)))
    line = fails(1, "anafast", "patch.fits", "cl.fits", "--mask", "other.fits", "--lmax", "10")
    assert "other.fits" in line and "from longitude 0 degrees" in line


@pytest.mark.parametrize("command", ["convert map.fits out.fits", "smooth map.fits out.fits --fwhm 9deg", "plot map.fits out.png",
                                     "anafast map.fits out.fits", "convert map.fits out.fits --hdu 0"])
def test_gnomonic_images_are_refused_with_what_to_do(zonal, fails, tmp_path, command):
    header = wcs_of(LAYOUTS["across longitude 0"]).to_header()
    header.update(CTYPE1="RA---TAN", CTYPE2="DEC--TAN")
    fits.PrimaryHDU(np.ones((20, 30)), header).writeto(tmp_path / "map.fits")
    line = fails(1, *command.split())
    for words in ("map.fits", "HDU 0", "gnomonic", "RA---TAN", "reproject it to CAR or HEALPix"):
        assert words in line
    noted = call("info", "map.fits", cwd=tmp_path)
    assert noted.code == 0 and "reproject it to CAR or HEALPix" in noted.err


@pytest.mark.parametrize("crpix2, rows", [(30.5, 60), (31.0, 61), (5.0, 9)])
def test_a_last_column_that_is_the_first_again_is_left_out(zonal, fails, tmp_path, crpix2, rows):
    """As in radio surveys of 1441 columns."""
    values = np.random.default_rng(5).normal(size=(rows, 120))
    values[1, 0] = np.nan
    layout = (121, rows, 61.0, 0.0, -3.0, crpix2, 3.0)
    write_patch(tmp_path / "closed.fits", layout, values[:, [*range(120), 0]])
    write_patch(tmp_path / "open.fits", (120, *layout[1:]), values)
    report = zonal("convert", "closed.fits", "closed_out.fits", "--nan", "unseen")
    assert any("the last column, which is the first one again, left out" in note for note in report["notes"])
    zonal("convert", "open.fits", "open_out.fits", "--nan", "unseen")
    np.testing.assert_array_equal(fits.getdata(tmp_path / "closed_out.fits"), fits.getdata(tmp_path / "open_out.fits"))
    write_patch(tmp_path / "differs.fits", layout, np.arange(121.0 * rows).reshape(rows, 121))
    assert "differs from it in row 1: 120, not 0" in fails(1, "convert", "differs.fits", "out.fits")


@pytest.mark.parametrize("layout, words", [
    ((30, 20, 15.5, 0.0, -3.0, -11.5, 3.0), "rows reach beyond the poles, from latitude 37.5 to 94.5 degrees"),
    ((122, 20, 15.5, 0.0, -3.0, 10.5, 3.0), "NAXIS1 = 122: must be 121 or fewer"),
    ((30, 20, 15.5, 0.0, -3.0, 10.2, 3.0), "rows do not lie at theta"),
    ((30, 20, 15.5, 0.0, -3.1, 10.5, 3.0), "CDELT1 = -3.1: must divide 360 degrees"),
])
def test_patches_of_no_grid_are_refused(fails, tmp_path, layout, words):
    write_patch(tmp_path / "patch.fits", layout, np.ones(layout[1::-1]))
    line = fails(1, "convert", "patch.fits", "out.fits")
    assert words in line and "patch.fits" in line
