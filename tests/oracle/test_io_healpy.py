"""Files that healpy writes are read by Zonal, and files that Zonal writes are read by healpy, with the same numbers."""
import pathlib

import healpy as hp
import numpy as np
import pytest
from astropy.io import fits

import zonal.io

ROOT = pathlib.Path(__file__).parents[2]
HEALPY_DATA = pathlib.Path(hp.__file__).parent / "data"
pytestmark = pytest.mark.filterwarnings("ignore::zonal.ZonalWarning")  # of what files of healpy leave out


@pytest.fixture
def path(tmp_path):
    return tmp_path / "in.fits"


def copied(path):
    """Another file with the map."""
    copy = path.with_name(f"copy_of_{path.name}")
    zonal.io.write_map(copy, zonal.io.read_map(path))
    return copy


def sky(nside, dtype, seed=1):
    """I, Q, U with pixels that are unseen."""
    maps = np.random.default_rng(seed).standard_normal((3, 12 * nside**2)).astype(dtype)
    maps[:, :: 7] = hp.UNSEEN
    return maps


def in_ring_order(maps, nest):
    return hp.reorder(maps, n2r=True) if nest else maps


def assert_same(actual, expected):
    np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))


kinds_of_maps = pytest.mark.parametrize("nside, nest, dtype", [(nside, nest, dtype) for nside in (1, 8, 16) for nest in (False, True)
                                                               for dtype in (np.float32, np.float64)])


@kinds_of_maps
def test_reads_maps_of_healpy(path, nside, nest, dtype):
    maps = sky(nside, dtype)
    hp.write_map(path, maps, nest=nest, dtype=dtype, coord="G", column_units="uK")
    found = zonal.io.read_map(path)
    assert (found.nside, found.nest_in_file, found.coordinates, found.partial) == (nside, nest, "galactic", False)
    assert (found.pol, found.single, found.units) == (True, dtype == np.float32, ["uK"] * 3)
    assert found.columns == ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"]
    expected = in_ring_order(maps, nest)
    seen = expected != dtype(hp.UNSEEN)
    assert_same(found.values[seen], expected[seen])
    assert_same(found.values[~seen], hp.UNSEEN)  # exactly, also where the file has its float


@kinds_of_maps
def test_healpy_reads_maps_as_it_wrote_them(path, nside, nest, dtype):
    hp.write_map(path, sky(nside, dtype), nest=nest, dtype=dtype, coord="E", column_units="mK")
    copy = copied(path)
    for order in (None, False, True):
        before, header = hp.read_map(path, field=None, nest=order, h=True)
        after, new_header = hp.read_map(copy, field=None, nest=order, h=True)
        assert after.dtype == dtype
        assert_same(after, before)
    header, new_header = dict(header), dict(new_header)
    for key in ("ORDERING", "COORDSYS", "NSIDE", "INDXSCHM", "OBJECT", "TUNIT2", "TTYPE3", "FIRSTPIX", "LASTPIX"):
        assert new_header[key] == header[key], key
    fits.open(copy).verify("exception")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nest", [False, True])
def test_partial_skies(path, nest, dtype):
    maps = sky(16, dtype)
    hp.write_map(path, maps, nest=nest, dtype=dtype, partial=True)
    found = zonal.io.read_map(path)
    assert found.partial and found.is_part
    expected, (pixels, values) = in_ring_order(maps, nest), found.own()
    assert_same(pixels, np.flatnonzero(expected[0] != dtype(hp.UNSEEN)))
    assert_same(values, expected[:, pixels])
    copy = copied(path)
    for order in (None, False, True):
        assert_same(hp.read_map(copy, field=None, nest=order), hp.read_map(path, field=None, nest=order))


def test_float_to_double_keeps_values(tmp_path, path):
    maps = sky(4, np.float32)
    hp.write_map(path, maps, dtype=np.float32)
    zonal.io.write_map(tmp_path / "out.fits", zonal.io.read_map(path), single=False)
    after = hp.read_map(tmp_path / "out.fits", field=None)
    assert after.dtype == np.float64
    assert_same(after.astype(np.float32), maps)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_reads_integer_masks_of_healpy(path, dtype):
    mask = (np.arange(3072) % 3 == 0).astype(dtype)
    hp.write_map(path, mask, dtype=dtype)
    assert_same(zonal.io.read_map(path).values[0], mask)


def test_healpy_reads_gzipped_maps(tmp_path):
    maps = sky(16, np.float64)
    hp.write_map(tmp_path / "in.fits.gz", maps)
    assert_same(zonal.io.read_map(tmp_path / "in.fits.gz"), maps)
    assert_same(hp.read_map(copied(tmp_path / "in.fits.gz"), field=None), maps)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("lmax, mmax", [(0, 0), (5, 5), (40, 17)])
