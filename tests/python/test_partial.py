"""Maps of which little is known: smoothed as others, with memory for what is known."""

import subprocess
import sys

import numpy as np
import pytest

import zonal.healpy

NSIDE = 64


def disc(nside, theta, radius):
    """Whether pixels lie in a disc, rad."""
    x, _, z = zonal.healpy.pix2vec(nside, np.arange(12 * nside**2))
    return np.sin(theta) * x + np.cos(theta) * z > np.cos(radius)


@pytest.mark.parametrize("theta", [0.1, 1.6, 2.3])
@pytest.mark.parametrize("options", [dict(method="pixel-sum"), dict(method="ring-fft"), dict(method="pixel-sum", mask_mode="renormalize")])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_known_is_smoothed_as_in_a_map_that_is_0_elsewhere(theta, options, dtype):
    inside = disc(NSIDE, theta, 0.2)
    rows = np.random.default_rng(1).normal(size=(2, inside.size)).astype(dtype)
    part = np.where(inside, rows, zonal.UNSEEN).astype(dtype)
    mask = np.random.default_rng(2).random(inside.size)
    found = zonal.smooth(part, "3deg", error=1e-4, mask=mask, **options)
    # A map with UNSEEN pixels in a few places is smoothed on the whole sky.
    whole = zonal.smooth(np.where(inside, rows, 0).astype(dtype), "3deg", error=1e-4, mask=np.where(inside, mask, 0), **options)
    assert (found[:, ~inside] == dtype(zonal.UNSEEN)).all()
    # The same sums in another order, of about a thousand pixels; ring FFTs round relative to the ring's largest.
    assert np.abs(found - whole)[:, inside].max() <= 1e3 * np.finfo(dtype).eps * np.abs(whole[:, inside]).max()


def test_a_bad_mask_names_its_pixel_as_for_other_maps():
    part = np.full(12 * NSIDE**2, zonal.UNSEEN)
    part[5000:5100] = 1
    mask = np.ones(part.size)
    mask[40] = 2
    with pytest.raises(ValueError, match="pixel 40"):
        zonal.smooth(part, "3deg", method="pixel-sum", mask=mask)


