"""zonal evaluate and rotate --by points: skies at the positions of files."""

import healpy
import numpy as np
import pytest
from astropy.io import fits
from scipy.special import sph_harm_y

from conftest import assert_close, read_map

LMAX, NSIDE = 24, 16
RNG = np.random.default_rng(5)
LON, LAT = np.r_[RNG.uniform(-200, 400, 40), 30, 30], np.r_[RNG.uniform(-90, 90, 40), 90, -90]


def white(seed):
    np.random.seed(seed)
    return healpy.synalm(np.ones(LMAX + 1))


@pytest.fixture
def sky(tmp_path):
    alm = [white(1), *(healpy.almxfl(white(seed), np.arange(LMAX + 1) > 1) for seed in (2, 3))]
    healpy.write_alm(tmp_path / "t.fits", alm[0])
    healpy.write_alm(tmp_path / "teb.fits", alm)
    healpy.write_map(tmp_path / "iqu.fits", healpy.alm2map(alm, NSIDE), coord="C", dtype=np.float64, column_units="uK_CMB")
    columns = [fits.Column("FLUX", "E", array=np.ones(42)), fits.Column("RA", "D", unit="deg", array=LON),
               fits.Column("dec", "E", unit="deg", array=LAT)]
    fits.BinTableHDU.from_columns(columns).writeto(tmp_path / "catalogue.fits")
    text = "\n".join(f"{i} {np.radians(90 - b)} {np.radians(l)}" for i, (l, b) in enumerate(zip(LON, LAT)))
    (tmp_path / "points.txt").write_text("# number theta [rad] phi [rad]\n" + text)
    return alm


def values_of(alm, theta, phi):
    """By a sum over spherical harmonics."""
    l, m = healpy.Alm.getlm(LMAX)
    return np.array([((2 - (m == 0)) * (alm * sph_harm_y(l, m, t, p)).real).sum() for t, p in zip(theta, phi)])


def test_alm_have_the_values_of_the_sum(zonal, sky, tmp_path):
    report = zonal("evaluate", "t.fits", "points.txt", "out.csv", "--error", "1e-9", "--gradient")
    table = np.loadtxt(tmp_path / "out.csv", delimiter=",")
    assert (tmp_path / "out.csv").read_text().startswith("# theta [rad],phi [rad],I")
    wanted = values_of(sky[0], *table[:, :2].T)
    scale = np.abs(healpy.alm2map(sky[0], NSIDE)).max()
    assert_close(table[:, 2], wanted, rtol=0, atol=1e-9 * scale)
    step = 1e-5
    inside = np.abs(LAT) < 90
    slopes = [(values_of(sky[0], theta + step * a, phi + step * b) - values_of(sky[0], theta - step * a, phi - step * b))[inside] / (2 * step)
              for theta, phi, a, b in [(*table[:, :2].T, 1, 0), (*table[:, :2].T, 0, 1)]]
    # The error of 13 lmax 1e-9, and of differences: step^2 lmax^3 / 6.
    assert_close(table[inside][:, 3:].T, slopes, rtol=0, atol=scale * (13 * LMAX * 1e-9 + step**2 * LMAX**3 / 6 + 1e-10))
    assert report["points"] == 42 and report["bound"] <= report["error_bound"] == 1e-9 and 0 < report["mean_error"] < 1e-9
    assert report["lmax"] == LMAX and report["columns"] == ["theta", "phi"] and report["units"] == ["rad", "rad"]


