"""zonal scan and smooth --beam-alm: what detectors measure, between files, against turned beams and healpy."""

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import UNSEEN, assert_close, header, read_map

LMAX, KMAX, NSIDE, N = 24, 4, 16, 100
RNG = np.random.default_rng(4)
THETA, PHI, PSI, HWP = np.arccos(RNG.uniform(-1, 1, N)), *RNG.uniform(-7, 7, (3, N))
THETA[:2] = 0, np.pi


def white(seed, lmin=0):
    np.random.seed(seed)
    return healpy.almxfl(healpy.synalm(np.ones(LMAX + 1)), np.arange(LMAX + 1) >= lmin)


SKY = np.array([white(1), white(2, 2), white(3, 2)])
DEGREE, ORDER = healpy.Alm.getlm(LMAX)
# Of all orders, as healpy turns them; those above KMAX are 0.
BEAM = np.where(ORDER <= KMAX, np.array([white(4), white(5, 2), white(6, 2)]), 0)


def write_alm(path, alm, mmax):
    """Orders up to mmax."""
    healpy.write_alm(path, list(np.atleast_2d(alm)), lmax=LMAX, mmax=mmax)


def write_table(path, hwp=False, **changes):
    columns = {"THETA": THETA, "PHI": PHI, "PSI": PSI} | ({"HWP": HWP} if hwp else {}) | changes
    fits.BinTableHDU.from_columns([fits.Column(name, "D", unit="rad", array=values) for name, values in columns.items()],
                                  name="POINTINGS").writeto(path)


@pytest.fixture
def files(tmp_path):
    healpy.write_alm(tmp_path / "t.fits", SKY[0])
    healpy.write_alm(tmp_path / "teb.fits", list(SKY))
    write_alm(tmp_path / "beam_t.fits", BEAM[0], KMAX)
    write_alm(tmp_path / "beam_teb.fits", BEAM, KMAX)
    healpy.write_map(tmp_path / "map.fits", healpy.alm2map(SKY, NSIDE), dtype=np.float64)
    healpy.write_map(tmp_path / "i.fits", healpy.alm2map(SKY[0], NSIDE), dtype=np.float64)
    write_table(tmp_path / "scan.fits")


def signal(path):
    return fits.getdata(path, "SIGNAL")["SIGNAL"]


def turned(beam, sky, theta, phi, psi):
    """The signal by turning the beam for each pointing, with healpy."""
    weight = np.where(ORDER == 0, 1, 2)
    found = []
    for t, p, q in zip(theta, phi, psi):
        alm = np.array(np.atleast_2d(beam))
        for row in alm:
            healpy.rotate_alm(row, q, t, p)
        found.append((weight * (alm.conj() * np.atleast_2d(sky)).real).sum())
    return np.array(found)


