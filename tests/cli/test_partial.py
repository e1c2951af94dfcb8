"""Partial skies: the same as on the whole sky, in the memory of the part."""

import subprocess
import sys

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import EPS, UNSEEN, ZONAL, assert_close

NSIDE = 64


def write_part(path, nside, pixels, columns, nest=False):
    """A partial sky of these pixels, in their order."""
    table = fits.BinTableHDU.from_columns([fits.Column("PIXEL", "K", array=pixels)] + [
        fits.Column(name, "D", array=values, unit="uK") for name, values in columns.items()])
    table.header.update(PIXTYPE="HEALPIX", ORDERING="NESTED" if nest else "RING", NSIDE=nside, INDXSCHM="EXPLICIT",
                        OBJECT="PARTIAL", COORDSYS="G", POLCCONV="COSMO")
    table.writeto(path)


def disc(nside, lon, lat, radius, nest=False):
    """Pixels of a disc, in degrees."""
    return healpy.query_disc(nside, healpy.ang2vec(lon, lat, lonlat=True), np.radians(radius), nest=nest)


@pytest.fixture(params=[(False, 0, 0), (True, 90, 85), (True, 200, -40)], ids=["ring", "pole", "nest"])
def part(request, tmp_path, zonal):
    """part.fits: I, Q, U of a disc; full.fits: the same on the whole sky. Returns the pixels in ring order."""
    nest, lon, lat = request.param
    random = np.random.default_rng(3)
    pixels = random.permutation(disc(NSIDE, lon, lat, 12, nest))
    write_part(tmp_path / "part.fits", NSIDE, pixels, {
        "TEMPERATURE": np.where(random.random(pixels.size) < 0.02, UNSEEN, random.normal(size=pixels.size)),
        "Q_POLARISATION": random.normal(size=pixels.size), "U_POLARISATION": random.normal(size=pixels.size)}, nest)
    zonal("convert", "part.fits", "full.fits", "--full")
    return healpy.nest2ring(NSIDE, pixels) if nest else pixels


def read(path):
    """Rows in ring order on the whole sky."""
    return np.atleast_2d(healpy.read_map(path, field=None, dtype=None))


@pytest.mark.parametrize("options", [("--method", "pixel-sum"), ("--method", "ring-fft"), ("--method", "auto"),
                                     ("--method", "pixel-sum", "--mask-mode", "renormalize"),
                                     ("--method", "pixel-sum", "--mask", "mask.fits"),
                                     ("--method", "pixel-sum", "--mask", "mask_nest.fits"),
                                     ("--method", "pixel-sum", "--mask", "mask.fits.gz"),
                                     ("--method", "pixel-sum", "--normalize", "pixel", "--mask", "mask.fits"),
                                     ("--method", "pixel-sum", "--mask", "mask_part.fits")], ids=" ".join)
def test_is_smoothed_as_on_the_whole_sky(part, zonal, tmp_path, options):
    mask = np.random.default_rng(4).random(12 * NSIDE**2)
    healpy.write_map(tmp_path / "mask.fits", mask, dtype=np.float64)
    healpy.write_map(tmp_path / "mask.fits.gz", mask, dtype=np.float64)
    healpy.write_map(tmp_path / "mask_nest.fits", healpy.reorder(mask, r2n=True), nest=True, dtype=np.float64)
    some = np.unique(np.append(part[::2], [0, 7, 12 * NSIDE**2 - 1]))
    write_part(tmp_path / "mask_part.fits", NSIDE, some, {"MASK": mask[some]})
    counts = ("--field", "I", "--no-pol") if "--normalize" in options else ()
    of_part, of_full = (zonal("smooth", f"{name}.fits", f"{name}_out.fits", "--fwhm", "3deg", "--error", "1e-4", *options,
                              "--precision", "double", *counts) for name in ("part", "full"))
    found, expected = read(tmp_path / "part_out.fits"), read(tmp_path / "full_out.fits")
    assert fits.getdata(tmp_path / "part_out.fits").shape == part.shape
    if options[1] == "auto":  # which may choose different ways, each within 1e-4
        scale = np.sqrt(np.mean(np.where(expected == UNSEEN, 0, expected) ** 2, axis=1))
        difference = np.sqrt(np.mean((found - expected) ** 2, axis=1))
        assert (difference <= 2e-4 * scale).all()
    else:
        # Sums of about a thousand pixels in another order; ring FFTs round relative to the whole ring's largest value.
        assert_close(found, expected, rtol=0, atol=1e-13 * np.abs(np.where(expected == UNSEEN, 0, expected)).max())
        for one, other in zip(of_part.get("parts", [of_part]), of_full.get("parts", [of_full]), strict=True):
            assert one["certified_error"] == pytest.approx(other["certified_error"], rel=np.sqrt(found.size) * EPS, abs=0)  # an rms
    np.testing.assert_array_equal(found == UNSEEN, expected == UNSEEN)


