"""CAR images that astropy packs in tiles, read as those that it writes plainly."""

import numpy as np
import pytest
from astropy.io import fits

KEYS = {"CTYPE1": "RA---CAR", "CRPIX1": 24.5, "CRVAL1": 0.0, "CDELT1": -7.5, "CTYPE2": "DEC--CAR", "CRPIX2": 12.5, "CRVAL2": 0.0,
        "CDELT2": 7.5, "BUNIT": "uK"}


def images(rng):
    """Of each type, with values that quantised floats keep, and planes."""
    smooth = np.sin(np.arange(24 * 48.0).reshape(24, 48) / 50) + 0.01 * rng.standard_normal((24, 48))
    return {"u1": (100 * smooth + 120).astype("u1"), "i2": (3000 * smooth).astype("i2"), "i4": (1e6 * smooth).astype("i4"),
            "u2": (3000 * smooth + 9000).astype("u2"), "f4": smooth.astype("f4"), "f8": smooth,
            "planes": np.stack([smooth, 2 * smooth, -smooth]).astype("f4"), "noise": rng.integers(-2**31, 2**31, (24, 48)).astype("i4"),
            "flat": np.full((24, 48), 7, "i2")}


def packed_file(path, image, **options):
    hdu = fits.CompImageHDU(image, header=fits.Header(KEYS), **options)
    plain = fits.ImageHDU(np.ones((2, 2), "i2"), name="BEHIND")
    fits.HDUList([fits.PrimaryHDU(), hdu, plain]).writeto(path, overwrite=True)
    return fits.getdata(path, 1).astype(float)


def read_again(zonal, tmp_path, **options):
    zonal("convert", "packed.fits", "plain.fits", "--precision", "double", "--overwrite", *options.get("arguments", ()))
    return np.squeeze(fits.getdata(tmp_path / "plain.fits"))


@pytest.mark.parametrize("method", ["RICE_1", "GZIP_1", "GZIP_2", "NOCOMPRESS", "HCOMPRESS_1"])
def test_packed_images_are_read_as_astropy_unpacks_them(zonal, tmp_path, method):
    for name, image in images(np.random.default_rng(3)).items():
        for tiles in (None, (5, 7), (24, 48)):
            # HCOMPRESS_1 packs planes alone.
            shape = tiles if tiles is None or image.ndim == 2 else (1 if method == "HCOMPRESS_1" else 2, *tiles)
            expected = packed_file(tmp_path / "packed.fits", image, compression_type=method, tile_shape=shape)
            found = read_again(zonal, tmp_path)
            # Floats are quantised: scale times integer, and zero, each rounded once, in double or in float.
            tolerance = 0 if image.dtype.kind != "f" else 4 * np.finfo(image.dtype).eps * np.abs(image).max()
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=f"{name} {tiles}")


@pytest.mark.parametrize("scale", [0, 1, 2, 7, 1000])
def test_images_that_hcompress_has_rounded_are_read_as_astropy_unpacks_them(zonal, tmp_path, scale):
    for image in [images(np.random.default_rng(10))[name] for name in ("i2", "i4", "noise", "flat")]:
        for tiles in ((24, 48), (5, 11), (4, 48)):
            expected = packed_file(tmp_path / "packed.fits", image, compression_type="HCOMPRESS_1", hcomp_scale=scale, tile_shape=tiles)
            assert scale > 1 or np.array_equal(expected, image)
            np.testing.assert_array_equal(read_again(zonal, tmp_path), expected, err_msg=f"{image.dtype} {tiles}")


def test_images_that_plio_has_packed_are_read_as_astropy_unpacks_them(zonal, tmp_path):
    rng = np.random.default_rng(11)
    mask = np.zeros((24, 48), "i4")
    mask[3:9, 5:30], mask[4, 7], mask[5, 20:] = 1, 6, 2**24 - 1
    steps = np.cumsum(rng.integers(0, 3, (24, 48)), axis=1).astype("i4")
    for image in (mask, steps, steps.astype("i2"), (mask & 7).astype("u1"), np.zeros((24, 48), "i2")):
        for tiles in (None, (5, 7), (24, 48)):
            expected = packed_file(tmp_path / "packed.fits", image, compression_type="PLIO_1", tile_shape=tiles)
            np.testing.assert_array_equal(expected, image)
            np.testing.assert_array_equal(read_again(zonal, tmp_path), image, err_msg=f"{image.dtype} {tiles}")


def test_unsigned_images_that_cfitsio_packs_by_plio_are_read(zonal, tmp_path):
    image = np.arange(24 * 48, dtype="i2").reshape(24, 48)
    packed_file(tmp_path / "packed.fits", image, compression_type="PLIO_1")
    with fits.open(tmp_path / "packed.fits", mode="update", disable_image_compression=True) as file:
        file[1].header.update(BSCALE=1, BZERO=32768)  # as CFITSIO 4 does, which packs the true values
    np.testing.assert_array_equal(read_again(zonal, tmp_path), image)