@pytest.mark.parametrize("components", [1, 3])
def test_the_signal_is_that_of_turned_beams(files, zonal, tmp_path, components):
    which = "t" if components == 1 else "teb"
    report = zonal("scan", f"{which}.fits", "scan.fits", "out.fits", "--beam-alm", f"beam_{which}.fits", "--error", "1e-11")
    expected = turned(BEAM[:components], SKY[:components], THETA, PHI, PSI)
    # healpy turns in double precision too: rounding of both, and the error that was asked for.
    assert_close(signal(tmp_path / "out.fits"), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert report["bound"] <= report["error_bound"] == 1e-11
    assert (report["pointings"], report["kmax"], report["lmax"], report["left_out"]) == (N, KMAX, LMAX, 0)
    cards = fits.getheader(tmp_path / "out.fits", 1)
    assert (cards["MAX-LPOL"], cards["MAX-KPOL"]) == (LMAX, KMAX)


def test_maps_are_analysed_first(files, zonal, tmp_path):
    zonal("scan", "teb.fits", "scan.fits", "of_alm.fits", "--beam-alm", "beam_teb.fits")
    zonal("scan", "map.fits", "scan.fits", "of_map.fits", "--beam-alm", "beam_teb.fits", "--lmax", LMAX, "--tolerance", "1e-12")
    a, b = signal(tmp_path / "of_alm.fits"), signal(tmp_path / "of_map.fits")
    assert_close(b, a, rtol=0, atol=1e-9 * np.abs(a).max())  # the residual times the condition of the analysis


def test_elliptical_beams_and_kmax(files, zonal, tmp_path):
    ellipse = ("--fwhm", "20deg", "--ellipticity", 1.4, "--orientation", "30deg")
    report = zonal("scan", "t.fits", "scan.fits", "all.fits", *ellipse, "--error", "1e-8")
    assert report["left_out"] < 1e-7
    some = zonal("scan", "t.fits", "scan.fits", "some.fits", *ellipse, "--error", "1e-8", "--kmax", 2)
    assert some["kmax"] == 2 < report["kmax"]
    a, b = signal(tmp_path / "all.fits"), signal(tmp_path / "some.fits")
    # 100 pointings, of which the report has the mean.
    assert 0.3 < np.std(a - b) / np.std(b) / some["left_out"] < 3
    # Half a turn leaves an ellipse as it is.
    write_table(tmp_path / "turned.fits", PSI=PSI + np.pi)
    zonal("scan", "t.fits", "turned.fits", "half.fits", *ellipse, "--error", "1e-8")
    assert_close(signal(tmp_path / "half.fits"), a, rtol=0, atol=2e-8 * np.abs(a).max())


def test_displaced_kernels_stand_for_a_beam(files, zonal, tmp_path):
    ellipse = ("--fwhm", "17deg", "--ellipticity", 1.1, "--error", "0.02")
    orders = zonal("scan", "t.fits", "scan.fits", "orders.fits", *ellipse, "--method", "harmonic")
    report = zonal("scan", "t.fits", "scan.fits", "kernels.fits", *ellipse, "--method", "displaced")
    assert (orders["method"], report["method"]) == ("harmonic", "displaced") and "kernels" not in orders
    assert 1 < report["kernels"] <= 8 and report["bound"] <= report["error_bound"] == 0.02 and report["device"] == "cpu"
    a, b = signal(tmp_path / "orders.fits"), signal(tmp_path / "kernels.fits")
    # Both errors, and what orders above kmax hold, which this beam's file leaves out for both.
    assert 0 < np.abs(a - b).max() <= 0.04 * np.abs(a).max()
    assert zonal("scan", "t.fits", "scan.fits", "auto.fits", *ellipse)["method"] in ("harmonic", "displaced")


def test_a_round_beam_smooths(files, zonal, tmp_path):
    zonal("smooth", "t.fits", "smoothed.fits", "--fwhm", "10deg")
    window = np.sqrt((2 * np.arange(LMAX + 1) + 1) / (4 * np.pi)) * healpy.gauss_beam(np.radians(10), LMAX)
    round_beam = np.zeros_like(SKY[0])
    round_beam[:LMAX + 1] = window
    write_alm(tmp_path / "round.fits", round_beam, 0)
    theta, phi = healpy.pix2ang(NSIDE, np.arange(12 * NSIDE**2))
    write_table(tmp_path / "pixels.fits", THETA=theta, PHI=phi, PSI=0 * phi)
    zonal("scan", "t.fits", "pixels.fits", "out.fits", "--beam-alm", "round.fits", "--error", "1e-10")
    expected = healpy.alm2map(healpy.read_alm(tmp_path / "smoothed.fits"), NSIDE)
    assert_close(signal(tmp_path / "out.fits"), expected, rtol=0, atol=1.1e-10 * np.abs(expected).max())
    # And on the pixels of a map.
    zonal("smooth", "i.fits", "on_pixels.fits", "--beam-alm", "round.fits", "--lmax", LMAX, "--tolerance", "1e-12")
    assert_close(read_map(tmp_path / "on_pixels.fits"), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_half_wave_plate(files, zonal, tmp_path):
    """Behind a plate at alpha, a narrow beam measures I + Re(exp(4 i alpha) conj(P)), P in its own axes."""
    narrow = ("--fwhm", "1arcmin", "--error", "1e-9")
    write_table(tmp_path / "plate.fits", hwp=True)
    write_table(tmp_path / "turned.fits", PSI=PSI + np.pi / 4)
    report = zonal("scan", "teb.fits", "plate.fits", "plate.out", *narrow, "--polarization", "0deg")
    assert report["half_wave_plate"] is True
    for table, out in (("scan.fits", "real.out"), ("turned.fits", "imaginary.out")):
        assert zonal("scan", "teb.fits", table, out, *narrow, "--polarization", "0deg")["half_wave_plate"] is False
    zonal("scan", "teb.fits", "scan.fits", "i.out", *narrow)
    i, *parts = (signal(tmp_path / f"{name}.out") for name in ("i", "real", "imaginary"))
    p = parts[0] - i + 1j * (parts[1] - i)  # Q cos 2 psi + U sin 2 psi, and that an eighth of a turn on
    expected = i + (np.exp(4j * HWP) * p.conj()).real
    # The beam turns polarisation by its width, 1e-4 rad, squared; three signals err by 1e-9.
    assert_close(signal(tmp_path / "plate.out"), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_what_one_of_them_has_not_is_said(files, zonal, tmp_path):
    notes = zonal("scan", "teb.fits", "scan.fits", "a.fits", "--beam-alm", "beam_t.fits")["notes"]
    assert any("the beam has no E and B" in note for note in notes)
    zonal("scan", "t.fits", "scan.fits", "b.fits", "--beam-alm", "beam_t.fits")
    np.testing.assert_array_equal(signal(tmp_path / "a.fits"), signal(tmp_path / "b.fits"))
    write_table(tmp_path / "plate.fits", hwp=True)
    notes = zonal("scan", "t.fits", "plate.fits", "c.fits", "--beam-alm", "beam_teb.fits")["notes"]
    assert any("has no polarisation" in note for note in notes)
    assert any("a half-wave plate does not change I" in note for note in notes)
    np.testing.assert_array_equal(signal(tmp_path / "c.fits"), signal(tmp_path / "b.fits"))


def test_columns_have_names_and_units(files, zonal, tmp_path):
    zonal("scan", "t.fits", "scan.fits", "a.fits", "--beam-alm", "beam_t.fits")
    columns = [fits.Column(name, "D", unit=unit, array=values) for name, unit, values in
               (("T", "deg", np.degrees(THETA)), ("P", "", PHI), ("ROLL", "deg", np.degrees(PSI)))]
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU(name="EMPTY"), fits.BinTableHDU.from_columns(columns, name="OTHER")]).writeto(
        tmp_path / "named.fits")
    report = zonal("scan", "t.fits", "named.fits", "b.fits", "--beam-alm", "beam_t.fits", "--theta", "T", "--phi", "P", "--psi", "ROLL",
                   "--pointings-hdu", "OTHER", "--precision", "float")
    assert any("column P has no unit: taken as rad" in note for note in report["notes"])
    a, b = signal(tmp_path / "a.fits"), signal(tmp_path / "b.fits")
    assert_close(b, a, rtol=0, atol=1e-6 * np.abs(a).max())
    assert b.dtype.itemsize == 4


def test_a_beam_at_one_orientation_smooths_a_map(files, zonal, tmp_path):
    pixels = np.arange(12 * NSIDE**2)
    some = pixels[::61]
    theta, phi = healpy.pix2ang(NSIDE, some)
    for name, sky, beam, components in (("map.fits", SKY, "beam_teb.fits", 3), ("i.fits", SKY, "beam_t.fits", 1)):
        report = zonal("smooth", name, f"out_{name}", "--beam-alm", beam, "--psi", "-40deg", "--lmax", LMAX, "--tolerance", "1e-13")
        found = healpy.read_map(tmp_path / f"out_{name}", field=None, dtype=np.float64)
        assert found.ndim == 1
        expected = turned(BEAM[:components], sky[:components], theta, phi, np.full(len(some), np.radians(-40)))
        # The residual times the condition of the analysis, and healpy's rounding.
        assert_close(found[some], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        assert (report["lmax"], report["kmax"]) == (LMAX, KMAX)
        cards = header(tmp_path / f"out_{name}")
        assert (cards["MAX-KPOL"], cards["BEAMALM"]) == (KMAX, beam) and abs(cards["BEAMPSI"] + 40) < 1e-12


def test_masked_pixels_stay_unseen(files, zonal, tmp_path):
    sky = healpy.read_map(tmp_path / "i.fits", dtype=np.float64)
    sky[7] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", sky, dtype=np.float64)
    mask = np.ones(len(sky))
    mask[9] = 0
    healpy.write_map(tmp_path / "mask.fits", mask, dtype=np.float64)
    given = ("holes.fits", "--beam-alm", "beam_t.fits", "--lmax", LMAX, "--mask", "mask.fits")
    zonal("smooth", given[0], "out.fits", *given[1:])
    assert np.flatnonzero(read_map(tmp_path / "out.fits") == UNSEEN).tolist() == [7, 9]
    zonal("smooth", given[0], "filled.fits", *given[1:], "--fill-masked")
    assert not (read_map(tmp_path / "filled.fits") == UNSEEN).any()


BEAM_T = ("--beam-alm", "beam_t.fits")


@pytest.mark.parametrize("arguments, status, text", [
    (("scan", "t.fits", "scan.fits", "out.fits"), 2, "one of --beam-alm FILE and --fwhm ANGLE is required"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--fwhm", "1deg"), 2, "one of --beam-alm FILE and --fwhm ANGLE is required"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--ellipticity", 2), 2, "only with --fwhm"),
    (("scan", "t.fits", "scan.fits", "out.fits", "--fwhm", "9deg", "--efficiency", 0.5), 2, "--efficiency: only with --polarization"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--kmax", 9), 2, "--kmax = 9: must be at most 4"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--lmax", 99), 2, "--lmax = 99: t.fits ends at 24"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--iter", 1), 2, "t.fits holds alm"),
    (("scan", "map.fits", "scan.fits", "out.fits", *BEAM_T), 2, "ends at l = 24: must go on to lmax = 47; --lmax lowers that"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--psi", "NO"), 1, "table of pointings"),
    (("scan", "t.fits", "t.fits", "out.fits", *BEAM_T), 1, "table of pointings"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--error", "1e-14"), 2, "--error"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--method", "kernels"), 2, "--method"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--method", "displaced"), 2, "displaced kernels reach"),
    (("scan", "t.fits", "scan.fits", "out.fits", *BEAM_T, "--method", "displaced", "--device", "cuda"), 2,
     "--device cuda: --method displaced runs on the CPU"),
    (("scan", "teb.fits", "scan.fits", "out.fits", "--beam-alm", "beam_teb.fits", "--method", "displaced"), 2, "T alone"),
    (("scan", "t.fits", "scan.fits", "t.fits", *BEAM_T), 1, "t.fits"),
    (("smooth", "i.fits", "out.fits", "--psi", "1deg", "--fwhm", "1deg"), 2, "--psi: only with --beam-alm"),
    (("smooth", "i.fits", "out.fits", "--kmax", 1), 2, "--kmax: only with --beam-alm"),
    (("smooth", "i.fits", "out.fits", *BEAM_T, "--fwhm", "1deg"), 2, "not with --beam-alm"),
    (("smooth", "i.fits", "out.fits", *BEAM_T, "--error", "1e-3"), 2, "not with --beam-alm"),
    (("smooth", "i.fits", "out.fits", *BEAM_T, "--nside-out", 8), 2, "--nside-out: not with --beam-alm"),
    (("smooth", "t.fits", "out.fits", *BEAM_T), 2, "holds alm: must be a map"),
    (("smooth", "map.fits", "out.fits", *BEAM_T, "--lmax", LMAX), 2, "must have E and B for these"),
    (("smooth", "i.fits", "out.fits", "--beam-alm", "beam_teb.fits", "--lmax", LMAX), 2, "must have I, Q and U"),
])
def test_what_it_cannot_do_is_refused(files, fails, arguments, status, text):
    assert text in fails(status, *arguments)