@pytest.mark.parametrize("components", [1, 3])
def test_alm(tmp_path, path, components, lmax, mmax, dtype):
    rng, shape = np.random.default_rng(2), (components, hp.Alm.getsize(lmax, mmax))
    alm = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    hp.write_alm(path, alm if components > 1 else alm[0], lmax=lmax, mmax=mmax, mmax_in=mmax)
    found, *limits = zonal.io.read_alm(path)
    assert limits == [lmax, mmax]
    assert_same(np.atleast_2d(found), alm)
    zonal.io.write_alm(tmp_path / "out.fits", found.astype(dtype), lmax, mmax)
    back, back_mmax = hp.read_alm(tmp_path / "out.fits", hdu=tuple(range(1, components + 1)), return_mmax=True)
    assert back_mmax == mmax
    assert_same(np.atleast_2d(back), alm)
    with fits.open(tmp_path / "out.fits") as file:
        assert file[1].columns["REAL"].format == ("E" if dtype == np.complex64 else "D")


def test_cl_of_healpy_in_healpy_order(path):
    """The order of anafast: TT, EE, BB, TE, EB, TB."""
    rng = np.random.default_rng(3)
    alm = [rng.standard_normal(hp.Alm.getsize(8)) + 0j for _ in range(3)]
    hp.write_cl(path, hp.alm2cl(alm))
    found = zonal.io.read_cl(path)
    for name, (i, j) in {"TT": (0, 0), "EE": (1, 1), "BB": (2, 2), "TE": (0, 1), "EB": (1, 2), "TB": (0, 2)}.items():
        assert_same(found[name], hp.alm2cl(alm[i], alm[j]))


@pytest.mark.parametrize("count", [1, 4, 6])
def test_cl_in_f90_order(tmp_path, path, count):
    cl = np.random.default_rng(4).standard_normal((count, 30))
    hp.write_cl(path, cl if count > 1 else cl[0])
    zonal.io.write_cl(tmp_path / "out.fits", zonal.io.read_cl(path))
    back = np.atleast_2d(hp.read_cl(tmp_path / "out.fits"))
    # TT, EE, BB, TE, then TB before EB, as F90 has it.
    assert_same(back, cl[[0, 1, 2, 3, 5, 4][:count]])
    with fits.open(tmp_path / "out.fits") as file:
        assert file[1].columns.names == ["TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G"][:count]
        assert file[1].header["CREATOR"] == "zonal"
    # Zonal's own file is not taken for one of healpy's.
    assert_same(zonal.io.read_cl(tmp_path / "out.fits")["TT"], cl[0])


def test_theory_cl():
    path = ROOT / "data/theory/planck2018_lcdm_cl_v3.fits"
    found = zonal.io.read_cl(path)
    assert_same([found[name] for name in ("TT", "EE", "BB", "TE")], hp.read_cl(path))


@pytest.mark.parametrize("nside", [2, 64, 1024])
def test_pixel_window(nside):
    path = ROOT / f"data/healpix/pixel_window_n{nside:04d}.fits"
    temperature, gradient, _ = zonal.io.read_beam(path, pixel_window=True)
    table = fits.getdata(path)
    assert_same(temperature, table["TEMPERATURE"])
    assert_same(gradient, table["POLARIZATION"])


def test_ring_weights_of_healpix():
    path = HEALPY_DATA / "weight_ring_n00032.fits"
    north = 1 + fits.getdata(path).field(0)
    assert_same(zonal.io.quadrature_weights(32, path), [*north, *north[-2::-1]])


@pytest.mark.parametrize("name", ["wmap_W_smoothed10deg_healpix_f90.fits", "wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits",
                                  "wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked.fits"])
def test_real_maps(tmp_path, name):
    path = ROOT / "data/wmap" / name
    zonal.io.write_map(tmp_path / "out.fits", zonal.io.read_map(path))
    assert_same(hp.read_map(tmp_path / "out.fits", field=None), hp.read_map(path, field=None))


def test_fermi_counts_cube():
    path = ROOT / "data/fermi/fermi_3fhl_counts_cube_hpx.fits.gz"
    found, table = zonal.io.read_map(path), fits.getdata(path, 1)
    assert (found.nside, found.nest_in_file, found.coordinates, found.partial) == (64, False, "equatorial", False)
    assert (found.pol, found.single) == (False, False)
    assert found.columns == [f"CHANNEL{i}" for i in range(1, 18)]
    assert_same(found.values, [table.field(i) for i in range(17)])