def test_maps_are_analysed_and_q_and_u_turn_at_poles(zonal, sky, tmp_path):
    report = zonal("evaluate", "iqu.fits", "catalogue.fits", "out.fits", "--lmax", LMAX, "--tolerance", "1e-12")
    zonal("evaluate", "teb.fits", "catalogue.fits", "alm.fits")
    with fits.open(tmp_path / "out.fits") as of_map, fits.open(tmp_path / "alm.fits") as of_alm:
        table, plain, header = of_map[1].data, of_alm[1].data, of_map[1].header
        assert table.names == ["RA", "dec", "I", "Q", "U"] and header["TUNIT3"] == "uK_CMB" and header["TUNIT1"] == "deg"
        assert header["MAX-LPOL"] == LMAX and header["ERRBOUND"] <= 1e-10
        np.testing.assert_array_equal(table["RA"], LON)
        scale = max(np.abs(plain[name]).max() for name in "IQU")
        for name in "IQU":  # two evaluations, and the residual amplified by at most 10
            assert_close(table[name], plain[name], rtol=0, atol=scale * (3e-10 + 1e-11))
        # P(0, phi) = P(0, 0) e^{-2 i phi}: e_theta at the pole is along phi.
        q, u = healpy.alm2map_spin(sky[1:], NSIDE, 2, LMAX)
        ring = np.mean((q + 1j * u)[:4] * np.exp(2j * np.radians([45, 135, 225, 315])))
        found = (plain["Q"] + 1j * plain["U"])[40] * np.exp(2j * np.radians(30))
        assert abs(found - ring) < 0.2 * abs(found)  # the pixels lie 2 degrees away
    assert report["unresolved"] < 1e-11 and report["unseen_values"] == 0 and report["residual"] <= 1e-12


def test_what_is_unseen_is_nan(zonal, fails, sky, tmp_path):
    values = healpy.alm2map(sky[0], NSIDE)
    theta, phi = np.radians(90 - LAT), np.radians(LON)
    values[healpy.ang2pix(NSIDE, theta[:3], phi[:3])] = healpy.UNSEEN
    healpy.write_map(tmp_path / "holes.fits", values, coord="C", dtype=np.float64)
    report = zonal("evaluate", "holes.fits", "catalogue.fits", "out.fits", "--gradient")
    lost = np.isin(healpy.ang2pix(NSIDE, theta, phi), healpy.ang2pix(NSIDE, theta[:3], phi[:3]))
    for name in ("I", "I_THETA", "I_PHI"):
        np.testing.assert_array_equal(np.isnan(fits.getdata(tmp_path / "out.fits")[name]), lost)
    assert report["unseen_values"] == lost.sum() and 0 < report["unresolved"] < 1
    zonal("evaluate", "holes.fits", "catalogue.fits", "filled.fits", "--fill-masked")
    assert np.isfinite(fits.getdata(tmp_path / "filled.fits")["I"]).all()
    assert "UNSEEN" in fails(1, "evaluate", "holes.fits", "catalogue.fits", "no.fits", "--mask-mode", "error")


@pytest.mark.parametrize("lines, arguments, message", [
    ("# lon [deg] lat [deg]\n1 91", (), "row 1: lon = 1, lat = 91: a latitude must be from -90 to 90 deg"),
    ("# theta [rad] phi [rad]\n3.2 1", (), "row 1: theta = 3.2, phi = 1: theta must be from 0 to 180 deg"),
    ("# lon [deg] lat [deg]\nnan 9", (), "row 1: lon = nan"),
    ("# lon lat\n1 2", (), "column lon states no unit: say whether it is deg or rad"),
    ("# lon [arcmin] lat [arcmin]\n1 2", (), "column lon: unit 'arcmin': must be deg or the like"),
    ("# lon [deg] lat [deg]\n1 2 3", (), "has 3 columns of numbers, and the '#' line above them names 2"),
    ("# x [deg] y [deg]\n1 2", (), "has no columns of positions (THETA, PHI; LON, LAT;"),
    ("# lon [deg] lat [deg] ra [deg] dec [deg]\n1 2 3 4", (), "has columns LON, LAT and RA, DEC: name those of the positions"),
    ("# x [deg] y [deg]\n1 2", ("--lon", "x", "--lat", "z"), "has no columns x and z; its columns are x, y"),
    ("# x [deg] y [deg]\n1 2", ("--lon", "x"), "--lon and --lat: both or none"),
    ("# x [deg] y [deg]\n1 2", ("--lon", "x", "--lat", "y", "--theta", "x", "--phi", "y"), "exclude each other"),
    ("# ra [deg] lat [deg]\n1 2", ("--lon", "ra", "--lat", "lat"), "must be of one coordinate system"),
    ("", (), "holds no numbers")])
