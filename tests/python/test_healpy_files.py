"""FITS files under healpy's names: each package reads what the other wrote, and Zonal's own functions read both."""

import pathlib
import subprocess
import sys

import astropy.io.fits as fits
import healpy
import numpy as np
import pytest

import zonal
import zonal.healpy as hp
from zonal.healpy import fitsfunc
from zonal.healpy.utils.deprecation import HealpyDeprecationWarning

NSIDE = 16
N_PIXELS = 12 * NSIDE**2


def same_values(found, expected):
    """Types of containers, shapes, dtypes but for the byte order, and all values agree."""
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same_values(one, other)
    elif isinstance(expected, np.ndarray):
        assert found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


@pytest.fixture
def maps(rng):
    return rng.standard_normal((3, N_PIXELS))


@pytest.fixture
def table(tmp_path):
    """Writes columns, (name, format, values), and cards as a file, and returns its name."""

    def make(columns, **cards):
        hdu = fits.BinTableHDU.from_columns([fits.Column(name=n, format=f, array=v, unit="K") for n, f, v in columns])
        hdu.header.update(cards)
        path = tmp_path / "table.fits"
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path, overwrite=True)
        return str(path)

    return make


FULL = {"PIXTYPE": "HEALPIX", "ORDERING": "RING", "NSIDE": NSIDE, "INDXSCHM": "IMPLICIT", "OBJECT": "FULLSKY"}
PARTIAL = {"ORDERING": "RING", "NSIDE": NSIDE, "INDXSCHM": "EXPLICIT", "OBJECT": "PARTIAL"}


@pytest.mark.parametrize("options", [{}, {"field": 1}, {"field": (0, 1, 2)}, {"field": None}, {"field": (2,)},
                                     {"field": [1, 0]}, {"h": True}, {"nest": True}, {"nest": None},
                                     {"dtype": np.float64}, {"field": (0, 1), "dtype": [np.float64, np.int32]},
                                     {"field": (0, 1), "h": True}, {"memmap": True}, {"partial": True},
                                     {"field": "Q"}])
def test_maps_are_read_as_healpy_reads_them(maps, table, options):
    for name, order in (("RING", "E"), ("NESTED", "D")):
        columns = [(c, f"1024{order}", m.reshape(-1, 1024)) for c, m in zip("TQU", maps)]
        path = table(columns, **{**FULL, "ORDERING": name})
        if options.get("field") == "Q":
            same_values(hp.read_map(path, **options), healpy.read_map(path, field=1))
        else:
            same_values(hp.read_map(path, **options), healpy.read_map(path, **options))


def test_open_files_are_read_too(maps, tmp_path):
    path = tmp_path / "sky.fits"
    hp.write_map(path, maps)
    with fits.open(path) as opened:
        for source in (opened, opened[1], path, str(path)):
            np.testing.assert_array_equal(hp.read_map(source, field=None), maps)


def test_parts_of_the_sky(table):
    pixels = np.array([3, 5, 100])
    columns = [("PIXEL", "J", pixels), ("T", "E", np.array([1.0, 2, 3])), ("N", "J", pixels)]
    for options in ({}, {"field": 1}, {"field": None}, {"nest": True}, {"h": True}, {"dtype": np.float64}):
        path = table(columns, **PARTIAL)
        same_values(hp.read_map(path, **options), healpy.read_map(path, **options))
    path = table(columns, ORDERING="RING", NSIDE=NSIDE)
    same_values(hp.read_map(path, partial=True), healpy.read_map(path, partial=True))
    with pytest.raises(ValueError, match="partial = True"):
        hp.read_map(path)


def test_other_types_and_unseen_pixels(table, maps):
    flags = np.arange(N_PIXELS) % 2 == 0
    for code, values in (("J", np.arange(N_PIXELS)), ("L", flags), ("I", np.arange(N_PIXELS)), ("B", flags)):
        path = table([("N", code, values)], **FULL)
        same_values(hp.read_map(path), healpy.read_map(path))
    holes = np.where(flags, hp.UNSEEN, maps[0]).astype(np.float32)
    path = table([("T", "E", holes)], **FULL)
    same_values(hp.read_map(path, dtype=np.float64), healpy.read_map(path, dtype=np.float64))
    assert (hp.read_map(path, dtype=np.float64)[flags] == hp.UNSEEN).all()


