"""zonal rotate, udgrade, convert, weights, info, compare, plot."""

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import DATA, EPS, UNSEEN, assert_close, call, header

PLANCK = DATA / "theory" / "planck2018_lcdm_cl_v3.fits"


def read(path, **options):
    return np.atleast_2d(healpy.read_map(path, field=None, dtype=np.float64, **options))


# --- rotate


@pytest.mark.parametrize("to", ["E", "C"])
def test_rotate_agrees_with_healpy_and_turns_q_and_u(sky, zonal, tmp_path, to):
    zonal("rotate", "sky.fits", "out.fits", "--to", to, "--lmax", "32", "--tolerance", "1e-12")
    assert header(tmp_path / "out.fits")["COORDSYS"][0] == to
    alm = healpy.map2alm(sky, lmax=32, iter=20)
    healpy.Rotator(coord=["G", to]).rotate_alm(alm, inplace=True)
    expected = healpy.alm2map(alm, 16, lmax=32)
    # healpy's matrices of the coordinates have 9 digits
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_rotate_there_and_back(sky, zonal, tmp_path):
    common = ("--lmax", "32", "--tolerance", "1e-12")
    zonal("rotate", "sky.fits", "there.fits", "--to", "equatorial", *common)
    zonal("rotate", "there.fits", "back.fits", "--to", "galactic", *common)
    assert_close(read(tmp_path / "back.fits"), sky, rtol=0, atol=1e-9 * np.abs(sky).max())


def test_rotate_by_euler_angles_agrees_with_healpy(sky, zonal, tmp_path):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "32")
    zonal("rotate", "alm.fits", "out.fits", "--euler=-10deg,25deg,300arcmin")
    for hdu in (1, 2, 3):
        alm = healpy.read_alm(tmp_path / "alm.fits", hdu=hdu)
        healpy.rotate_alm(alm, *np.radians([-10, 25, 5]))
        assert_close(healpy.read_alm(tmp_path / "out.fits", hdu=hdu), alm, rtol=0,
                     atol=1e-11 * np.abs(alm).max())


def test_rotate_needs_to_know_where_from(sky, fails, zonal, tmp_path):
    healpy.write_map(tmp_path / "plain.fits", sky, dtype=np.float64)
    assert "--from" in fails(2, "rotate", "plain.fits", "out.fits", "--to", "C")
    assert "--from" in fails(2, "rotate", "sky.fits", "out.fits", "--to", "C", "--from", "E")
    zonal("rotate", "plain.fits", "out.fits", "--to", "C", "--from", "G")


def test_unseen_pixels_turn_with_the_map(sky, zonal, tmp_path):
    holes = sky[0].copy()
    vector = healpy.ang2vec(30, 40, lonlat=True)
    disc = healpy.query_disc(16, vector, np.radians(20))
    holes[disc] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", holes, dtype=np.float64, coord="G")
    zonal("rotate", "holes.fits", "out.fits", "--to", "C")
    out = read(tmp_path / "out.fits")[0]
    turned = healpy.Rotator(coord=["G", "C"])(vector)
    distance = np.degrees(np.arccos(np.clip(np.dot(turned, healpy.pix2vec(16, np.arange(3072))), -1, 1)))
    assert (out[distance < 15] == UNSEEN).all() and (out[distance > 25] != UNSEEN).all()


@pytest.mark.parametrize("value, system", [("G", "galactic"), ("galactic", "galactic"), ("ECL", "ecliptic"), ("E", "ecliptic"),
                                           ("C", "equatorial"), ("Q", "equatorial"), ("EQUATORIAL", "equatorial"),
                                           ("celestial", "equatorial"), ("EQU", "equatorial")])
def test_coordsys_values(sky, zonal, tmp_path, value, system):
    fits.setval(tmp_path / "sky.fits", "COORDSYS", value=value, ext=1)
    assert zonal("info", "sky.fits")["hdus"][1]["coordinates"] == system


