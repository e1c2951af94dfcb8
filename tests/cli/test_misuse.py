"""Options that would have no effect, outputs that would be lost, and files whose values are no numbers."""

import gzip

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import UNSEEN, read_map

SPECTRA = "# l TT EE BB TE\n" + "".join(f"{l} 2 1 1 0.5\n" for l in range(49))


@pytest.fixture
def files(sky, tmp_path):
    """sky.fits (I, Q, U), i.fits (I alone), cl.txt, alm.fits, short.txt (a beam up to l = 3)."""
    healpy.write_map(tmp_path / "i.fits", sky[0], dtype=np.float64)
    (tmp_path / "cl.txt").write_text(SPECTRA)
    (tmp_path / "short.txt").write_text("1\n1\n1\n1\n")
    healpy.write_alm(tmp_path / "alm.fits", np.ones(healpy.Alm.getsize(4), dtype=complex))


@pytest.mark.parametrize("command, words", [
    ("smooth sky.fits out.fits --fwhm 9deg --mask-threshold 0.5", ["--mask-threshold", "renormalize"]),
    ("smooth alm.fits out.fits --fwhm 9deg --mask-threshold 0.5", ["--mask-threshold"]),
    ("smooth sky.fits out.fits --fwhm 9deg --extend zero", ["--extend", "--beam"]),
    ("smooth sky.fits out.fits --fwhm 9deg --pol --no-pol", ["--pol", "--no-pol"]),
    ("alm2map alm.fits out.fits --nside 4 --extend zero", ["--extend"]),
    ("alm2map alm.fits out.fits --car 10x20 --order ring", ["--order", "CAR"]),
    ("synfast cl.txt out.fits --car 10x20 --order nest", ["--order", "CAR"]),
    ("synfast cl.txt out.fits --car 10x20 --pixwin window.fits", ["--pixwin", "CAR"]),
    ("convert sky.fits out.fits --full --partial", ["--full", "--partial"]),
    ("convert i.fits out.fits --polcconv iau", ["--polcconv", "i.fits", "U"]),
    ("plot i.fits out.png --lmin 3", ["--lmin", "i.fits", "map"]),
    ("plot i.fits out.png --cl", ["--cl", "map"]),
    ("plot cl.txt out.png --cmap grey", ["--cmap", "cl.txt", "spectra"]),
    ("plot cl.txt out.png --projection gnomonic", ["--projection", "spectra"]),
    ("plot cl.txt out.png --field 1", ["--field", "spectra"]),
])
def test_options_without_effect_are_wrong_use(files, fails, command, words):
    line = fails(2, *command.split())
    for word in words:
        assert word in line, line


@pytest.mark.parametrize("command, words", [
    ("smooth sky.fits out.fits --method harmonic --beam short.txt", ["--beam short.txt", "l = 3"]),
    ("synfast cl.txt out.fits --nside 8 --beam short.txt", ["--beam short.txt"]),
    ("smooth i.fits out.fits --fwhm-in 180deg", ["--fwhm-in 180deg"]),
    ("smooth sky.fits out.fits --fwhm 9deg --lmax 1", ["--lmax = 1", "at least 2", "sky.fits"]),
    ("alm2map alm.fits out.fits --nside 4 --lmax 2 --mmax 3", ["--mmax = 3", "lmax"]),
    ("plot i.fits out.png --cmap foo", ["i.fits", "foo"]),
    ("map2alm i.fits out.fits --weights foo", ["--weights = foo: must be none, ring, pixel or", "no such file"]),
    ("smooth i.fits out.fits --fwhm +-9deg", ["--fwhm = +-9deg"]),
    ("smooth sky.fits out.fits --beam --overwrite", ["--beam", "--overwrite", "value"]),
    ("convert sky.fits out.fits --field --overwrite", ["--field", "--overwrite", "value"]),
    ("synfast cl.txt out.fits --nside 4 --alm-out out.fits", ["--alm-out", "OUT"]),
    ("synfast cl.txt out.fits --nside 4 --alm-out ./out.fits --overwrite", ["--alm-out", "OUT"]),
])
def test_messages_name_the_option_and_its_file(files, fails, command, words):
    line = fails(2, *command.split())
    for word in words:
        assert word in line, line