def test_what_files_do_not_say_is_told(table, maps):
    column = [("T", "D", maps[0])]
    with pytest.warns(fitsfunc.HealpixFitsWarning, match="ORDERING"):
        np.testing.assert_array_equal(hp.read_map(table(column, NSIDE=NSIDE)), maps[0])
    with pytest.warns(fitsfunc.HealpixFitsWarning, match="NSIDE"):
        np.testing.assert_array_equal(hp.read_map(table(column, ORDERING="RING")), maps[0])
    for cards, error, match in (({"ORDERING": "FOO", "NSIDE": NSIDE}, OSError, "FOO"),
                                ({"ORDERING": "RING", "NSIDE": 8}, ValueError, "must be 768")):
        with pytest.raises(error, match=match):
            hp.read_map(table(column, **cards))
    path = table(column, **FULL)
    for options, error, match in (({"field": 5}, IndexError, "field = 5"), ({"field": "Z"}, IndexError, "'Z'"),
                                  ({"hdu": 2}, OSError, "no HDU 2"), ({"hdu": 0}, OSError, "no binary table"),
                                  ({"dtype": [int, int]}, ValueError, "dtype: has 2")):
        with pytest.raises(error, match=match):
            hp.read_map(path, **options)
    with pytest.raises(FileNotFoundError):
        hp.read_map("no such file")
    with pytest.warns(HealpyDeprecationWarning):
        hp.read_map(path, verbose=False)


@pytest.mark.parametrize("options", [{}, {"nest": True}, {"dtype": np.float32}, {"fits_IDL": False}, {"coord": "G"},
                                     {"column_names": ["A", "B", "C"], "column_units": "K"},
                                     {"dtype": [np.float64, np.float32, np.int32]},
                                     {"column_units": ["K", "mK", "uK"],
                                      "extra_header": [("AAA", 1, "c"), ("BBB", "x")]}])
def test_maps_are_written_as_healpy_writes_them(maps, tmp_path, options):
    ours, theirs = tmp_path / "ours.fits", tmp_path / "theirs.fits"
    hp.write_map(ours, maps, **options)
    healpy.write_map(theirs, maps, **options)
    with fits.open(ours) as one, fits.open(theirs) as other:
        assert [(c.name, c.format, c.unit) for c in one[1].columns] == \
            [(c.name, c.format, c.unit) for c in other[1].columns]
        assert dict(one[1].header) == dict(other[1].header)
        assert one[1].data.tobytes() == other[1].data.tobytes()
    for read in (hp.read_map, healpy.read_map):
        same_values(np.asarray(read(ours, field=None, nest=None)), np.asarray(read(theirs, field=None, nest=None)))


def test_written_maps_are_read_by_zonal(maps, tmp_path):
    path = tmp_path / "sky.fits.gz"
    hp.write_map(path, maps, coord="G", column_units="uK", nest=True)
    with pytest.warns(zonal.ZonalWarning, match="COSMO"):
        sky = zonal.io.read_map(path)
    assert (sky.pol, sky.nside, sky.nest_in_file, sky.coordinates, sky.units) == (True, NSIDE, True, "galactic", ["uK"] * 3)
    np.testing.assert_array_equal(sky.values, hp.reorder(maps, n2r=True))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "int64", ">f4", "float64", "complex64",
                                   "complex128"])
def test_types_of_maps_are_kept(tmp_path, dtype):
    m = np.ones(12, dtype)
    hp.write_map(tmp_path / "m.fits", m)
    same_values(hp.read_map(tmp_path / "m.fits"), m.astype(m.dtype.newbyteorder("=")))


