"""Files that healpy writes are read by Zonal, and files that Zonal writes are read by healpy, with the same numbers.

Zonal is driven through zonal_io_tool, which stands beside the program that $ZONAL names (default build/bin/zonal).
"""
import os
import pathlib
import subprocess

import healpy as hp
import numpy as np
import pytest
from astropy.io import fits

ROOT = pathlib.Path(__file__).parents[2]
TOOL = pathlib.Path(os.environ.get("ZONAL_IO_TOOL") or
                    pathlib.Path(os.environ.get("ZONAL", ROOT / "build/bin/zonal")).parent / "zonal_io_tool")
HEALPY_DATA = pathlib.Path(hp.__file__).parent / "data"


def run(*words):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dump(kind, path):
    """Facts as a dict, then (name, values) for each line."""
    lines = run("dump", kind, path).splitlines()
    facts = dict(word.split("=") for word in lines[0].split())
    rows = []
    for line in lines[1:]:
        name, *values = line.split(" ")
        rows.append((name, np.array(values, dtype=float)))
    return facts, rows


def sky(nside, dtype, seed=1):
    """I, Q, U with pixels that are unseen."""
    maps = np.random.default_rng(seed).standard_normal((3, 12 * nside**2)).astype(dtype)
    maps[:, :: 7] = hp.UNSEEN
    return maps


def assert_same(actual, expected):
    np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nest", [False, True])
@pytest.mark.parametrize("nside", [1, 8, 16])
def test_reads_maps_of_healpy(tmp_path, nside, nest, dtype):
    maps = sky(nside, dtype)
    hp.write_map(tmp_path / "in.fits", maps, nest=nest, dtype=dtype, coord="G", column_units="uK")
    facts, columns = dump("map", tmp_path / "in.fits")
    assert facts == {"nside": str(nside), "nest": str(int(nest)), "coordinates": "galactic", "partial": "0"}
    assert [name for name, _ in columns] == [f"{name}|uK|{np.dtype(dtype).name}|{stokes}" for name, stokes in
                                             (("TEMPERATURE", "I"), ("Q_POLARISATION", "Q"), ("U_POLARISATION", "U"))]
    for (_, values), expected in zip(columns, maps):
        seen = expected != dtype(hp.UNSEEN)
        assert_same(values[seen], expected[seen])
        # Exactly UNSEEN also where the file has its float.
        assert_same(values[~seen], np.full((~seen).sum(), hp.UNSEEN))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nest", [False, True])
@pytest.mark.parametrize("nside", [1, 8, 16])
def test_healpy_reads_maps_as_it_wrote_them(tmp_path, nside, nest, dtype):
    hp.write_map(tmp_path / "in.fits", sky(nside, dtype), nest=nest, dtype=dtype, coord="E", column_units="mK")
    run("copy", "map", tmp_path / "in.fits", tmp_path / "out.fits")
    for order in (None, False, True):
        before, header = hp.read_map(tmp_path / "in.fits", field=None, nest=order, h=True)
        after, new_header = hp.read_map(tmp_path / "out.fits", field=None, nest=order, h=True)
        assert after.dtype == dtype
        assert_same(after, before)
    header, new_header = dict(header), dict(new_header)
    for key in ("ORDERING", "COORDSYS", "NSIDE", "INDXSCHM", "OBJECT", "TUNIT2", "TTYPE3", "FIRSTPIX", "LASTPIX"):
        assert new_header[key] == header[key], key
    fits.open(tmp_path / "out.fits").verify("exception")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nest", [False, True])
def test_partial_skies(tmp_path, nest, dtype):
    maps = sky(16, dtype)
    hp.write_map(tmp_path / "in.fits", maps, nest=nest, dtype=dtype, partial=True)
    facts, columns = dump("map", tmp_path / "in.fits")
    assert facts["partial"] == "1"
    pixels = columns[0][1].astype(int)
    assert_same(pixels, np.flatnonzero(maps[0] != dtype(hp.UNSEEN)))
    assert_same(columns[3][1], maps[2][pixels])
    run("copy", "map", tmp_path / "in.fits", tmp_path / "out.fits")
    for order in (None, False, True):
        assert_same(hp.read_map(tmp_path / "out.fits", field=None, nest=order),
                    hp.read_map(tmp_path / "in.fits", field=None, nest=order))