@pytest.mark.parametrize("dither", [1, 2])
def test_dithered_images_are_read_as_astropy_unpacks_them(zonal, tmp_path, dither):
    image = images(np.random.default_rng(4))["f4"]
    image[3, 4:9] = 0
    for method in ("RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1"):
        expected = packed_file(tmp_path / "packed.fits", image, compression_type=method, quantize_method=dither, dither_seed=123)
        np.testing.assert_allclose(read_again(zonal, tmp_path), expected, rtol=0, atol=4 * np.finfo("f4").eps)


@pytest.mark.parametrize("options", [{"compression_type": "GZIP_2", "quantize_level": 0}, {"compression_type": "NOCOMPRESS", "quantize_level": 0},
                                     {"compression_type": "RICE_1", "quantize_level": -1e-6}])
def test_floats_are_scaled(zonal, tmp_path, options):
    image = images(np.random.default_rng(8))["f4"]
    packed_file(tmp_path / "packed.fits", image, **options)
    with fits.open(tmp_path / "packed.fits", mode="update", disable_image_compression=True) as file:
        file[1].header.update(BSCALE=2.0, BZERO=-1.0)
    # Quantised in steps of 1e-6, of which rounding takes half, and then float's eps.
    np.testing.assert_allclose(read_again(zonal, tmp_path), 2.0 * image - 1, rtol=0, atol=2 * 0.6e-6)


def test_maps_behind_tiles_that_are_not_read_are_read(zonal, fails, tmp_path):
    image = images(np.random.default_rng(9))["f8"]
    header = fits.Header(KEYS)
    packed = fits.CompImageHDU(image.astype("i2"), header, compression_type="HCOMPRESS_1", tile_shape=(24, 48), hcomp_smooth=1)
    tiled = fits.CompImageHDU(image.astype("i2") + 5, header, name="TILED")
    fits.HDUList([fits.PrimaryHDU(), packed, fits.ImageHDU(image, header, name="BEHIND"), tiled]).writeto(tmp_path / "packed.fits")
    np.testing.assert_array_equal(read_again(zonal, tmp_path, arguments=("--hdu", "BEHIND")), image)
    np.testing.assert_array_equal(read_again(zonal, tmp_path, arguments=("--hdu", "TILED")), image.astype("i2") + 5)
    assert "HDU 1 'COMPRESSED_IMAGE': is tile-compressed by HCOMPRESS_1 with SMOOTH = 1" in \
        fails(1, "convert", "packed.fits", "out.fits", "--hdu", "1")


def test_pixels_without_data_stay_so(zonal, tmp_path):
    image = images(np.random.default_rng(5))["f4"]
    image[7, 3:20] = np.nan
    packed_file(tmp_path / "packed.fits", image)
    found = read_again(zonal, tmp_path, arguments=("--nan", "unseen"))
    assert np.array_equal(np.isnan(found), np.isnan(image))


def test_headers_say_what_the_image_is(zonal, tmp_path):
    packed_file(tmp_path / "packed.fits", images(np.random.default_rng(6))["i2"])
    report = zonal("info", "packed.fits")
    assert report["kind"] == "map" and report["hdus"][1]["shape"] == [48, 24] and "equatorial" in report["reads_as"]
    assert report["hdus"][2]["name"] == "BEHIND"
    zonal("convert", "packed.fits", "plain.fits")
    header = fits.getheader(tmp_path / "plain.fits")
    assert header["BUNIT"] == "uK" and not [key for key in header if key.startswith("Z")]


def test_damaged_and_other_tiles_are_refused(fails, tmp_path):
    image = images(np.random.default_rng(7))["i2"]
    packed_file(tmp_path / "packed.fits", image)
    whole = (tmp_path / "packed.fits").read_bytes()
    (tmp_path / "packed.fits").write_bytes(whole.replace(b"RICE_1  ", b"OTHER_1 "))
    assert "ZCMPTYPE = 'OTHER_1', which is not read" in fails(1, "convert", "packed.fits", "out.fits")
    with fits.open(tmp_path / "packed.fits", disable_image_compression=True) as file:
        start = file[1].fileinfo()["datLoc"]
    heap = start + 8 * 24  # behind a descriptor for each of 24 tiles
    damaged = whole[:heap] + b"\xff" * 800 + whole[heap + 800:]
    (tmp_path / "packed.fits").write_bytes(damaged)
    assert "HDU 1 'COMPRESSED_IMAGE': a tile ends early" in fails(1, "convert", "packed.fits", "out.fits")
    (tmp_path / "packed.fits").write_bytes(whole[:start + 4] + b"\x7f" + whole[start + 5:])
    assert "a tile lies outside the heap" in fails(1, "convert", "packed.fits", "out.fits")