def test_written_parts_of_the_sky(maps, tmp_path):
    holes = maps.copy()
    holes[:, 100:] = hp.UNSEEN
    holes[0, 200] = 1
    path = tmp_path / "part.fits"
    hp.write_map(path, [hp.ma(row) for row in holes], partial=True)
    assert fits.getheader(path, 1)["NAXIS2"] == 101
    with pytest.warns(zonal.ZonalWarning, match="COSMO"):
        native = zonal.io.read_map(path).values
    for found in (hp.read_map(path, None), healpy.read_map(path, None), native):
        np.testing.assert_array_equal(found, holes)


def test_files_are_kept_and_appear_complete_or_not_at_all(maps, tmp_path):
    path = tmp_path / "sky.fits"
    path.touch()  # as tempfile.NamedTemporaryFile does: healpy, too, replaces empty files
    hp.write_map(path, maps[0])
    with pytest.raises(OSError, match="overwrite"):
        hp.write_map(path, maps[1])
    for wrong in ({"extra_header": [("A", object())]}, {"dtype": np.uint16}, {"coord": "X"},
                  {"column_names": ["A"] * 2}):
        with pytest.raises((ValueError, TypeError)):
            hp.write_map(path, maps[1], overwrite=True, **wrong)
    np.testing.assert_array_equal(hp.read_map(path), maps[0])
    hp.write_map(path, maps[1], overwrite=True)
    np.testing.assert_array_equal(hp.read_map(path), maps[1])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("options", [{}, {"lmax": 4}, {"lmax": 6, "mmax": 2}, {"out_dtype": np.float32}])
def test_coefficients(random_alm, tmp_path, options):
    alm = random_alm(8, shape=(3,))
    for given in (alm[0], alm, list(alm), alm.astype(np.complex64)):
        ours, theirs = tmp_path / "ours.fits", tmp_path / "theirs.fits"
        hp.write_alm(ours, given, overwrite=True, **options)
        healpy.write_alm(theirs, given, overwrite=True, **options)
        for hdu in (1, [1]) if np.ndim(given) == 1 else (1, [1], 2, (1, 2, 3)):
            for return_mmax in (False, True):
                expected = healpy.read_alm(theirs, hdu, return_mmax)
                for found in (hp.read_alm(theirs, hdu, return_mmax), hp.read_alm(ours, hdu, return_mmax),
                              healpy.read_alm(ours, hdu, return_mmax)):
                    same_values(found[0] if return_mmax else found, expected[0] if return_mmax else expected)
                    assert not return_mmax or found[1] == expected[1]
        if np.ndim(given) > 1:
            own, lmax, _ = zonal.io.read_alm(ours)
            assert lmax == options.get("lmax", 8)
            np.testing.assert_array_equal(own, hp.read_alm(ours, (1, 2, 3)))


def test_coefficients_up_to_an_mmax(tmp_path):
    alm = np.arange(hp.Alm.getsize(8, 3)) + 0j
    hp.write_alm(tmp_path / "alm.fits", alm, mmax_in=3)
    same_values(hp.read_alm(tmp_path / "alm.fits", return_mmax=True), (alm, 3))
    for options, match in (({"lmax": 9}, "lmax = 9: must be at most 8"), ({"mmax": 4}, "mmax = 4: must be at most 3"),
                           ({"lmax": 2, "mmax": 3}, "mmax = 3: must be at most 2")):
        with pytest.raises(ValueError, match=match):
            hp.write_alm(tmp_path / "more.fits", alm, mmax_in=3, **options)
    with pytest.raises(OSError, match="no HDU 2"):
        hp.read_alm(tmp_path / "alm.fits", 2)
    hp.write_map(tmp_path / "sky.fits", np.zeros((3, 12)))
    with pytest.raises(OSError, match="l\\^2"):
        hp.read_alm(tmp_path / "sky.fits")


@pytest.mark.parametrize("options", [{}, {"dtype": np.float32}, {"column_units": "K"},
                                     {"extra_header": [("X", 1, "y")]}])