def test_q_without_u_names_the_file(tmp_path, fails):
    healpy.write_map(tmp_path / "q.fits", np.ones(48), column_names=["Q_STOKES"], dtype=np.float64)
    assert "q.fits" in fails(2, "smooth", "q.fits", "out.fits", "--fwhm", "9deg")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("command", ["alm2map bad.fits out.fits --nside 4", "smooth bad.fits out.fits --fwhm 9deg",
                                     "rotate bad.fits out.fits --euler 1deg,2deg,3deg", "anafast bad.fits out.fits",
                                     "convert bad.fits out.fits"])
def test_alm_that_are_no_numbers_are_an_error_that_says_where(tmp_path, fails, command, bad):
    alm = np.ones(healpy.Alm.getsize(4), dtype=complex)
    alm[healpy.Alm.getidx(4, 3, 2)] = bad
    alm[healpy.Alm.getidx(4, 4, 4)] = bad
    healpy.write_alm(tmp_path / "bad.fits", alm)
    line = fails(1, *command.split())
    assert "bad.fits" in line and "2 coefficients" in line and "l = 3, m = 2" in line


def test_result_that_overflows_is_an_error(tmp_path, fails):
    healpy.write_map(tmp_path / "huge.fits", np.full(48, 1.7e308), dtype=np.float64)
    assert "out.fits" in fails(1, "udgrade", "huge.fits", "out.fits", "--nside", "1", "--combine", "sum")


def write_partial(path, nside, pixels, with_nside=True):
    """A partial sky of these pixels, whose values are 1, 2, 3, ..."""
    values = np.arange(1.0, len(pixels) + 1)
    table = fits.BinTableHDU.from_columns([fits.Column("PIXEL", "K", array=pixels), fits.Column("S", "D", array=values)])
    table.header.update({"PIXTYPE": "HEALPIX", "ORDERING": "NESTED", "INDXSCHM": "EXPLICIT", "OBJECT": "PARTIAL"})
    if with_nside:
        table.header["NSIDE"] = nside
    table.writeto(path)


def test_partial_sky_in_any_order_of_pixels_becomes_a_full_sky(tmp_path, zonal):
    pixels = np.random.default_rng(5).permutation(192)[:50]
    write_partial(tmp_path / "part.fits", 4, pixels)
    zonal("convert", "part.fits", "out.fits", "--full")
    expected = np.full(192, UNSEEN)
    expected[pixels] = np.arange(1, 51)
    np.testing.assert_array_equal(read_map(tmp_path / "out.fits"), expected)


@pytest.mark.parametrize("command", ["convert part.fits out.fits --full", "smooth part.fits out.fits --fwhm 9deg",
                                     "smooth part.fits out.fits --fwhm 9deg --method harmonic"])
def test_partial_sky_too_fine_for_the_memory_is_an_error_that_names_it(tmp_path, fails, command):
    write_partial(tmp_path / "part.fits", 2**20, np.arange(3))  # 1.2e13 pixels
    line = fails(1, *command.split())
    assert "part.fits" in line and "memory" in line


@pytest.mark.parametrize("command", ["convert part.fits out.fits", "compare part.fits part.fits", "plot part.fits out.png",
                                     "udgrade part.fits out.fits --nside 4"])
def test_partial_sky_whose_rings_alone_are_too_many_is_an_error_that_names_it(tmp_path, fails, command):
    write_partial(tmp_path / "part.fits", 2**29, np.arange(3))  # 2.1e9 rings
    line = fails(1, *command.split())
    assert "part.fits" in line and "memory" in line


