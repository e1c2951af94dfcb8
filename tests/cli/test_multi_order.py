"""Multi-order maps, beside healpy's pixels and, for the numbers of their cells, MOCPy's convention 4 nside^2 + pixel."""

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import EPS, UNSEEN, call


def write_cells(path, orders, pixels, columns):
    """As gravitational-wave alerts have them."""
    unique = 4 * 4**np.asarray(orders, np.int64) + pixels
    table = fits.BinTableHDU.from_columns(
        [fits.Column("UNIQ", "K", array=unique)] +
        [fits.Column(name, "D", unit=unit, array=values) for name, unit, values in columns])
    table.header.update({"PIXTYPE": "HEALPIX", "ORDERING": "NUNIQ", "COORDSYS": "C", "INDXSCHM": "EXPLICIT",
                         "MOCORDER": int(max(orders)), "OBJECT": "MS181101ab"})
    table.writeto(path)


@pytest.fixture
def alert(tmp_path):
    """A map whose cells are divided at random down to nside 16; and its values on nside 16, nested."""
    rng = np.random.default_rng(29)
    cells = [(0, pixel) for pixel in range(12)]
    for order in range(4):
        chosen = [cell for cell in cells if cell[0] == order and rng.random() < 0.6]
        cells = [cell for cell in cells if cell not in chosen] + [
            (order + 1, 4 * pixel + i) for _, pixel in chosen for i in range(4)]
    orders, pixels = np.array(cells).T
    density, distance = rng.random(len(cells)), rng.random(len(cells))
    distance[5] = np.inf
    write_cells(tmp_path / "alert.fits", orders, pixels, [("PROBDENSITY", "sr-1", density), ("DISTMU", "Mpc", distance)])
    flat = np.empty((2, healpy.nside2npix(16)))
    for order, pixel, *values in zip(orders, pixels, density, distance):
        width = 4**(4 - order)
        flat[:, pixel * width:(pixel + 1) * width] = np.array(values)[:, None]
    return flat


def test_alerts_are_read_on_their_finest_cells(alert, zonal, tmp_path):
    report = zonal("convert", "alert.fits", "out.fits")
    assert any("multi-order map of" in note and "read as nside 16, nest" in note for note in report["notes"])
    assert np.array_equal(healpy.read_map(tmp_path / "out.fits", field=(0, 1), nest=True, dtype=float), alert)
    report = zonal("info", "alert.fits")
    assert report["kind"] == "map"
    assert report["reads_as"] == "PROBDENSITY, DISTMU, nside 16, nest, equatorial, sr-1, Mpc"
    assert [column["name"] for column in report["hdus"][1]["columns"]] == ["PROBDENSITY", "DISTMU"]


def test_coarser_and_finer_pixels_keep_the_integral(alert, zonal, tmp_path):
    for nside in (1, 4, 32):
        zonal("convert", "alert.fits", f"{nside}.fits", "--multi-order-nside", nside, "--field", "PROBDENSITY")
        found = healpy.read_map(tmp_path / f"{nside}.fits", nest=True, dtype=float)
        expected = healpy.ud_grade(alert[0], nside, order_in="NESTED", order_out="NESTED")
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert found.mean() == pytest.approx(alert[0].mean(), rel=16 * EPS, abs=0)


def test_alerts_are_smoothed_and_drawn(alert, zonal, tmp_path):
    zonal("smooth", "alert.fits", "out.fits", "--field", "PROBDENSITY", "--fwhm", "20deg", "--lmax", "32", "--method", "harmonic")
    ring = healpy.reorder(alert[0], n2r=True)
    expected = healpy.smoothing(ring, fwhm=np.radians(20), lmax=32)
    atol = 2 * 7 * 32 * EPS * expected.max()
    # On both sides seven transforms round, each by eps * lmax of the values.
    np.testing.assert_allclose(healpy.read_map(tmp_path / "out.fits", dtype=float), expected, rtol=0, atol=atol)
    zonal("plot", "alert.fits", "out.png", "--field", "PROBDENSITY")


def test_cells_of_a_part_are_a_partial_sky(zonal, tmp_path):
    write_cells(tmp_path / "part.fits", [2, 1], [12, 7], [("PROBDENSITY", "sr-1", [1.0, 2.0])])
    zonal("convert", "part.fits", "out.fits", "--full")
    values = healpy.read_map(tmp_path / "out.fits", nest=True, dtype=float)
    assert values[12] == 1 and (values[28:32] == 2).all() and (values == UNSEEN).sum() == 187


def test_cells_that_overlap_or_do_not_fit_are_refused(fails, tmp_path):
    write_cells(tmp_path / "twice.fits", [1, 2], [3, 12], [("P", "", [1.0, 2.0])])
    assert "cells of a multi-order map overlap" in fails(1, "convert", "twice.fits", "out.fits")
    write_cells(tmp_path / "fine.fits", [0, 29], [3, 5], [("P", "", [1.0, 2.0])])
    assert "a smaller one: multi_order_nside, --multi-order-nside" in fails(1, "convert", "fine.fits", "out.fits")
    result = call("convert", "fine.fits", "out.fits", "--multi-order-nside", "4", cwd=tmp_path)
    assert result.code == 0, result.err