def test_unknown_coordsys_is_said_and_can_be_set(sky, fails, tmp_path):
    fits.setval(tmp_path / "sky.fits", "COORDSYS", value="MARS", ext=1)
    assert "--from" in fails(2, "rotate", "sky.fits", "out.fits", "--to", "G")
    result = call("convert", "sky.fits", "out.fits", "--set-coordsys", "G", cwd=tmp_path)
    assert result.code == 0 and "COORDSYS = 'MARS' is no system of coordinates that is known" in result.err
    assert header(tmp_path / "out.fits")["COORDSYS"][0] == "G"


# --- udgrade


def test_udgrade_averages_good_pixels_as_healpy(sky, zonal, tmp_path):
    holes = sky[0].copy()
    holes[np.random.default_rng(2).integers(0, 3072, 900)] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", holes, dtype=np.float64)
    for nside in (4, 16, 64):
        for option, pessimistic in (((), False), (("--pessimistic",), True)):
            zonal("udgrade", "holes.fits", "out.fits", "--nside", nside, "--overwrite", *option)
            expected = healpy.ud_grade(holes, nside, pess=pessimistic)
            assert_close(read(tmp_path / "out.fits")[0], expected, rtol=1e-14, atol=1e-14 * np.abs(sky[0]).max())


def test_udgrade_sum_keeps_counts(zonal, tmp_path):
    counts = np.random.default_rng(3).poisson(5, 3072).astype(float)
    healpy.write_map(tmp_path / "counts.fits", counts, dtype=np.float64)
    for nside in (4, 32):
        zonal("udgrade", "counts.fits", "out.fits", "--nside", nside, "--combine", "sum", "--overwrite")
        out = read(tmp_path / "out.fits")[0]
        assert out.sum() == pytest.approx(counts.sum(), rel=1e-14)
        assert_close(out, healpy.ud_grade(counts, nside, power=-2), rtol=1e-14)


def test_udgrade_says_that_q_and_u_are_not_transported(sky, zonal):
    assert any("parallel transport" in note for note in zonal("udgrade", "sky.fits", "out.fits", "--nside", "4")["notes"])
    assert "parallel transport" in " ".join(call("udgrade", "--help").out.split())


# --- convert


def test_convert_between_ring_and_nest(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "nest.fits", "--order", "nest")
    np.testing.assert_array_equal(read(tmp_path / "nest.fits", nest=True), [healpy.reorder(m, r2n=True) for m in sky])
    zonal("convert", "nest.fits", "ring.fits", "--order", "ring")
    np.testing.assert_array_equal(read(tmp_path / "ring.fits"), sky)


def test_convert_between_float_and_double(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "float.fits", "--precision", "float")
    assert header(tmp_path / "float.fits")["TFORM1"].endswith("E")
    np.testing.assert_array_equal(read(tmp_path / "float.fits"), np.array(sky, dtype=np.float32))
    zonal("convert", "float.fits", "double.fits", "--precision", "double")
    assert header(tmp_path / "double.fits")["TFORM1"].endswith("D")


def test_set_coordsys_only_relabels(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "out.fits", "--set-coordsys", "ecliptic")
    assert header(tmp_path / "out.fits")["COORDSYS"][0] == "E"
    np.testing.assert_array_equal(read(tmp_path / "out.fits"), sky)


def test_polarisation_convention_is_converted(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "iau.fits", "--polcconv", "iau")
    raw = np.array([fits.getdata(tmp_path / "iau.fits").field(i).ravel() for i in range(3)])
    np.testing.assert_array_equal(raw, [sky[0], sky[1], -sky[2]])
    zonal("convert", "iau.fits", "cosmo.fits", "--polcconv", "cosmo")
    np.testing.assert_array_equal(read(tmp_path / "cosmo.fits"), sky)


def test_partial_and_full_sky(sky, zonal, tmp_path):
    holes = sky[0].copy()
    holes[100:2500] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", holes, dtype=np.float64)
    zonal("convert", "holes.fits", "part.fits", "--partial", "--order", "nest")
    assert fits.getdata(tmp_path / "part.fits").shape == (672,)
    np.testing.assert_array_equal(read(tmp_path / "part.fits")[0], holes)
    zonal("convert", "part.fits", "full.fits", "--full", "--order", "ring")
    np.testing.assert_array_equal(fits.getdata(tmp_path / "full.fits").field(0).ravel(), holes)
    zonal("convert", "part.fits", "ring.fits", "--order", "ring")
    assert fits.getdata(tmp_path / "ring.fits").shape == (672,)
    np.testing.assert_array_equal(read(tmp_path / "ring.fits")[0], holes)