def test_float_to_double_keeps_values(tmp_path):
    maps = sky(4, np.float32)
    hp.write_map(tmp_path / "in.fits", maps, dtype=np.float32)
    run("copy-double", "map", tmp_path / "in.fits", tmp_path / "out.fits")
    after = hp.read_map(tmp_path / "out.fits", field=None)
    assert after.dtype == np.float64
    assert_same(after.astype(np.float32), maps)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_reads_integer_masks_of_healpy(tmp_path, dtype):
    mask = (np.arange(3072) % 3 == 0).astype(dtype)
    hp.write_map(tmp_path / "in.fits", mask, dtype=dtype)
    assert_same(dump("map", tmp_path / "in.fits")[1][0][1], mask)


def test_healpy_reads_gzipped_maps(tmp_path):
    maps = sky(16, np.float64)
    hp.write_map(tmp_path / "in.fits.gz", maps)
    assert_same(dump("map", tmp_path / "in.fits.gz")[1][1][1], maps[1])
    run("copy", "map", tmp_path / "in.fits.gz", tmp_path / "out.fits.gz")
    assert_same(hp.read_map(tmp_path / "out.fits.gz", field=None), maps)


def random_alm(lmax, mmax, components, dtype):
    rng = np.random.default_rng(2)
    size = hp.Alm.getsize(lmax, mmax)
    return (rng.standard_normal((components, size)) + 1j * rng.standard_normal((components, size))).astype(dtype)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("lmax, mmax", [(0, 0), (5, 5), (40, 17)])
@pytest.mark.parametrize("components", [1, 3])
def test_alm(tmp_path, components, lmax, mmax, dtype):
    alm = random_alm(lmax, mmax, components, dtype)
    hp.write_alm(tmp_path / "in.fits", alm if components > 1 else alm[0], lmax=lmax, mmax=mmax, mmax_in=mmax)
    facts, rows = dump("alm", tmp_path / "in.fits")
    real = np.float32 if dtype == np.complex64 else np.float64
    assert facts == {"lmax": str(lmax), "mmax": str(mmax), "precision": np.dtype(real).name}
    for (_, values), expected in zip(rows, alm, strict=True):
        assert_same(values[::2] + 1j * values[1::2], expected)
    run("copy", "alm", tmp_path / "in.fits", tmp_path / "out.fits")
    back, back_mmax = hp.read_alm(tmp_path / "out.fits", hdu=tuple(range(1, components + 1)), return_mmax=True)
    assert back_mmax == mmax
    assert_same(np.atleast_2d(back), alm)
    with fits.open(tmp_path / "out.fits") as file:
        assert file[1].columns["REAL"].format == ("E" if real == np.float32 else "D")


def test_cl_of_healpy_in_healpy_order(tmp_path):
    """The order of anafast: TT, EE, BB, TE, EB, TB."""
    rng = np.random.default_rng(3)
    alm = [rng.standard_normal(hp.Alm.getsize(8)) + 0j for _ in range(3)]
    hp.write_cl(tmp_path / "in.fits", hp.alm2cl(alm))
    rows = dict(dump("cl", tmp_path / "in.fits")[1])
    for name, (i, j) in {"TT": (0, 0), "EE": (1, 1), "BB": (2, 2), "TE": (0, 1), "EB": (1, 2), "TB": (0, 2)}.items():
        assert_same(rows[name], hp.alm2cl(alm[i], alm[j]))


