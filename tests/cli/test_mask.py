"""zonal mask: the library's tools for masks, between files."""

import healpy
import numpy as np
import pytest

from conftest import EPS, UNSEEN, header, read_map

NSIDE = 16
MASK = (np.abs(np.array(healpy.pix2vec(NSIDE, np.arange(12 * NSIDE**2)))[2]) > 0.3).astype(float)
MASK[[100, 300, 301]] = 0
FILLED = np.where(np.arange(MASK.size) == 100, 1, MASK)


@pytest.fixture(autouse=True)
def files(tmp_path):
    healpy.write_map(tmp_path / "mask.fits", MASK, dtype=np.float64, coord="G")
    healpy.write_map(tmp_path / "nest.fits", healpy.reorder(np.where(MASK == 0, UNSEEN, MASK), r2n=True), nest=True, dtype=np.float32)
    healpy.write_map(tmp_path / "two.fits", [MASK, MASK], dtype=np.float64)


def apodised(mask, scale, cosine=True):
    d = healpy.dist2holes(1.0 * (mask == 0), maxdist=scale)
    x = np.sin(d / 2) / np.sin(scale / 2)
    return mask * ((1 - np.cos(np.pi * x)) / 2 if cosine else x - np.sin(2 * np.pi * x) / (2 * np.pi))


def test_all_at_once(zonal, tmp_path):
    """Holes first, then distances and edges of what is left."""
    report = zonal(*"mask mask.fits out.fits --fill-holes 2 --apodise cosine --scale 9deg --distance d.fits --threads 2".split())
    expected = apodised(FILLED, np.radians(9))
    found = read_map(tmp_path / "out.fits")
    assert np.abs(found - expected).max() <= 200 * EPS  # healpy's distances differ by 10 eps, and the slope is pi / 2 / scale
    assert np.abs(read_map(tmp_path / "d.fits") - healpy.dist2holes(1 - FILLED)).max() <= 20 * EPS
    assert report["filled"] == {"holes": 1, "pixels": 1}
    assert np.allclose(report["moments"], [np.mean(expected**k) for k in (1, 2, 3, 4)], rtol=1e-13)
    cards = header(tmp_path / "d.fits")
    assert cards["TTYPE1"] == "DISTANCE" and cards["TUNIT1"] == "rad" and cards["COORDSYS"] == "G"
    assert header(tmp_path / "out.fits")["APODISED"] == "9deg"


def test_nest_order_single_precision_and_unseen(zonal, tmp_path):
    zonal(*"mask nest.fits out.fits --apodise sine --scale 9deg --precision double".split())
    assert header(tmp_path / "out.fits")["ORDERING"] == "NESTED"
    assert np.abs(healpy.read_map(tmp_path / "out.fits", dtype=np.float64) - apodised(MASK, np.radians(9), False)).max() <= 200 * EPS


def test_the_ways_of_apodising_differ(zonal, tmp_path):
    found = []
    for options in ("cosine", "sine", "smooth", "cosine --apodise-like grain", "cosine --apodise-like namaster"):
        zonal(*f"mask mask.fits out.fits --overwrite --scale 20deg --apodise {options}".split())
        found.append(read_map(tmp_path / "out.fits"))
    assert np.array_equal(found[0], found[4])
    assert all(np.abs(a - b).max() > 1e-3 for i, a in enumerate(found[:4]) for b in found[:i])


@pytest.mark.parametrize(("options", "words"), [
    ("mask.fits out.fits", "nothing to do: give --apodise, --fill-holes or --distance"),
    ("mask.fits out.fits --apodise cosine", "--apodise: needs --scale"), ("mask.fits out.fits --scale 2deg --fill-holes 3", "--scale: needs --apodise"),
    ("mask.fits out.fits --apodise smooth --scale 2deg --apodise-like grain", "--apodise-like: needs --apodise cosine or sine"),
    ("mask.fits out.fits --fill-holes 0", "--fill-holes = 0"), ("mask.fits out.fits --distance out.fits", "--distance"),
    ("two.fits out.fits --fill-holes 3", "--field chooses the mask"), ("mask.fits out.fits --apodise C1 --scale 2deg", "--apodise")])
def test_misuse(fails, options, words):
    assert words in fails(2, "mask", *options.split())


def test_other_pixels_and_files_that_are_there_are_refused(fails, zonal):
    zonal("convert", "mask.fits", "car.fits", "--car", "36x72", "--lmax", "20", "--iter", "0")
    assert "car.fits: is not on HEALPix" in fails(1, "mask", "car.fits", "out.fits", "--fill-holes", "3")
    assert "car.fits" in fails(1, "mask", "mask.fits", "out.fits", "--fill-holes", "3", "--distance", "car.fits")