def test_spectra(tmp_path, options):
    cl = 1 / np.arange(1.0, 10)
    for given in (cl, [cl], [cl, 2 * cl], [cl * i for i in range(4)], np.outer(np.arange(6), cl),
                  [cl * i for i in range(9)], cl.astype(np.float32)):
        ours, theirs = tmp_path / "ours.fits", tmp_path / "theirs.fits"
        hp.write_cl(ours, given, overwrite=True, **options)
        healpy.write_cl(theirs, given, overwrite=True, **options)
        for path in (ours, theirs):
            same_values(hp.read_cl(path), healpy.read_cl(theirs))
        same_values(healpy.read_cl(ours), healpy.read_cl(theirs))
        assert hp.read_cl(theirs).dtype.isnative
    with pytest.raises(OSError, match="overwrite"):
        hp.write_cl(ours, cl)
    with pytest.raises(ValueError, match="column_names: has 1"):
        hp.write_cl(ours, [cl, cl], column_names=["A"], overwrite=True)
    with pytest.raises(ValueError, match="one length"):
        hp.write_cl(ours, [cl, cl[:4]], overwrite=True)


def test_columns_of_spectra_have_the_names_of_what_they_hold(tmp_path):
    cl = np.outer(np.arange(1, 7), np.ones(9))
    hp.write_cl(tmp_path / "cl.fits", cl)
    named = zonal.io.read_cl(tmp_path / "cl.fits")
    for name, expected in zip(("TT", "EE", "BB", "TE", "EB", "TB"), cl):
        np.testing.assert_array_equal(named[name], expected)


def test_formats_of_types():
    for value in (np.float32, np.float64, np.int16, np.int32, np.int64, np.uint8, bool, np.complex64, np.complex128,
                  str, "CCC", "f4", float, int, [1.0, 2.0], False, [False], ["DD", "CCC"]):
        assert fitsfunc.getformat(value) == healpy.fitsfunc.getformat(value)
    with pytest.raises(ValueError, match="uint16"):
        fitsfunc.getformat(np.uint16)


def test_without_astropy_files_say_what_is_missing(tmp_path):
    code = """
import sys
sys.modules["astropy"] = None
import zonal.healpy
try:
    zonal.healpy.read_map("sky.fits")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "astropy" in done.stdout and "zonal.io" in done.stdout


def test_paths_may_be_objects(tmp_path):
    path = pathlib.Path(tmp_path) / "cl.fits"
    hp.write_cl(path, np.ones(5))
    same_values(hp.read_cl(str(path)), np.ones(5))


@pytest.mark.parametrize("column", [np.float64, np.float32])
def test_bad_pixels_of_files_equal_unseen(tmp_path, column):
    path = tmp_path / "map.fits"
    for bad in (hp.UNSEEN, np.float64(np.float32(hp.UNSEEN)), hp.UNSEEN * (1 + 9e-6), hp.UNSEEN * (1 + 2e-5)):
        sky = np.arange(768.0).astype(column)
        sky[5:50] = bad
        table = fits.BinTableHDU.from_columns([fits.Column("T", "D" if column == np.float64 else "E", array=sky)])
        table.header.update(NSIDE=8, ORDERING="RING")
        fits.HDUList([fits.PrimaryHDU(), table]).writeto(path, overwrite=True)
        for options in ({}, {"dtype": np.float64}, {"dtype": np.float32}, {"nest": True}):
            found, expected = (module.read_map(path, **options) for module in (hp, healpy))
            assert (found == hp.UNSEEN).sum() == (expected == hp.UNSEEN).sum()
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("nside", [8, 8.0, "8", " 8"])
def test_nside_may_be_written_as_text_or_a_float(nside, tmp_path):
    path, map = tmp_path / "map.fits", np.arange(768.0)
    healpy.write_map(path, map, dtype=np.float64)
    fits.setval(path, "NSIDE", value=nside, ext=1)
    np.testing.assert_array_equal(hp.read_map(path), map)
    fits.setval(path, "NSIDE", value="eight", ext=1)
    with pytest.raises(OSError, match="NSIDE = 'eight': must be an integer"):
        hp.read_map(path)