PEAK = """
import resource
import numpy as np
import zonal

part = np.full(12 * 2048**2, zonal.UNSEEN)
part[24_000_000:24_100_000] = 1
out = np.ones(part.size)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
zonal.smooth(part, "6arcmin", method="pixel-sum", error=1e-4, out=out)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_takes_the_memory_of_what_is_known():
    printed = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True).stdout
    # Two bands of a 64th of the sky, input and output, half as much again for the rings within reach; 32 MB for tables and
    # threads. The whole sky would take copies of it, 403 MB each.
    sky = 12 * 2048**2 * 8
    assert int(printed) <= 2 * 1.5 * sky / 64 + 32e6 < 0.2 * sky


# --- Maps of a part of the sky


def part_of(nside=NSIDE, rows=1, theta=1.6, dtype=np.float64):
    pixels = np.flatnonzero(disc(nside, theta, 0.2))
    values = np.random.default_rng(3).normal(size=(rows, pixels.size)).astype(dtype)
    values[0, ::50] = zonal.UNSEEN
    return zonal.Map(values, zonal.Grid.healpix(nside), pixels=pixels, unit="uK", columns=["I", "Q", "U"][:rows])


def has_own_memory(sky):
    return sky._has_own_pixels


def test_values_are_those_of_the_whole_sky():
    sky = part_of(rows=3)
    pixels, own = sky.own()
    expected = np.full((3, 12 * NSIDE**2), zonal.UNSEEN)
    expected[:, pixels] = own
    assert sky.shape == expected.shape and len(sky) == 3 and has_own_memory(sky["Q"]) and has_own_memory(sky)
    np.testing.assert_array_equal(sky["Q"].values, expected[1])
    np.testing.assert_array_equal(sky.to("mK").values[:, pixels], sky.to("mK").own()[1])
    np.testing.assert_array_equal((sky + 0).values, expected)
    np.testing.assert_array_equal(sky.own()[0], pixels)
    assert zonal.Map(part_of(), unit="mK").is_part and has_own_memory(zonal.Map(part_of(), unit="mK"))
    assert repr(part_of(rows=3)) == repr(sky) and f"{100 * (expected == zonal.UNSEEN).mean():.3g} % unseen" in repr(sky)
    np.testing.assert_array_equal(sky.reordered(nest=True).own()[1], own)


def test_pixels_may_come_in_any_order():
    pixels = np.array([40, 3, 17])
    sky = zonal.Map([1.0, 2.0, 3.0], zonal.Grid.healpix(2), pixels=pixels)
    assert sky.own()[0].tolist() == [3, 17, 40] and sky.values[pixels].tolist() == [1, 2, 3]
    assert zonal.Map(np.arange(48.0), zonal.Grid.healpix(2), pixels=np.arange(48)).values[7] == 7


@pytest.mark.parametrize("change, message", [
    (dict(pixels=[1, 2]), r"pixels: has shape \(2,\): must be \[3\]"),
    (dict(pixels=[1, 2, 48]), "pixels: are from 1 to 48: must be from 0 to 47 for healpix nside=2"),
    (dict(pixels=[5, 2, 5]), "pixels: 5 occurs twice"),
    (dict(nest=True), "pixels: are numbers in ring order"),
    (dict(grid=None), "whose number of pixels does not tell the grid"),
])
def test_wrong_pixels_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        zonal.Map([1.0, 2.0, 3.0], **{"grid": zonal.Grid.healpix(2), "pixels": [1, 2, 3], **change})


@pytest.mark.parametrize("options", [dict(method="pixel-sum"), dict(method="ring-fft", mask_mode="renormalize"),
                                     dict(method="pixel-sum", normalization="pixel"), dict(method="harmonic", reference="continuous"),
                                     dict(method="pixel-sum", fill_masked=True)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("nest", [False, True])
def test_is_smoothed_as_the_whole_sky(options, dtype, nest):
    sky = part_of(rows=2, dtype=dtype)
    mask = np.random.default_rng(4).random(12 * NSIDE**2)
    whole = zonal.Map(part_of(rows=2, dtype=dtype).values, unit="uK")
    # 1e-3 for float32, whose numbers are rounded by 6e-8; the kernel is wide enough for sums over pixels.
    arguments = dict(error=1e-3, return_report=True, **options)
    if nest:
        sky, whole = sky.reordered(nest=True), whole.reordered(nest=True)
    found, (report,) = zonal.smooth(sky, "3deg", mask=mask, **arguments)
    expected, (other,) = zonal.smooth(whole, "3deg", mask=mask, **arguments)
    assert found.values.dtype == dtype and found.unit == "uK" and found.nest == nest
    assert found.is_part == found.partial == (not options.get("fill_masked"))
    np.testing.assert_array_equal(found.values == dtype(zonal.UNSEEN), expected.values == dtype(zonal.UNSEEN))
    seen = expected.values != dtype(zonal.UNSEEN)
    # The same sums in another order, of about a thousand pixels; ring FFTs round relative to the ring's largest.
    assert np.abs(found.values - expected.values)[seen].max() <= 1e3 * np.finfo(dtype).eps * np.abs(expected.values[seen]).max()
    assert report.masked_pixels == other.masked_pixels and report.method == other.method


def test_masks_may_be_of_a_part_too():
    sky, mask = part_of(), np.random.default_rng(4).random(12 * NSIDE**2)
    some = np.append(sky.own()[0][:-9:2], [0, 7])  # the mask ends before the map does
    part = zonal.Map(mask[np.sort(some)], zonal.Grid.healpix(NSIDE), pixels=np.sort(some))
    assert has_own_memory(part)
    whole = np.zeros_like(mask)
    whole[some] = mask[some]
    found, expected = (zonal.smooth(sky, "3deg", method="pixel-sum", mask=one, error=1e-4) for one in (part, whole))
    assert has_own_memory(part) and has_own_memory(found)
    np.testing.assert_array_equal(found.values, expected.values)
    bad = sky.own()[0][9]
    whole[bad] = 2
    with pytest.raises(ValueError, match=f"mask: pixel {bad} is 2"):
        zonal.smooth(sky, "3deg", method="pixel-sum", mask=whole)


@pytest.mark.parametrize("poles", [False, True])
def test_the_border_of_an_image_stays(tmp_path, poles):
    # A rectangle across longitude 0, whose outer pixels are UNSEEN.
    grid = zonal.Grid.clenshaw_curtis(31, 60, 0) if poles else zonal.Grid.equidistant_cylindrical(30, 60)
    pixels = (np.arange(8, 14)[:, None] * 60 + np.arange(-4, 5) % 60).ravel()
    values = np.random.default_rng(5).normal(size=(6, 9))
    values[[0, -1]] = values[:, [0, -1]] = zonal.UNSEEN
    path = tmp_path / "part.fits"
    zonal.io.write_map(path, zonal.Map(values.ravel(), grid, pixels=pixels))
    read = zonal.io.read_map(path)
    np.testing.assert_array_equal(read.own()[0], np.sort(pixels))
    assert has_own_memory(read)
    again, changed = tmp_path / "again.fits", tmp_path / "changed.fits"
    zonal.io.write_map(again, read)
    assert again.read_bytes() == path.read_bytes()
    read.values[0, 3] = 1  # on the first ring
    zonal.io.write_map(changed, read)
    assert {3, *pixels} <= set(zonal.io.read_map(changed).own()[0])


@pytest.mark.parametrize("nest", [False, True])
def test_files_keep_the_pixels(tmp_path, nest):
    sky = part_of(rows=3)
    zonal.io.write_map(tmp_path / "part.fits", sky, nest=nest)
    assert has_own_memory(sky)
    read = zonal.io.read_map(tmp_path / "part.fits")
    assert has_own_memory(read) and read.nest_in_file == nest and read.partial and read.pol
    np.testing.assert_array_equal(read.own()[0], sky.own()[0])
    np.testing.assert_array_equal(read.own()[1], sky.own()[1])
    np.testing.assert_array_equal(zonal.healpy.read_map(tmp_path / "part.fits", field=(0, 1, 2)), sky.values)
    zonal.io.write_map(tmp_path / "cells.fits", read, multi_order=True)
    with pytest.warns(zonal.ZonalWarning, match="multi-order map"):
        cells = zonal.io.read_map(tmp_path / "cells.fits")
    np.testing.assert_array_equal(cells.values, sky.values)


OF_FILES = """
import resource, sys
import numpy as np
import zonal

folder = sys.argv[1]
pixels = np.arange(80_000_000, 82_000_000)
part = zonal.Map(np.ones(pixels.size), zonal.Grid.healpix(4096), pixels=pixels)
zonal.io.write_map(folder + "/part.fits", part)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sky = zonal.io.read_map(folder + "/part.fits")
smoothed = zonal.smooth(sky, "3arcmin", method="pixel-sum", error=1e-4, mask=sky)
zonal.io.write_map(folder + "/smoothed.fits", smoothed)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_files_are_smoothed_in_the_memory_of_the_part(tmp_path):
    printed = subprocess.run([sys.executable, "-c", OF_FILES, tmp_path], capture_output=True, text=True, check=True).stdout
    # As for the tool in tests/cli/test_partial.py, and the rows of Python's Maps and of the mask.
    sky = 12 * 4096**2 * 8
    assert int(printed) <= 20 * 8 * 2_000_000 + 2 * 1.5 * sky / 64 + 32e6 < 0.3 * sky