@pytest.mark.parametrize("command", ["synfast cl.txt out.fits --nside 1048576 --lmax 10",
                                     "udgrade sky.fits out.fits --nside 1048576",
                                     "smooth sky.fits out.fits --fwhm 9deg --nside-out 1048576",
                                     "alm2map alm.fits out.fits --nside 536870912"])
def test_output_too_fine_for_the_memory_is_an_error_that_names_its_nside(files, fails, command):
    line = fails(1, *command.split())
    assert "nside" in line and "memory" in line


def test_partial_sky_needs_nside(tmp_path, fails):
    write_partial(tmp_path / "part.fits", 4, np.arange(48), with_nside=False)
    assert "NSIDE is missing" in fails(1, "convert", "part.fits", "out.fits")


def test_link_to_nothing_is_refused_before_any_work(sky, fails, tmp_path):
    (tmp_path / "link.fits").symlink_to("nothing.fits")
    for more in ([], ["--overwrite"]):
        line = fails(1, "smooth", "missing.fits", "link.fits", "--fwhm", "9deg", *more)
        assert "link.fits" in line and "link to a file" in line
    assert (tmp_path / "link.fits").is_symlink()


def test_title_longer_than_the_picture_is_drawn(sky, zonal):
    zonal("plot", "sky.fits", "out.png", "--width", "200", "--title", "W band " * 500)