@pytest.mark.parametrize("count", [1, 4, 6])
def test_cl_in_f90_order(tmp_path, count):
    cl = np.random.default_rng(4).standard_normal((count, 30))
    hp.write_cl(tmp_path / "in.fits", cl if count > 1 else cl[0])
    run("copy", "cl", tmp_path / "in.fits", tmp_path / "out.fits")
    back = np.atleast_2d(hp.read_cl(tmp_path / "out.fits"))
    # TT, EE, BB, TE, then TB before EB, as F90 has it.
    assert_same(back, cl[[0, 1, 2, 3, 5, 4][:count]])
    with fits.open(tmp_path / "out.fits") as file:
        assert file[1].columns.names == ["TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G"][:count]
        assert file[1].header["CREATOR"] == "zonal"
    # Zonal's own file is not taken for one of healpy's.
    assert_same(dict(dump("cl", tmp_path / "out.fits")[1])["TT"], cl[0])


def test_theory_cl():
    path = ROOT / "data/theory/planck2018_lcdm_cl_v3.fits"
    rows = dict(dump("cl", path)[1])
    assert_same([rows[name] for name in ("TT", "EE", "BB", "TE")], hp.read_cl(path))


@pytest.mark.parametrize("nside", [2, 64, 1024])
def test_pixel_window(nside):
    path = ROOT / f"data/healpix/pixel_window_n{nside:04d}.fits"
    rows = dict(dump("window", path)[1])
    table = fits.getdata(path)
    assert_same(rows["T"], table["TEMPERATURE"])
    assert_same(rows["E"], table["POLARIZATION"])


def test_ring_weights_of_healpix(tmp_path):
    path = HEALPY_DATA / "weight_ring_n00032.fits"
    facts, ((kind, values),) = dump("weights", path)
    assert facts["nside"] == "32" and kind == "ring"
    assert_same(values, fits.getdata(path).field(0))
    run("copy", "weights", path, tmp_path / "weight_ring_n00032.fits")
    # healpy transforms with the copy as with its own.
    maps = sky(32, np.float64)[0]
    own = hp.map2alm(maps, use_weights=True, iter=0)
    assert_same(hp.map2alm(maps, use_weights=True, iter=0, datapath=str(tmp_path)), own)


def test_healpy_uses_pixel_weights(tmp_path):
    """Weights of deviation 0 change nothing: healpy accepts the file and its size."""
    (tmp_path / "full_weights").mkdir()
    path = tmp_path / "full_weights" / "healpix_full_weights_nside_0032.fits"
    columns = [fits.Column(name="COMPRESSED PIXEL WEIGHTS", format="D", array=np.zeros(800))]
    hdu = fits.BinTableHDU.from_columns(columns)
    hdu.header["NSIDE"], hdu.header["MAX_LPOL"] = 32, 48
    hdu.writeto(tmp_path / "in.fits")
    run("copy", "weights", tmp_path / "in.fits", path)
    maps = np.random.default_rng(5).standard_normal(12288)
    assert_same(hp.map2alm(maps, use_pixel_weights=True, datapath=str(tmp_path)), hp.map2alm(maps, iter=0))


@pytest.mark.parametrize("name", ["wmap_W_smoothed10deg_healpix_f90.fits", "wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits",
                                  "wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked.fits"])
def test_real_maps(tmp_path, name):
    path = ROOT / "data/wmap" / name
    run("copy", "map", path, tmp_path / "out.fits")
    assert_same(hp.read_map(tmp_path / "out.fits", field=None), hp.read_map(path, field=None))


def test_fermi_counts_cube(tmp_path):
    path = ROOT / "data/fermi/fermi_3fhl_counts_cube_hpx.fits.gz"
    facts, columns = dump("map", path)
    assert facts == {"nside": "64", "nest": "0", "coordinates": "equatorial", "partial": "0"}
    table = fits.getdata(path, 1)
    assert len(columns) == 17
    for i, (name, values) in enumerate(columns):
        assert name == f"CHANNEL{i + 1}||float64|none"
        assert_same(values, table.field(i))