def cells_of(path):
    """The orders and pixels of a file's cells, by MOCPy's convention, and its table."""
    table = fits.open(path)[1]
    unique = table.data["UNIQ"].astype(np.int64)
    orders = (np.floor(np.log2(unique)).astype(int) - 2) // 2
    return orders, unique - 4 * 4**orders, table


def test_an_alert_is_written_again_as_it_was(alert, zonal, tmp_path):
    zonal("convert", "alert.fits", "flat.fits")
    zonal("convert", "flat.fits", "again.fits", "--multi-order")
    given, found = (fits.open(tmp_path / name)[1] for name in ("alert.fits", "again.fits"))
    order = np.argsort(given.data["UNIQ"])
    assert found.columns.names == ["UNIQ", "PROBDENSITY", "DISTMU"] and found.columns.units == ["", "sr-1", "Mpc"]
    assert found.columns.formats == ["K", "D", "D"]
    for name in found.columns.names:
        assert np.array_equal(found.data[name], given.data[name][order])
    for key in ("PIXTYPE", "ORDERING", "COORDSYS", "INDXSCHM", "MOCORDER"):
        assert found.header[key] == given.header[key], key
    assert "NSIDE" not in found.header and "FIRSTPIX" not in found.header
    zonal("convert", "again.fits", "flat_again.fits")
    assert np.array_equal(*(healpy.read_map(tmp_path / name, field=(0, 1), nest=True, dtype=float)
                            for name in ("flat.fits", "flat_again.fits")))


def test_masked_and_equal_pixels_are_merged_without_loss(zonal, tmp_path):
    sky = np.round(np.sin(3 * np.arange(768.0) / 768), 2)
    sky[200:300] = UNSEEN
    iqu = [sky, np.where(sky == UNSEEN, UNSEEN, 1.0), np.where(sky == UNSEEN, UNSEEN, -2.0)]
    healpy.write_map(tmp_path / "sky.fits", iqu, nest=True, dtype=np.float32, extra_header=[("POLCCONV", "IAU")])
    zonal("convert", "sky.fits", "cells.fits", "--multi-order")
    orders, pixels, table = cells_of(tmp_path / "cells.fits")
    assert np.sum(4.0**(3 - orders)) == 668 and len(orders) < 600 and table.header["MOCORDER"] == orders.max() == 3
    assert table.header["POLCCONV"] == "IAU" and (table.data["U_POLARISATION"] == -2).all()
    zonal("convert", "cells.fits", "again.fits", "--full")
    assert np.array_equal(*(healpy.read_map(tmp_path / name, field=None, nest=True, dtype=np.float32)
                            for name in ("sky.fits", "again.fits")))


def test_a_ring_map_and_a_new_nside_are_written_as_cells(alert, zonal, tmp_path):
    zonal("convert", "alert.fits", "ring.fits", "--order", "ring", "--field", "PROBDENSITY")
    zonal("convert", "ring.fits", "cells.fits", "--multi-order", "--precision", "float")
    orders, pixels, table = cells_of(tmp_path / "cells.fits")
    for order, pixel, value in zip(orders, pixels, table.data["PROBDENSITY"]):
        assert (np.float32(alert[0])[pixel * 4**(4 - order):(pixel + 1) * 4**(4 - order)] == value).all()


def test_what_cannot_be_cells_is_refused(zonal, fails, tmp_path):
    healpy.write_map(tmp_path / "six.fits", np.arange(432.0))
    assert "nside that is a power of 2" in fails(2, "convert", "six.fits", "out.fits", "--multi-order")
    healpy.write_map(tmp_path / "unseen.fits", np.full(48, UNSEEN))
    assert "every pixel is UNSEEN" in fails(2, "convert", "unseen.fits", "out.fits", "--multi-order")
    for options in (("--full",), ("--partial",), ("--order", "nest"), ("--car", "9x18")):
        fails(2, "convert", "six.fits", "out.fits", "--multi-order", *options)
    assert not (tmp_path / "out.fits").exists()


def test_a_region_without_values_is_no_map(zonal, fails, tmp_path):
    """MOCs of version 1 number cells, those of version 2 ranges of pixels at order 29."""
    for name, column, keys in (("cells", fits.Column("UNIQ", "K", array=[4, 19]), {"PIXTYPE": "HEALPIX", "ORDERING": "NUNIQ", "MOCORDER": 1}),
                               ("ranges", fits.Column("RANGE", "K", array=[0, 4**29]), {"MOCVERS": "2.0", "MOCDIM": "SPACE", "ORDERING": "RANGE"})):
        table = fits.BinTableHDU.from_columns([column])
        table.header.update(keys)
        table.writeto(tmp_path / f"{name}.fits")
        report = zonal("info", f"{name}.fits")
        assert report["kind"] == "other" and any("is a region (MOC)" in note for note in report["notes"])
        assert "HDU 1: is a region (MOC), which has cells but no values" in fails(1, "convert", f"{name}.fits", "out.fits")