def test_car_and_back(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "car.fits", "--car", "70x140", "--lmax", "32", "--tolerance", "1e-12")
    zonal("convert", "car.fits", "back.fits", "--nside", "16", "--lmax", "32", "--iter", "0")
    assert_close(read(tmp_path / "back.fits"), sky, rtol=0, atol=1e-9 * np.abs(sky).max())


# --- weights


def test_ring_weights_are_healpix_weights(zonal, tmp_path, monkeypatch):
    report = zonal("weights", "weight_ring_n00016.fits", "--nside", "16", "--ring")
    assert report["count"] == 32
    deviations = fits.getdata(tmp_path / "weight_ring_n00016.fits").field(0).ravel()
    ring = healpy.pix2ring(16, np.arange(3072))
    weights = 1 + deviations[np.minimum(ring, 64 - ring) - 1]
    z = healpy.pix2vec(16, np.arange(3072))[2]
    for l in range(2, 49, 2):  # int P_l = 0
        legendre = np.polynomial.legendre.legval(z, np.eye(l + 1)[l])
        assert abs(np.mean(weights * legendre)) < 48 * EPS, l  # of up to 48 steps of the recurrence


def test_pixel_weights_serve_healpy(zonal, tmp_path):
    (tmp_path / "full_weights").mkdir()
    name = "full_weights/healpix_full_weights_nside_0016.fits"
    zonal("weights", name, "--nside", "16", "--pixel")
    rng = np.random.default_rng(5)
    size = healpy.Alm.getsize(20)
    alm = rng.normal(size=size) + 1j * rng.normal(size=size)
    alm[:21] = alm[:21].real
    sky = healpy.alm2map(alm, 16, lmax=20)
    found = healpy.map2alm(sky, lmax=20, use_pixel_weights=True, datapath=str(tmp_path))
    # the product of two fields up to l = 20 is within 2.5 nside = 40, where the quadrature is exact
    assert_close(found, alm, rtol=0, atol=1e-11)


def test_ring_weights_serve_healpy(zonal, tmp_path):
    """healpy reads them from a folder, as its own."""
    nside, lmax = 16, 24
    zonal("weights", f"weight_ring_n{nside:05d}.fits", "--nside", str(nside), "--ring")
    sky = np.random.default_rng(7).normal(size=12 * nside**2)
    healpy.write_map(tmp_path / "noise.fits", sky, dtype=np.float64)
    found = healpy.map2alm(sky, lmax=lmax, iter=0, use_weights=True, datapath=str(tmp_path))
    zonal("map2alm", "noise.fits", "alm.fits", "--lmax", str(lmax), "--iter", "0", "--weights", f"weight_ring_n{nside:05d}.fits", "--precision", "double")
    ours = healpy.read_alm(tmp_path / "alm.fits")
    # Sums over rings by other recurrences: 4 lmax roundings of the largest.
    assert_close(found, ours, rtol=0, atol=4 * lmax * EPS * np.abs(ours).max())
    plain = healpy.map2alm(sky, lmax=lmax, iter=0)
    assert np.abs(found - plain).max() > 1e-4 * np.abs(plain).max()  # they were used


