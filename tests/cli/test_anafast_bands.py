"""zonal anafast --decouple: band powers of masked skies, which are those of zonal.spectra.estimate."""

import json
import os
import re
import subprocess
import sys
import textwrap

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import UNSEEN

NSIDE, LMAX_SKY = 16, 40
BINS = ("--decouple", "--bin-width", "5", "--lmax", "32")  # l = 2 to 31, and a sky up to 38


def python(folder, code, **values):
    """Runs code by the Python that has the package, as `zonal plot` does; what it has printed as JSON."""
    program = "import json, sys, warnings\nimport healpy, numpy as np, zonal\nwarnings.simplefilter('ignore')\n" \
        "from zonal.spectra import Bins, Field, estimate\n" + textwrap.dedent(code)
    done = subprocess.run([os.environ.get("ZONAL_PYTHON", sys.executable), "-B", "-c", program, json.dumps(values)], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout else None


def images(path):
    """All numbers of a file of band powers, by their names."""
    found = {}
    with fits.open(path) as hdus:
        for hdu in hdus[1:]:
            if isinstance(hdu, fits.ImageHDU):
                found[hdu.name] = hdu.data
            else:
                found |= {f"{hdu.name} {name}": hdu.data[name] for name in hdu.columns.names}
    return found


def assert_same_bands(one, other):
    """All numbers agree to 1e-12 of the largest of their kind: both are sums of the same numbers, by the same code."""
    found, expected = images(one), images(other)
    assert list(found) == list(expected)
    for name, values in expected.items():
        assert np.abs(found[name] - values).max() <= 1e-12 * np.abs(values).max(), name


@pytest.fixture
def observed(sky, tmp_path):
    """sky.fits, mask.fits, which is smooth, theory.txt, variance.fits with columns for I and for P, and noise.txt."""
    z = np.cos(healpy.pix2ang(NSIDE, np.arange(12 * NSIDE**2))[0])
    healpy.write_map(tmp_path / "mask.fits", np.clip((z + 0.6) / 0.5, 0, 1), dtype=np.float64)
    l = np.arange(LMAX_SKY + 1.0)
    c_l = np.where(l >= 2, 1 / (l + 5), 0)
    np.savetxt(tmp_path / "theory.txt", np.transpose([l, c_l, 0.5 * c_l, 0.3 * c_l, 0.2 * c_l]), header="l TT EE BB TE")
    np.savetxt(tmp_path / "noise.txt", np.transpose([l, 0.01 + 0 * l, 0.02 + 0 * l, 0.03 + 0 * l]), header="l TT EE BB")
    healpy.write_map(tmp_path / "variance.fits", [0.1 + 0.05 * z, 0.2 + 0.1 * z], dtype=np.float64, column_names=["V_I", "V_P"])
    np.savetxt(tmp_path / "beam.txt", np.transpose([l, np.exp(-l * (l + 1) / 4000)]))
    return sky


# Options of the tool, and the same for Field, Bins and estimate.
CASES = {
    "plain": ("", "", "", ""),
    "fwhm": ("--fwhm 3deg", "beam='3deg'", "", ""),
    "beam and pixels": ("--beam beam.txt --pixel-window", "beam=np.loadtxt('beam.txt')[:, 1], pixel_window=True", "", ""),
    "variance": ("--variance variance.fits", "variance=healpy.read_map('variance.fits')", "", ""),
    "two variances": ("--variance variance.fits --variance-field V_I,V_P", "variance=healpy.read_map('variance.fits', field=(0, 1))", "", ""),
    "noise": ("--noise-cl noise.txt", "noise=dict(zip(('TT', 'EE', 'BB'), np.loadtxt('noise.txt').T[1:]))", "", ""),
    "dl and sky": ("--dl --lmax-sky 40 --lmin 4 --low-degrees no", "", "lmin=4, dl=True", "lmax_sky=40, low_degrees=False"),
    "theory": ("--theory theory.txt --exact-lmax 8", "", "", "theory=dict(zip(('TT', 'EE', 'BB', 'TE'), np.loadtxt('theory.txt').T[1:])), exact_lmax=8"),
}


@pytest.mark.parametrize("case", CASES)
def test_bands_are_those_of_the_package(observed, zonal, tmp_path, case):
    options, field, bins, how = CASES[case]
    report = zonal("anafast", "sky.fits", "bands.fits", *BINS, "--mask", "mask.fits", *options.split())
    expected = python(tmp_path, f"""
        sky, mask = zonal.io.read_map("sky.fits"), healpy.read_map("mask.fits")
        powers = estimate(Field(sky, mask=mask, {field}), Bins.linear(5, lmax=32, {bins}), {how})
        powers.save("python.fits")
        print(json.dumps(dict(condition=powers.condition)))
    """)
    assert_same_bands(tmp_path / "bands.fits", tmp_path / "python.fits")
    assert [each["name"] for each in report["spectra"]] == ["TT", "TE", "TB", "EE", "EB", "BB"]
    # A condition is known to a per cent, and both find it in the same way.
    assert max(each["condition"] for each in report["spectra"]) == pytest.approx(expected["condition"], rel=1e-6)
    assert report["f_sky"][0]["mean"] == pytest.approx(np.mean(healpy.read_map(tmp_path / "mask.fits")), rel=1e-12)


def test_bands_of_temperature_and_of_polarisation_alone(observed, zonal, tmp_path):
    zonal("anafast", "sky.fits", "t.fits", *BINS, "--mask", "mask.fits", "--field", "I")
    zonal("anafast", "sky.fits", "p.fits", *BINS, "--mask", "mask.fits", "--field", "Q,U")
    python(tmp_path, """
        sky, mask = zonal.io.read_map("sky.fits"), healpy.read_map("mask.fits")
        for name, maps in (("t", sky[0]), ("p", np.asarray(sky)[1:])):
            estimate(Field(maps, mask=mask), Bins.linear(5, lmax=32)).save(name + "_python.fits")
    """)
    for name in "tp":
        assert_same_bands(tmp_path / f"{name}.fits", tmp_path / f"{name}_python.fits")


def test_two_maps_have_their_own_and_their_cross_spectra(observed, zonal, tmp_path):
    healpy.write_map(tmp_path / "other.fits", [2 * observed[0], observed[2], observed[1]], dtype=np.float64, extra_header=[("POLCCONV", "COSMO")])
    report = zonal("anafast", "sky.fits", "other.fits", "bands.fits", *BINS, "--mask", "mask.fits", "--theory", "theory.txt", "--exact-lmax", "4")
    expected = python(tmp_path, """
        mask, theory = healpy.read_map("mask.fits"), dict(zip(("TT", "EE", "BB", "TE"), np.loadtxt("theory.txt").T[1:]))
        fields = [Field(zonal.io.read_map(name), mask=mask) for name in ("sky.fits", "other.fits")]
        estimate(fields, Bins.linear(5, lmax=32), theory=theory, exact_lmax=4).save("python.fits")
    """)
    assert expected is None
    assert_same_bands(tmp_path / "bands.fits", tmp_path / "python.fits")
    assert {(each["name"], *each["maps"]) for each in report["spectra"]} >= {("TT", 0, 0), ("ET", 0, 1), ("BE", 0, 1), ("BB", 1, 1)}


def test_the_second_map_may_have_a_mask_a_beam_and_noise_of_its_own(observed, zonal, tmp_path):
    healpy.write_map(tmp_path / "whole.fits", np.linspace(0.5, 1, 12 * NSIDE**2), dtype=np.float64)
    zonal("anafast", "sky.fits", "sky.fits", "bands.fits", *BINS, "--mask", "mask.fits", "--mask2", "whole.fits", "--fwhm", "3deg", "--beam2",
          "beam.txt", "--pixel-window", "--variance", "variance.fits", "--noise-cl2", "noise.txt")
    python(tmp_path, """
        sky, mask, other = zonal.io.read_map("sky.fits"), healpy.read_map("mask.fits"), healpy.read_map("whole.fits", dtype=float)
        noise = dict(zip(("TT", "EE", "BB"), np.loadtxt("noise.txt").T[1:]))
        fields = [Field(sky, mask=mask, beam="3deg", pixel_window=True, variance=healpy.read_map("variance.fits")),
                  Field(sky, mask=other, beam=np.loadtxt("beam.txt")[:, 1], pixel_window=True, noise=noise)]
        estimate(fields, Bins.linear(5, lmax=32)).save("python.fits")
    """)
    assert_same_bands(tmp_path / "bands.fits", tmp_path / "python.fits")


@pytest.fixture
def two_masks(observed, tmp_path):
    """of_i.fits, and of_p.fits with columns A and P, of which P is the mask of Q and U: masks of other halves of the sky."""
    z = np.cos(healpy.pix2ang(NSIDE, np.arange(12 * NSIDE**2))[0])
    of_i, of_p = np.clip((z + 0.6) / 0.5, 0, 1), np.clip((0.4 - z) / 0.7, 0, 1)
    healpy.write_map(tmp_path / "of_i.fits", of_i, dtype=np.float64)
    healpy.write_map(tmp_path / "of_p.fits", [of_i**2, of_p], dtype=np.float64, column_names=["A", "P"])
    return of_i, of_p


def bands_by_package(folder, fields, name="python.fits", how=""):
    """The bands that `estimate` finds for fields, with the masks of `two_masks` at hand as i and p."""
    python(folder, f"""
        sky, i, p = zonal.io.read_map("sky.fits"), healpy.read_map("of_i.fits"), healpy.read_map("of_p.fits", field=1)
        estimate({fields}, Bins.linear(5, lmax=32), {how}).save("{name}")
    """)


OF_P = ("--mask-polarization", "of_p.fits", "--mask-polarization-field", "P")
THEORY = "theory=dict(zip(('TT', 'EE', 'BB', 'TE'), np.loadtxt('theory.txt').T[1:])), exact_lmax=8"


def test_q_and_u_may_have_a_mask_of_their_own(two_masks, zonal, tmp_path):
    report = zonal("anafast", "sky.fits", "bands.fits", *BINS, "--mask", "of_i.fits", *OF_P, "--variance", "variance.fits", "--theory", "theory.txt",
                   "--exact-lmax", "8")
    for name, masks in ("python", "[i, p]"), ("exchanged", "[p, i]"):
        bands_by_package(tmp_path, f"Field(sky, mask={masks}, variance=healpy.read_map('variance.fits'))", f"{name}.fits", THEORY)
    assert_same_bands(tmp_path / "bands.fits", tmp_path / "python.fits")
    found, exchanged = images(tmp_path / "bands.fits"), images(tmp_path / "exchanged.fits")
    for name in ("TT", "TE", "EE", "BB"):  # by as much as a sky differs from half to half
        assert np.abs(found[f"BANDS {name}"] / exchanged[f"BANDS {name}"] - 1).max() > 0.01, name
    assert [(each["name"], each["mean"]) for each in report["f_sky"]] == [
        (f"sky.fits: {rows}", pytest.approx(mask.mean(), rel=1e-12)) for rows, mask in zip(("I", "Q and U"), two_masks)]
    assert report["mask"] == "of_i.fits" and report["mask_polarization"] == "of_p.fits"
    header = fits.getheader(tmp_path / "bands.fits", "BANDS")
    assert header["MASKFILE"] == "of_i.fits" and header["MASKPOL"] == "of_p.fits"


def test_the_mask_of_q_and_u_leaves_i_whole_and_maps_of_q_and_u_alone_have_no_other(two_masks, zonal, tmp_path):
    zonal("anafast", "sky.fits", "whole.fits", *BINS, *OF_P)
    bands_by_package(tmp_path, "Field(sky, mask=[np.ones(i.size), p])", "whole_python.fits")
    report = zonal("anafast", "sky.fits", "alone.fits", *BINS, *OF_P, "--field", "Q,U")
    bands_by_package(tmp_path, "Field(np.asarray(sky)[1:], mask=p)", "alone_python.fits")
    for name in ("whole", "alone"):
        assert_same_bands(tmp_path / f"{name}.fits", tmp_path / f"{name}_python.fits")
    assert [each["name"] for each in report["f_sky"]] == ["sky.fits: Q and U"] and "mask" not in report


@pytest.mark.parametrize("options, masks", [
    ("", "[i, p]"), ("--mask2 of_i.fits", "i"), ("--mask-polarization2 whole.fits", "[i, np.ones(i.size)]"),
    ("--mask2 whole.fits --mask-polarization2 of_p.fits", "[np.ones(i.size), p]"),
])
def test_the_second_map_takes_the_masks_of_the_first_that_it_has_not(two_masks, zonal, tmp_path, options, masks):
    healpy.write_map(tmp_path / "whole.fits", [np.ones(12 * NSIDE**2)] * 2, dtype=np.float64, column_names=["A", "P"])
    zonal("anafast", "sky.fits", "sky.fits", "bands.fits", *BINS, "--mask", "of_i.fits", *OF_P, *options.split())
    bands_by_package(tmp_path, f"[Field(sky, mask=[i, p]), Field(sky, mask={masks})]")
    assert_same_bands(tmp_path / "bands.fits", tmp_path / "python.fits")


def test_the_monopole_is_that_outside_the_mask_of_i(two_masks, zonal, tmp_path):
    """Alone, so that of the sky it takes what I has under its own mask."""
    one = zonal("anafast", "sky.fits", "a.fits", *BINS, "--mask", "of_i.fits", *OF_P, "--remove-monopole")
    other = zonal("anafast", "sky.fits", "b.fits", *BINS, "--mask", "of_i.fits", "--remove-monopole")
    assert one["removed_monopole"] == other["removed_monopole"]


@pytest.mark.parametrize("options, words", [
    ("--field I --mask-polarization of_p.fits", ["--mask-polarization", "sky.fits", "no Q and U"]),
    ("--field Q,U --mask of_i.fits --mask-polarization of_p.fits", ["--mask, --mask-polarization", "Q and U alone"]),
    ("--mask-polarization-field P", ["--mask-polarization-field", "needs --mask-polarization"]),
    ("--mask-polarization2 of_p.fits", ["--mask-polarization2", "IN2"]),
])
def test_masks_that_would_mask_nothing_are_refused(two_masks, fails, options, words):
    line = fails(2, "anafast", "sky.fits", "out.fits", *BINS, *options.split())
    for word in words:
        assert word in line, line


def test_chi_squared_is_that_of_the_package(observed, zonal, tmp_path):
    report = zonal("anafast", "sky.fits", "bands.fits", *BINS, "--mask", "mask.fits", "--theory", "theory.txt", "--exact-lmax", "8")
    expected = python(tmp_path, """
        powers = zonal.spectra.BandPowers.load("bands.fits")
        theory = dict(zip(("TT", "EE", "BB", "TE"), np.loadtxt("theory.txt").T[1:]))
        print(json.dumps({name: powers.chi_squared(theory, names=[name]) for name in powers} | {"all": powers.chi_squared(theory)}))
    """)
    # Sums of products with a matrix of the condition 1e3 or so.
    for each in report["spectra"]:
        assert [each["chi_squared"], each["p"]] == pytest.approx(expected[each["name"]], rel=1e-9, abs=1e-12)
    assert [report["chi_squared"], report["p"]] == pytest.approx(expected["all"], rel=1e-9, abs=1e-12)
    assert report["exact_lmax"] == 8


def test_bands_of_the_whole_sky_are_averages_of_its_spectra(observed, zonal, tmp_path):
    """Without a mask the sums over pixels of a sky up to l = 32 are good to 1e-3 or so at nside 16."""
    report = zonal("anafast", "sky.fits", "bands.fits", *BINS)
    c_l = healpy.anafast(observed, lmax=32, iter=10)
    bands = images(tmp_path / "bands.fits")
    for name, values in zip(("TT", "EE", "BB", "TE"), c_l):
        mean = values[2:32].reshape(-1, 5).mean(axis=1)
        assert np.abs(bands[f"BANDS {name}"] - mean).max() < 0.05 * np.abs(c_l[0]).max(), name
    assert report["f_sky"][0]["used"] == pytest.approx(1, rel=1e-12)


def test_kinds_of_bands(observed, zonal, tmp_path):
    common = ("anafast", "sky.fits", "bands.fits", "--overwrite", "--decouple", "--field", "I")
    zonal(*common, "--bin-edges", "3,8,20,33")
    with fits.open(tmp_path / "bands.fits") as hdus:
        assert hdus["BANDS"].data["L_MIN"].tolist() == [3, 8, 20] and hdus["BANDS"].data["L_MAX"].tolist() == [7, 19, 32]
        assert hdus["BANDS"].header["LMAX_SKY"] == 40
    report = zonal(*common, "--log-bins", "4", "--lmin", "3", "--lmax", "30")
    assert report["bands"] == 4 and report["lmin"] == 3 and report["lmax"] == 30 and report["bands_of"] == "C_l"


def test_monopole_and_dipole_may_be_removed_before(observed, zonal, tmp_path):
    x, y, z = healpy.pix2vec(NSIDE, np.arange(12 * NSIDE**2))
    seen = z > -0.3
    bright = observed[0] + 100 + 30 * x - 20 * z
    healpy.write_map(tmp_path / "hard.fits", seen.astype(float))
    healpy.write_map(tmp_path / "bright.fits", bright, dtype=np.float64)
    clean = healpy.remove_dipole(np.where(seen, bright, UNSEEN), copy=True)
    healpy.write_map(tmp_path / "clean.fits", np.where(seen, clean, 0), dtype=np.float64)
    report = zonal("anafast", "bright.fits", "bands.fits", *BINS, "--mask", "hard.fits", "--remove-dipole")
    zonal("anafast", "clean.fits", "expected.fits", *BINS, "--mask", "hard.fits")
    found, expected = (images(tmp_path / name)["BANDS TT"] for name in ("bands.fits", "expected.fits"))
    # healpy's fit and Zonal's differ by rounding, of 100^2 before it is taken away
    assert np.abs(found - expected).max() < 1e-10 * 100**2
    assert abs(report["removed_monopole"][0] - 100) < 20


def test_header_says_how_the_bands_were_made(observed, zonal, tmp_path):
    zonal("anafast", "sky.fits", "bands.fits", *BINS, "--mask", "mask.fits", "--fwhm", "3deg", "--theory", "theory.txt", "--exact-lmax", "-1")
    header = fits.getheader(tmp_path / "bands.fits", "BANDS")
    assert header["CREATOR"] == "zonal" and "--decouple" in str(header["HISTORY"]) and header["MASKFILE"] == "mask.fits"
    assert header["FWHM"] == pytest.approx(3) and header["THEORY"] == "theory.txt" and header["UNIT0"] == "uK"
    assert header["TUNIT4"] in ("uK^2", "(uK)^2")


def test_info_and_plot_know_band_powers(observed, zonal, tmp_path):
    zonal("anafast", "sky.fits", "bands.fits", *BINS, "--mask", "mask.fits", "--theory", "theory.txt", "--exact-lmax", "-1")
    report = zonal("info", "bands.fits")
    assert report["kind"] == "bands" and report["bands"] == 6 and report["lmax_sky"] == 38 and report["errors"]
    assert [each["name"] for each in report["spectra"]] == ["TT", "TE", "TB", "EE", "EB", "BB"]
    pictures = set()
    for options in ([], ["--theory", "theory.txt"], ["--spectra", "TT,EE"], ["--log-x"]):
        assert zonal("plot", "bands.fits", "a.png", "--overwrite", "--width", "400", "--title", "a", *options)["kind"] == "bands"
        pictures.add((tmp_path / "a.png").read_bytes())
    assert len(pictures) == 4


def test_plot_refuses_what_bands_have_not(observed, zonal, fails):
    zonal("anafast", "sky.fits", "bands.fits", *BINS)
    assert "--lmin" in fails(2, "plot", "bands.fits", "a.png", "--lmin", "3")
    assert "--projection" in fails(2, "plot", "bands.fits", "a.png", "--projection", "gnomonic")
    assert "TT, TE" in fails(2, "plot", "bands.fits", "a.png", "--spectra", "XX")


@pytest.mark.parametrize("options, words", [
    ("--bin-width 5", ["--bin-width", "only with --decouple"]), ("--fwhm 3deg", ["--fwhm", "only with --decouple"]),
    ("--theory theory.txt", ["--theory", "only with --decouple"]), ("--mask-polarization mask.fits", ["--mask-polarization", "only with --decouple"]),
    ("--decouple", ["--bin-width", "--log-bins", "--bin-edges"]), ("--decouple --bin-width 5", ["--lmax"]),
    ("--decouple --bin-width 5 --log-bins 3 --lmax 20", ["one of"]),
    ("--decouple --bin-width 5 --lmax 3", ["--bin-width", "width = 5"]),
    ("--decouple --bin-edges 2,9 --lmax 20", ["--lmax", "--bin-edges"]), ("--decouple --bin-edges 9,2", ["edges[1]"]),
    ("--decouple --bin-edges 2,x", ["--bin-edges", "x"]), ("--decouple --bin-width 5 --lmax 30 --lmin 0 --dl", ["l = 0"]),
    ("--decouple --bin-width 5 --lmax 30 --lmax-sky 20", ["--lmax-sky = 20", "26"]),
    *((f"--decouple --bin-width 5 --lmax 30 {option}", [option.split()[0], "not with --decouple"]) for option in (
        "--iter 3", "--tolerance 1e-5", "--weights ring", "--mmax 3", "--mask-mode error", "--precision float")),
    ("--decouple --bin-width 5 --lmax 30 --variance variance.fits --noise-cl noise.txt", ["--variance", "--noise-cl"]),
    ("--decouple --bin-width 5 --lmax 30 --variance variance.fits --variance-field 0,1,1", ["--variance-field", "3"]),
    ("--decouple --bin-width 5 --lmax 30 --variance-field 0", ["--variance-field", "--variance"]),
    *((f"--decouple --bin-width 5 --lmax 30 {option}", [option.split()[0], "IN2"]) for option in ("--mask2 mask.fits", "--fwhm2 3deg", "--noise-cl2 noise.txt")),
    ("--decouple --bin-width 5 --lmax 30 --exact-lmax 3", ["--exact-lmax", "--theory"]),
    ("--decouple --bin-width 5 --lmax 30 --exact-lmax 1 --theory theory.txt", ["exact_lmax", "2"]),
    ("--decouple --bin-width 5 --lmax 30 --pixel-window --pixwin beam.txt", ["--pixel-window", "--pixwin"]),
    ("--decouple --bin-width 5 --lmax 47 --pixel-window --lmax-sky 100", ["--pixel-window", "64"]),
    ("--decouple --bin-width 5 --lmax 47 --beam beam.txt", ["--beam", "40"]),
    ("--decouple --bin-width 5 --lmax 47 --theory theory.txt", ["--theory", "TT", "40", "--extend"]),
    ("--decouple --bin-width 5 --lmax 30 --extend zero", ["--extend"]),
    ("--decouple --bin-width 5 --lmax 30 --theory beam.txt", ["beam.txt"]),
    ("--decouple --bin-width 5 --lmax 30 --theory-dl", ["--theory"]),
])
def test_options_that_do_not_fit_are_refused(observed, fails, options, words):
    code = 1 if options.endswith("--theory beam.txt") else 2
    line = fails(code, "anafast", "sky.fits", "out.fits", *options.split())
    for word in words:
        assert word in line, line


def test_bands_that_are_too_narrow_for_the_mask_are_refused(observed, fails, tmp_path):
    theta = healpy.pix2ang(NSIDE, np.arange(12 * NSIDE**2))[0]
    healpy.write_map(tmp_path / "cap.fits", (theta < 0.2).astype(float), dtype=np.float64)
    line = fails(2, "anafast", "sky.fits", "out.fits", "--decouple", "--bin-width", "1", "--lmax", "32", "--mask", "cap.fits")
    assert "too narrow for the mask" in line and "would do" in line or "too little sky" in line


def test_pixels_without_data_need_a_mask(observed, fails, zonal, tmp_path):
    holes = observed[0].copy()
    holes[100:500] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", holes, dtype=np.float64)
    line = fails(1, "anafast", "holes.fits", "out.fits", *BINS)
    assert "holes.fits" in line and "--mask" in line
    mask = np.ones(holes.size)
    mask[100:500] = 0
    healpy.write_map(tmp_path / "holes_mask.fits", mask)
    zonal("anafast", "holes.fits", "out.fits", *BINS, "--mask", "holes_mask.fits")


def test_maps_and_variances_in_other_coordinates_or_units_are_refused(observed, fails, zonal, tmp_path):
    pixels = np.ones(12 * NSIDE**2)
    for name, coordinates, unit in (("g", "G", "K"), ("c", "C", "K"), ("mk", "G", "mK2"), ("k2", "G", "K2"), ("k2c", "C", "K2")):
        healpy.write_map(tmp_path / f"{name}.fits", pixels, dtype=np.float64, coord=coordinates, column_units=unit)
    line = fails(1, "anafast", "g.fits", "c.fits", "out.fits", *BINS)
    assert re.search("g.fits: .* is in galactic coordinates, c.fits: .* in equatorial; zonal rotate", line)
    line = fails(1, "anafast", "g.fits", "out.fits", *BINS, "--variance", "mk.fits")
    assert "mk.fits: is in mK2, and the map in K: must be in K^2" in line
    assert "coordinates are equatorial" in fails(1, "anafast", "g.fits", "out.fits", *BINS, "--variance", "k2c.fits")
    zonal("anafast", "g.fits", "out.fits", *BINS, "--variance", "k2.fits")


def test_noise_must_be_numbers_and_its_option_is_named(observed, fails, tmp_path):
    for name, value in (("nan", np.nan), ("minus", -1.0)):
        np.savetxt(tmp_path / f"{name}.txt", np.transpose([np.arange(41), np.full(41, value)]), header="l TT")
        line = fails(1, "anafast", "sky.fits", "out.fits", *BINS, "--field", "0", "--noise-cl", f"{name}.txt")
        assert line.endswith(f"noise[0] = {value:g}: must be a finite number, 0 or more")
    np.savetxt(tmp_path / "ee.txt", np.transpose([np.arange(41), np.ones(41)]), header="l EE")
    line = fails(2, "anafast", "sky.fits", "sky.fits", "out.fits", *BINS, "--noise-cl", "noise.txt", "--noise-cl2", "ee.txt")
    assert "--noise-cl2 ee.txt: has no spectrum TT" in line


def test_the_report_names_the_masks_of_both_maps(observed, zonal, tmp_path):
    healpy.write_map(tmp_path / "other.fits", np.ones(12 * NSIDE**2), dtype=np.float64)
    report = zonal("anafast", "sky.fits", "sky.fits", "out.fits", *BINS, "--mask", "mask.fits", "--mask2", "other.fits")
    assert "mask.fits" in str(report["mask"]) and "other.fits" in str(report["mask2"])
    header = fits.getheader(tmp_path / "out.fits", 1)
    assert "mask.fits" in header["MASKFILE"] and "other.fits" in header["MASKFIL2"]


def test_alm_have_no_mask_to_divide_out(observed, fails, zonal):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "32")
    assert "alm" in fails(2, "anafast", "alm.fits", "out.fits", *BINS)


def test_existing_bands_are_kept(observed, fails, zonal, tmp_path):
    (tmp_path / "bands.fits").write_text("precious")
    assert "--overwrite" in fails(1, "anafast", "sky.fits", "bands.fits", *BINS)
    zonal("anafast", "sky.fits", "bands.fits", *BINS, "--overwrite")
    assert images(tmp_path / "bands.fits")