@pytest.mark.parametrize("flip", [1, -1])
def test_images_take_masks_of_whole_images(zonal, fails, tmp_path, flip):
    random = np.random.default_rng(7)
    shape = (30, 60)
    header = fits.Header({"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR", "CRPIX1": 30.5, "CRPIX2": 15.5, "CDELT1": -6.0, "CDELT2": flip * 6.0,
                          "CRVAL1": 0.0, "CRVAL2": 0.0})
    values, mask, other = random.normal(size=shape), random.random(shape).round(1), np.zeros(shape)
    values[:20], values[25:], values[:, :15], values[:, 40:] = (np.nan,) * 4
    other[20:25] = mask[20:25]
    other[:18] = 7  # no mask: outside the part it is not read
    for name, image in (("full", values), ("mask", mask), ("other", other)):
        fits.writeto(tmp_path / f"{name}.fits", image, header)
    zonal("convert", "full.fits", "part.fits", "--partial", "--nan", "unseen")
    arguments = ("--fwhm", "30deg", "--method", "pixel-sum", "--precision", "double", "--nan", "unseen")
    for name, mask_name in (("part", "mask"), ("part", "other"), ("full", "mask")):
        zonal("smooth", f"{name}.fits", f"{name}_{mask_name}.fits", "--mask", f"{mask_name}.fits", *arguments)
        zonal("convert", f"{name}_{mask_name}.fits", f"{name}_{mask_name}_full.fits", "--full", "--nan", "unseen")
    expected = fits.getdata(tmp_path / "full_mask_full.fits")
    for name in ("part_mask", "part_other"):
        found = fits.getdata(tmp_path / f"{name}_full.fits")
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        assert np.nanmax(np.abs(found - expected)) <= 1e-13 * np.nanmax(np.abs(expected))
    assert "must be from 0 to 1" in fails(1, "smooth", "full.fits", "no.fits", "--mask", "other.fits", *arguments)


@pytest.mark.parametrize("mask", [(), ("--mask", "mask.fits")])
def test_mask_mode_error_counts_the_pixels_outside(part, fails, tmp_path, mask):
    healpy.write_map(tmp_path / "mask.fits", np.ones(12 * NSIDE**2), dtype=np.float64)
    said = [fails(1, "smooth", f"{name}.fits", "out.fits", "--fwhm", "3deg", "--method", "pixel-sum", "--mask-mode", "error", *mask)
            for name in ("part", "full")]
    assert said[0].split("column")[1] == said[1].split("column")[1] and "are UNSEEN or masked, the first is pixel" in said[0]


@pytest.mark.parametrize("options", [("udgrade", "--nside", "16"), ("udgrade", "--nside", "128", "--combine", "sum"),
                                     ("udgrade", "--nside", "32", "--pessimistic"), ("convert", "--order", "ring"),
                                     ("convert", "--order", "nest"), ("convert", "--multi-order"), ("convert", "--partial"),
                                     ("convert", "--polcconv", "iau")], ids=" ".join)
def test_is_converted_as_on_the_whole_sky(part, zonal, tmp_path, options):
    for name in ("part", "full"):
        zonal(options[0], f"{name}.fits", f"{name}_out.fits", *options[1:])
    np.testing.assert_array_equal(read_sky(tmp_path / "part_out.fits", zonal), read_sky(tmp_path / "full_out.fits", zonal))