def test_weights_go_to_the_cache_folder(zonal, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    report = zonal("weights", "--nside", "8", "--ring")
    assert report["output"] == str(tmp_path / "cache" / "zonal" / "weight_ring_n00008.fits")
    zonal("weights", "--nside", "8", "--ring", "--overwrite")


# --- info, compare


def test_info_counts_and_describes(sky, zonal, tmp_path):
    values = sky[0].copy()
    values[:5] = UNSEEN
    values[10] = np.nan
    healpy.write_map(tmp_path / "map.fits", values, dtype=np.float64, column_units="uK", coord="C")
    report = zonal("info", "map.fits")
    hdu = report["hdus"][1]
    assert report["kind"] == "map" and hdu["nside"] == 16 and hdu["ordering"] == "ring"
    assert hdu["coordinates"] == "equatorial" and hdu["sky"] == "full"
    column = hdu["columns"][0]
    good = np.delete(values, [0, 1, 2, 3, 4, 10])
    assert (column["unseen"], column["nan"], column["unit"]) == (5, 1, "uK")
    assert column["min"] == good.min() and column["max"] == good.max() and column["mean"] == pytest.approx(good.mean(), rel=np.sqrt(good.size) * EPS, abs=0)
    text = call("info", "map.fits", cwd=tmp_path)
    assert text.code == 0 and "nside" in text.out and "uK" in text.out


def test_info_of_every_kind_of_file(sky, zonal, tmp_path):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "20")
    zonal("weights", "w.fits", "--nside", "4", "--ring")
    np.savetxt(tmp_path / "beam.txt", np.ones(20))
    assert zonal("info", PLANCK)["kind"] == "spectrum"
    assert zonal("info", "alm.fits")["lmax"] == 20
    assert zonal("info", "w.fits")["kind"] == "weights"
    assert zonal("info", "beam.txt")["kind"] == "window"
    assert zonal("info", DATA / "healpix" / "pixel_window_n0016.fits")["kind"] == "window"
    assert len(zonal("info", DATA / "fermi" / "fermi_3fhl_counts_cube_hpx.fits.gz")["hdus"][1]["columns"]) == 17


def test_compare_finds_the_largest_difference(sky, zonal, tmp_path):
    other = np.array(sky)
    other[1][77] += 3
    healpy.write_map(tmp_path / "other.fits", other, dtype=np.float64, nest=False)
    columns = zonal("compare", "sky.fits", "other.fits")["columns"]
    assert columns[0]["max_difference"] == 0
    assert columns[1]["max_difference"] == pytest.approx(3) and columns[1]["at_ring_pixel"] == 77


# --- plot