def test_cut_gzip_file_is_named_plainly(sky, fails, tmp_path):
    packed = gzip.compress((tmp_path / "sky.fits").read_bytes())
    (tmp_path / "cut.fits.gz").write_bytes(packed[: len(packed) // 2])
    line = fails(1, "info", "cut.fits.gz")
    assert "cut.fits.gz: damaged gzip file" in line and "<fd" not in line


# --- names of fields, notes, values that overflow


@pytest.mark.parametrize("names", [["I_STOKES", "Q_STOKES", "U_STOKES"], ["TEMPERATURE", "Q-POLARISATION", "U-POLARISATION"]])
def test_fields_are_chosen_by_stokes_letter(sky, zonal, tmp_path, names):
    healpy.write_map(tmp_path / "named.fits", sky, column_names=names, dtype=np.float64)
    for letter, row in (("Q", 1), ("u", 2), ("I", 0), ("T", 0)):
        zonal("convert", "named.fits", "one.fits", "--field", letter, "--no-pol", "--overwrite")
        np.testing.assert_array_equal(read_map(tmp_path / "one.fits"), sky[row])
    zonal("convert", "named.fits", "two.fits", "--field", "Q,U")


def test_field_letter_of_several_columns_is_an_error(sky, fails, tmp_path):
    healpy.write_map(tmp_path / "two.fits", sky[:2], column_names=["Q_STOKES", "Q_POLARISATION"], dtype=np.float64)
    line = fails(1, "convert", "two.fits", "out.fits", "--field", "Q", "--no-pol")
    assert "Q_STOKES" in line and "Q_POLARISATION" in line
    assert "'Z'" in fails(1, "convert", "sky.fits", "out.fits", "--field", "Z")


def test_note_on_c_t_and_c_g_is_for_files_of_others(sky, zonal, tmp_path):
    zonal("anafast", "sky.fits", "own.fits", "--lmax", "40")
    assert zonal("plot", "own.fits", "a.png")["notes"] == []
    fits.setval(tmp_path / "own.fits", "CREATOR", value="anafast", ext=1)
    assert any("TB and EB" in note for note in zonal("plot", "own.fits", "b.png")["notes"])
    fits.setval(tmp_path / "own.fits", "CREATOR", value="healpy", ext=1)
    assert any("EB and TB" in note for note in zonal("plot", "own.fits", "c.png")["notes"])


def test_value_too_large_for_a_float_names_file_hdu_and_column(tmp_path, fails):
    healpy.write_map(tmp_path / "large.fits", np.full(48, 1e308), dtype=np.float64, column_names=["S"])
    for out, words in (("out.fits", ["out.fits: HDU 1", "column 'S'"]),):
        line = fails(1, "convert", "large.fits", out, "--precision", "float")
        for word in [*words, "1e+308", "float"]:
            assert word in line, line
    line = fails(1, "convert", "large.fits", "out.fits", "--precision", "float", "--car", "3x6", "--lmax", "0")
    assert "out.fits: HDU 0" in line or "out.fits: column" in line, line


@pytest.mark.parametrize("command", ["map2alm huge.fits out.fits", "anafast huge.fits out.fits"])
def test_coefficients_that_overflow_are_an_error(tmp_path, fails, command):
    healpy.write_map(tmp_path / "huge.fits", np.full(48, 1.7e308), dtype=np.float64)
    line = fails(1, *command.split())
    assert "out.fits" in line and "of the result" in line


def test_smoothed_coefficients_that_overflow_are_an_error(tmp_path, fails):
    healpy.write_alm(tmp_path / "huge.fits", np.full(healpy.Alm.getsize(8), 1e308, dtype=complex), out_dtype=np.float64)
    line = fails(1, "smooth", "huge.fits", "out.fits", "--fwhm-in", "60deg")
    assert "out.fits: alm T" in line and "l = " in line


@pytest.mark.parametrize("option", ["--car 1x1", "--car 2x9"])
def test_grid_too_coarse_for_q_and_u_is_wrong_use(sky, fails, option):
    line = fails(2, "convert", "sky.fits", "out.fits", *option.split())
    assert option.replace(" ", " = ") in line and "at least 2" in line and "sky.fits" in line


@pytest.mark.parametrize("damage", [b"", b"no FITS file", None])
def test_damaged_weights_in_the_cache_are_computed_anew(sky, zonal, tmp_path, monkeypatch, damage):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    zonal("map2alm", "sky.fits", "good.fits", "--weights", "ring")
    kept = tmp_path / "cache" / "zonal" / "weight_ring_n00016.fits"
    good = kept.read_bytes()
    if damage is None:  # weights of another nside under this name
        zonal("weights", str(kept), "--nside", "8", "--ring", "--overwrite")
    else:
        kept.write_bytes(damage)
    notes = zonal("map2alm", "sky.fits", "again.fits", "--weights", "ring")["notes"]
    assert any(str(kept) in note and "computed anew" in note for note in notes)
    assert kept.read_bytes() == good
    assert not zonal("map2alm", "sky.fits", "third.fits", "--weights", "ring")["notes"]


@pytest.mark.parametrize("key, value, words", [("FIRSTPIX", 7, "FIRSTPIX = 7 contradicts pixel number 5"),
                                               ("LASTPIX", 18, "LASTPIX = 18 contradicts pixel number 20")])
def test_partial_sky_that_contradicts_its_first_or_last_pixel_names_the_hdu(tmp_path, fails, zonal, key, value, words):
    write_partial(tmp_path / "part.fits", 4, np.arange(5, 21))
    fits.setval(tmp_path / "part.fits", "FIRSTPIX", value=0, ext=1)
    fits.setval(tmp_path / "part.fits", "LASTPIX", value=191, ext=1)
    zonal("convert", "part.fits", "fine.fits")
    fits.setval(tmp_path / "part.fits", key, value=value, ext=1)
    line = fails(1, "convert", "part.fits", "out.fits")
    assert "part.fits: HDU 1" in line and words in line


def test_a_file_whose_name_says_an_argument_keeps_its_name(files, fails, tmp_path):
    name = "a and lmax = 5.fits"
    (tmp_path / "sky.fits").rename(tmp_path / name)
    line = fails(2, "smooth", name, "out.fits", "--fwhm", "5deg", "--lmax", "1")
    assert line.startswith("zonal smooth: --lmax = 1: ") and name in line and line.count("--lmax") == 1