def read_sky(path, zonal):
    """As read, of multi-order maps, too."""
    full = path.with_name("sky_of_" + path.name)
    zonal("convert", path.name, full.name, "--full")
    return read(full)


def test_is_compared_as_on_the_whole_sky(part, zonal, tmp_path):
    random = np.random.default_rng(5)
    others = np.append(part[: part.size // 2], disc(NSIDE, 50, 50, 5))
    write_part(tmp_path / "other.fits", NSIDE, others, {name: random.normal(size=others.size) for name in (
        "TEMPERATURE", "Q_POLARISATION", "U_POLARISATION")})
    zonal("convert", "other.fits", "other_full.fits", "--full")
    expected = zonal("compare", "full.fits", "other_full.fits")["columns"]
    for first, second in (("part", "other"), ("full", "other"), ("part", "other_full")):
        assert zonal("compare", f"{first}.fits", f"{second}.fits")["columns"] == expected


def test_is_drawn_as_on_the_whole_sky(part, zonal, tmp_path):
    for name in ("part", "full"):
        zonal("plot", f"{name}.fits", f"{name}.png", "--no-title")
    assert (tmp_path / "part.png").read_bytes() == (tmp_path / "full.png").read_bytes()


# --- memory


# Started by a small process, because a new one counts the memory of the one that it comes from.
STARTER = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_bytes(folder, *arguments, fails=False):
    """The largest memory that a run of zonal has in it at once."""
    command = [sys.executable, "-S", "-E", "-c", STARTER, ZONAL, *map(str, arguments)]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert (process.returncode != 0) == fails, process.stderr
    return int(process.stdout.split()[-1])


@pytest.fixture(scope="module")
def fine(folder):
    """part.fits and mask.fits: a hundredth of the sky at nside 4096, near the equator. full_mask.fits: in nest order, of
    bytes. Returns folder and pixels."""
    pixels = disc(4096, 0, 5, np.degrees(np.arccos(1 - 0.02)))
    random = np.random.default_rng(6)
    write_part(folder / "part.fits", 4096, pixels, {"TEMPERATURE": random.normal(size=pixels.size)})
    write_part(folder / "mask.fits", 4096, pixels, {"MASK": (random.random(pixels.size) < 0.9).astype(float)})
    table = fits.BinTableHDU.from_columns([fits.Column("MASK", "1024B", array=np.ones((12 * 4096**2 // 1024, 1024), np.uint8))])
    table.header.update(PIXTYPE="HEALPIX", ORDERING="NESTED", NSIDE=4096, INDXSCHM="IMPLICIT", OBJECT="FULLSKY")
    table.writeto(folder / "full_mask.fits")
    return folder, pixels


@pytest.mark.parametrize("command", ["smooth part.fits {} --fwhm 3arcmin --method pixel-sum --mask mask.fits",
                                     "smooth part.fits {} --fwhm 3arcmin --method pixel-sum --mask full_mask.fits",
                                     "smooth part.fits {} --fwhm 3arcmin --method pixel-sum --normalize pixel",
                                     "smooth part.fits {} --fwhm 3arcmin --method pixel-sum --mask-mode error",
                                     "udgrade part.fits {} --nside 2048", "convert part.fits {} --order nest",
                                     "compare part.fits part.fits", "plot part.fits {}.png", "info part.fits"],
                         ids=lambda command: " ".join(command.split()[::len(command.split()) - 1]))
def test_takes_the_memory_of_the_part(fine, command):
    folder, pixels = fine
    name = command.replace(" ", "_").replace("{}", "")
    peak = peak_bytes(folder, *command.format(f"{name}.fits").split(), fails=command.endswith("error"))
    # The program and its tables: 64 MB. Arrays of the part's pixels, 8 bytes each, no more than 16 at once: pixel numbers,
    # these sorted, their ranges, places in rows, the file's bytes, the map, the mask, what is known, products, the result.
    # Bands of whole rings, input and output: a 64th of the sky each, and half as much for the rings within reach.
    sky = 12 * 4096**2 * 8
    limit = 64e6 + 16 * 8 * pixels.size + 2 * 1.5 * sky / 64
    assert peak <= limit < 0.3 * sky