def png_size(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


@pytest.mark.parametrize("options", [[], ["--projection", "gnomonic", "--centre=-30deg,20deg", "--size", "30deg"],
                                     ["--field", "2", "--range=-1,1", "--cmap", "coolwarm"], ["--log"],
                                     ["--title", "a sky", "--no-colorbar", "--no-graticule"]])
def test_plot_of_a_map(sky, zonal, tmp_path, options):
    zonal("plot", "sky.fits", "map.png", "--width", "400", *options)
    assert png_size(tmp_path / "map.png")[0] == 400


def test_plot_of_spectra(zonal, tmp_path):
    zonal("plot", PLANCK, "cl.png", "--width", "600", "--lmax", "2000")
    assert png_size(tmp_path / "cl.png")[0] == 600


# --- columns and pixels that are no fields or numbers


@pytest.fixture
def observed(tmp_path):
    """I, Q, U, N_OBS, II_COV of nside 16."""
    columns = np.random.default_rng(5).uniform(1, 2, (5, 3072))
    healpy.write_map(tmp_path / "observed.fits", columns, dtype=np.float64,
                     column_names=["I_STOKES", "Q_STOKES", "U_STOKES", "N_OBS", "II_COV"])
    return columns


def test_convert_carries_hits_and_covariances(observed, zonal, tmp_path):
    zonal("convert", "observed.fits", "nest.fits", "--order", "nest")
    np.testing.assert_array_equal(read(tmp_path / "nest.fits"), observed)


def test_udgrade_sums_hits_and_refuses_covariances(observed, zonal, fails, tmp_path):
    assert "column II_COV" in fails(2, "udgrade", "observed.fits", "out.fits", "--nside", "8")
    zonal("udgrade", "observed.fits", "out.fits", "--nside", "8", "--field", "I,Q,U,N_OBS")
    out = read(tmp_path / "out.fits")
    np.testing.assert_allclose(out[:3], healpy.ud_grade(observed[:3], 8), rtol=1e-14)
    np.testing.assert_allclose(out[3], healpy.ud_grade(observed[3], 8, power=-2), rtol=1e-14)


def test_what_is_left_out_is_said(observed, zonal):
    notes = zonal("anafast", "observed.fits", "cl.fits", "--lmax", "8")["notes"]
    assert any("N_OBS" in note for note in notes) and any("II_COV" in note for note in notes)


@pytest.mark.parametrize("command", ["convert {} {}.fits", "udgrade {} {}.fits --nside 8", "plot {} {}.png", "anafast {} {}.fits"])
def test_nan_can_count_as_unseen(sky, zonal, fails, tmp_path, command):
    holes = sky[0].copy()
    holes[7] = np.nan
    healpy.write_map(tmp_path / "nan.fits", holes, dtype=np.float64)
    assert "NaN" in fails(1, *command.format("nan.fits", "out").split())
    notes = zonal(*command.format("nan.fits", "out").split(), "--nan", "unseen")["notes"]
    assert any("1 NaN taken as UNSEEN" in note for note in notes)


@pytest.mark.parametrize("rows", [300, 768])
def test_table_of_angles_is_no_map(tmp_path, zonal, fails, rows):
    table = fits.BinTableHDU.from_columns([fits.Column("THETA", "D", array=np.linspace(0, 1, rows))])
    table.writeto(tmp_path / "table.fits")
    assert zonal("info", "table.fits")["kind"] == "other"
    fails(1, "convert", "table.fits", "out.fits")


@pytest.mark.parametrize("columns", [
    [fits.Column("Energy", "D", array=np.arange(12.0))],  # gammapy's, of 12 energies
    [fits.Column("Energy", "D", array=np.arange(48.0))],
    [fits.Column("NAME", "12A", array=["gamma"]), fits.Column("METHOD", "J", array=[0])],  # XSPEC's, of absorption
    [fits.Column("VALUE", "192E", array=np.zeros((1, 192))), fits.Column("N", "J", array=[3])],
])
def test_tables_that_only_have_the_size_of_a_map_are_none(tmp_path, zonal, fails, columns):
    fits.BinTableHDU.from_columns(columns).writeto(tmp_path / "table.fits")
    assert zonal("info", "table.fits")["kind"] == "other"
    fails(1, "convert", "table.fits", "out.fits")


def test_info_of_covariances_alone_says_that_they_must_be_named(tmp_path, zonal):
    """As litebird_sim writes them."""
    healpy.write_map(tmp_path / "cov.fits", [np.arange(12.0)] * 2, column_names=["II", "QQ"])
    report = zonal("info", "cov.fits")
    assert report["kind"] == "map" and [column["mean"] for column in report["hdus"][1]["columns"]] == [5.5, 5.5]
    assert "reads_as" not in report and any("which must be named; there are 0 'II', 1 'QQ'" in note for note in report["notes"])


def test_info_of_a_packed_cube_counts_the_planes_of_all_its_axes(tmp_path, zonal):
    """As gammapy writes point-spread functions; one with 70,000 planes was unpacked for each of them, which took hours."""
    planes = np.arange(3 * 400 * 8 * 5, dtype=float).reshape(3, 400, 8, 5)
    cards = dict(CTYPE1="RA---CAR", CTYPE2="DEC--CAR", CDELT1=-72.0, CDELT2=22.5, CRPIX1=1.0, CRPIX2=4.5, CRVAL1=0.0, CRVAL2=0.0)
    fits.ImageHDU(planes, fits.Header(cards)).writeto(tmp_path / "cube.fits.gz")
    columns = zonal("info", "cube.fits.gz")["hdus"][-1]["columns"]
    assert [column["name"] for column in columns] == [f"PLANE{plane}" for plane in range(1200)]
    assert_close([column["mean"] for column in columns], planes.mean(axis=(2, 3)).ravel(), rtol=1e-15, atol=0)
    # People see the first ten, how many more there are, and the last.
    text = call("info", "cube.fits.gz", cwd=tmp_path).out.splitlines()
    shown = [line for line in text if "name PLANE" in line]
    assert [line.split("name PLANE")[1].split(",")[0] for line in shown] == [*map(str, range(10)), "1199"]
    assert "and 1190 more, up to name PLANE1199," in shown[-1] and shown[-1].endswith("; --json shows all")