def test_bad_positions_are_named(zonal, fails, sky, tmp_path, lines, arguments, message):
    (tmp_path / "bad.txt").write_text(lines + "\n")
    assert message in fails(2 if "both or none" in message or "exclude" in message else 1, "evaluate", "t.fits", "bad.txt", "out.csv", *arguments)
    assert not (tmp_path / "out.csv").exists()


def test_columns_and_units_may_be_named(zonal, sky, tmp_path):
    (tmp_path / "plain.txt").write_text("# x y lon [deg] lat [deg]\n0.3 0.4 1 2\n1.3 2.4 1 2\n")
    report = zonal("evaluate", "t.fits", "plain.txt", "out.csv", "--theta", "X", "--phi", "y", "--unit", "rad")
    assert report["columns"] == ["x", "y"] and report["units"] == ["rad", "rad"]
    assert any("name no coordinate system" in note for note in report["notes"])
    table = np.loadtxt(tmp_path / "out.csv", delimiter=",")
    assert_close(table[:, 2], values_of(sky[0], [0.3, 1.3], [0.4, 2.4]), rtol=0, atol=1e-8)
    # What was written can be read again.
    zonal("evaluate", "t.fits", "out.csv", "again.csv", "--theta", "x", "--phi", "y")
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "again.csv", delimiter=","), table)


def test_coordinates_must_agree(zonal, fails, sky, tmp_path):
    zonal("convert", "iqu.fits", "galactic.fits", "--set-coordsys", "G")
    message = fails(2, "evaluate", "galactic.fits", "catalogue.fits", "out.fits")
    assert "columns RA and dec are equatorial, and galactic.fits is in galactic coordinates: zonal rotate --to equatorial" in message


def test_alm_take_no_options_of_maps(zonal, fails, sky):
    for options in (["--tolerance", "1e-3"], ["--fill-masked"], ["--field", "0"]):
        assert "only --lmax applies" in fails(2, "evaluate", "t.fits", "points.txt", "out.csv", *options)
    assert "ends at 24" in fails(2, "evaluate", "t.fits", "points.txt", "out.csv", "--lmax", 25)
    assert "must end in .csv, .fits" in fails(2, "evaluate", "t.fits", "points.txt", "out.txt")


def test_rotations_by_points_are_those_of_the_alm(zonal, fails, sky, tmp_path):
    turn = ("--euler", "10deg,75deg,-130deg", "--lmax", LMAX)
    of_alm = zonal("rotate", "iqu.fits", "alm.fits", *turn)
    of_points = zonal("rotate", "iqu.fits", "points.fits", *turn, "--by", "points", "--error", "1e-8")
    wanted, made = (np.array([read_map(tmp_path / name, field) for field in range(3)]) for name in ("alm.fits", "points.fits"))
    assert_close(made, wanted, rtol=0, atol=2e-8 * np.abs(wanted).max())
    assert np.abs(made - wanted).max() > 0 and of_points["bound"] <= 1e-8 and "bound" not in of_alm
    assert of_alm["unresolved"] == of_points["unresolved"] < 1e-3
    assert "--error: only with --by points" in fails(2, "rotate", "iqu.fits", "no.fits", *turn, "--error", "1e-8")
    assert "only --lmax applies" in fails(2, "rotate", "t.fits", "no.fits", "--euler", "1deg,2deg,3deg", "--by", "points")


def test_conversion_says_what_it_leaves_out(zonal, sky, tmp_path):
    report = zonal("convert", "iqu.fits", "car.fits", "--car", "40x80", "--lmax", LMAX, "--tolerance", "1e-12")
    assert report["unresolved"] < 1e-11 and report["lmax"] == LMAX
    back = zonal("convert", "car.fits", "back.fits", "--nside", NSIDE, "--lmax", LMAX)
    assert back["unresolved"] < 1e-12  # the analysis of CAR is exact
    for field in range(3):
        given = read_map(tmp_path / "iqu.fits", field)
        assert_close(read_map(tmp_path / "back.fits", field), given, rtol=0, atol=2e-11 * np.abs(given).max())
