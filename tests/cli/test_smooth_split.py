"""zonal smooth --method split, and --method auto where a split is fastest: against harmonic space by healpy."""


import healpy
import numpy as np
import pytest

from conftest import UNSEEN, call, header, read_map, write_costs

NSIDE, LMAX = 64, 128
KERNEL = ("--cl", "cl.txt", "--fwhm", "6deg", "--lmax", LMAX)


@pytest.fixture
def white(tmp_path):
    """white.fits, white noise, and cl.txt, C_l = 1/l^2; returns the noise."""
    values = np.random.default_rng(5).normal(size=12 * NSIDE**2)
    healpy.write_map(tmp_path / "white.fits", values, dtype=np.float64)
    l = np.arange(LMAX + 1)
    np.savetxt(tmp_path / "cl.txt", np.transpose([l, c_l()]), header="l TT")
    return values


def c_l():
    l = np.arange(LMAX + 1)
    return np.where(l > 1, 1 / np.maximum(l, 1.0) ** 2, 0)


def sum_over_pixels(values, window):
    """What it is for a window that ends at LMAX: analysis without iterations, window, synthesis."""
    alm = healpy.map2alm(values, lmax=LMAX, iter=0)
    return healpy.alm2map(healpy.almxfl(alm, window), NSIDE)


def window_of_sky():
    return np.sqrt(c_l()) * healpy.gauss_beam(np.radians(6), lmax=LMAX)


def relative_rms(values, expected):
    return np.sqrt(np.mean((values - expected) ** 2) / np.mean(expected**2))


@pytest.mark.parametrize("error, precision", [("1e-2", "float"), ("1e-3", "float"), ("1e-3", "double"), ("1e-5", "double")])
def test_split_is_the_sum_over_pixels_within_the_error(white, zonal, tmp_path, error, precision):
    report = zonal("smooth", "white.fits", "out.fits", *KERNEL, "--method", "split", "--error", error, "--precision", precision)
    error = float(error)
    actual = relative_rms(read_map(tmp_path / "out.fits"), sum_over_pixels(white, window_of_sky()))
    cards = header(tmp_path / "out.fits")
    assert report["precision"] == precision and report["error_bound"] == error
    written = 2**-24 if precision == "float" else 0  # what a file of floats rounds
    assert actual - written <= report["certified_error"] <= error, (actual, report)
    assert report["error_is"] == "certified for this map" and "estimated_error" not in report
    assert cards["CERTERR"] == pytest.approx(report["certified_error"])
    assert report["method"] == "split" and report["reference"] == "discrete" and report["normalize"] == "none"
    assert 0 <= report["l_cut"] < LMAX and report["theta_cut_arcmin"] > 0 and report["amplification"] <= 2
    assert report["parts_seconds"]["pixels"] > 0 and report["parts_seconds"]["harmonic"] > 0
    assert report["plan_seconds"] > 0 and "support_deg" not in report
    assert cards["METHOD"] == "split" and cards["L_CUT"] == report["l_cut"]
    assert cards["THETACUT"] == pytest.approx(report["theta_cut_arcmin"] / 60)


@pytest.mark.parametrize("slope", [2, 4])
def test_steep_maps_keep_the_error_too(zonal, tmp_path, slope):
    """Their pixels alias large scales to degrees above lmax, where profiles leak."""
    rng = np.random.default_rng(9)
    l, _ = healpy.Alm.getlm(3 * NSIDE - 1)
    alm = (rng.normal(size=l.size) + 1j * rng.normal(size=l.size)) / (l + 2.0) ** (slope / 2)
    alm[: 3 * NSIDE] = alm[: 3 * NSIDE].real
    values = healpy.alm2map(alm, NSIDE)
    healpy.write_map(tmp_path / "steep.fits", values, dtype=np.float64)
    report = zonal("smooth", "steep.fits", "out.fits", "--fwhm", "6deg", "--lmax", LMAX, "--method", "split", "--error", "1e-4")
    expected = sum_over_pixels(values, healpy.gauss_beam(np.radians(6), lmax=LMAX))
    actual = relative_rms(read_map(tmp_path / "out.fits"), expected)
    assert actual <= report["certified_error"] <= 1e-4, (actual, report)


def test_report_as_text_says_where_it_is_split(white, tmp_path):
    result = call("smooth", "white.fits", "out.fits", *KERNEL, "--method", "split", "--error", "1e-3", "--verbose", cwd=tmp_path)
    assert result.code == 0, result.err
    for name in ("l cut", "theta cut arcmin", "certified error", "parts seconds"):
        assert f"\n{name} " in result.out, result.out


def test_theta_cut_is_taken(white, zonal):
    report = zonal("smooth", "white.fits", "out.fits", *KERNEL, "--method", "split", "--error", "1e-3", "--theta-cut", "15deg",
                   "--explain")
    assert report["theta_cut_arcmin"] == pytest.approx(900)
    assert [row["support_arcmin"] for row in report["choices"] if row["method"] == "split"] == pytest.approx([900])
    assert {row["method"] for row in report["choices"]} == {"harmonic", "split"}


def test_gaussians_and_beams_are_applied_as_they_are(white, zonal, tmp_path):
    window = healpy.gauss_beam(np.radians(6), lmax=LMAX)
    np.savetxt(tmp_path / "beam.txt", 3 * window)
    for kernel, factor in ((["--fwhm", "6deg"], 1), (["--beam", "beam.txt"], 3), (["--beam", "beam.txt", "--normalize", "window"], 1)):
        zonal("smooth", "white.fits", "out.fits", *kernel, "--lmax", LMAX, "--method", "split", "--error", "1e-4", "--overwrite")
        assert relative_rms(read_map(tmp_path / "out.fits"), factor * sum_over_pixels(white, window)) <= 1e-4


def test_masked_pixels_count_as_0_and_stay_unseen(white, zonal, tmp_path):
    values = white.copy()
    values[1000:1500] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", values, dtype=np.float64)
    report = zonal("smooth", "holes.fits", "out.fits", *KERNEL, "--method", "split", "--error", "1e-4")
    out = read_map(tmp_path / "out.fits")
    assert np.array_equal(out == UNSEEN, values == UNSEEN)
    assert report["fields"][0]["masked_pixels"] == 500
    seen = values != UNSEEN
    expected = sum_over_pixels(np.where(seen, values, 0), window_of_sky())
    assert relative_rms(out[seen], expected[seen]) <= 1e-4


def test_auto_takes_the_split_where_it_is_fastest(tmp_path):
    nside, lmax = 128, 256
    rng = np.random.default_rng(6)
    values = rng.normal(size=12 * nside**2)
    healpy.write_map(tmp_path / "white.fits", values, dtype=np.float64)
    l = np.arange(lmax + 1)
    window = np.where(l > 1, 1 / np.maximum(l, 1.0), 0) * healpy.gauss_beam(np.radians(4), lmax=lmax)
    np.savetxt(tmp_path / "beam.txt", window)
    write_costs(tmp_path / "costs.json", legendre=3000, sums=20)
    result = call("smooth", "white.fits", "out.fits", "--beam", "beam.txt", "--lmax", lmax, "--normalize", "none", "--method",
                  "auto", "--error", "1e-3", "--costs", "costs.json", "--explain", "--reference", "discrete", "--json", cwd=tmp_path)
    assert result.code == 0, result.err
    report = result.report
    assert report["choices"][0]["method"] == "split" == report["method"], report["choices"]
    assert report["method_asked_for"] == "auto" and report["costs"] == "made up"
    for name in ("l_cut", "device"):
        assert report[name] == report["choices"][0][name]
    assert report["theta_cut_arcmin"] == pytest.approx(report["choices"][0]["support_arcmin"])
    expected = healpy.alm2map(healpy.almxfl(healpy.map2alm(values, lmax=lmax, iter=0), window), nside)
    assert relative_rms(read_map(tmp_path / "out.fits"), expected) <= 1e-3


SPLIT = ("--method", "split")


@pytest.mark.parametrize("arguments, words", [
    ([*SPLIT, "--cut", "1deg"], ["split", "--cut"]),
    ([*SPLIT, "--iter", "2"], ["iterations", "split"]),
    ([*SPLIT, "--tolerance", "1e-8"], ["tolerance", "split"]),
    ([*SPLIT, "--reference", "continuous"], ["--reference continuous", "must be discrete"]),
    ([*SPLIT, "--normalize", "pixel"], ["counts", "split"]),
    ([*SPLIT, "--nside-out", "8"], ["other pixels", "split"]),
    ([*SPLIT, "--fwhm-in", "1deg"], ["windows of the input", "split"]),
    ([*SPLIT, "--mask-mode", "renormalize"], ["--mask-mode renormalize", "split"]),
    ([*SPLIT, "--theta-cut", "200deg"], ["--theta-cut = 200deg", "180deg"]),
    ([*SPLIT, "--error", "1e-11"], ["--error = 1e-11", "not certified", "split"]),
    ([*SPLIT, "--fwhm", "10arcmin", "--lmax", "20"], ["split", "not certified"]),
    (["--theta-cut", "1deg"], ["--theta-cut", "split"]),
    (["--method", "ring-fft", "--theta-cut", "1deg"], ["--theta-cut", "split"]),
    (["--method", "ring-fft", "--costs", "c.json"], ["--costs", "--method auto"]),
    (["--method", "auto", "--costs", "c.json"], ["c.json", "cannot be opened"]),
    (["--cl", "cl.txt"], ["cl.txt"]),
])
def test_wrong_use_is_one_line(sky, fails, arguments, words):
    given = [] if "--fwhm" in arguments else ["--fwhm", "20deg"]
    cannot_be_kept = "lmax = 20" in words or "not certified" in words
    code = 1 if "c.json" in words or "cl.txt" in words or cannot_be_kept else 2
    line = fails(code, "smooth", "sky.fits", "out.fits", "--field", "0", "--no-pol", *given, *arguments)
    for word in words:
        assert word in line


@pytest.fixture
def polarized(tmp_path):
    """iqu.fits, white noise; returns I, Q, U."""
    maps = np.random.default_rng(6).normal(size=(3, 12 * NSIDE**2))
    healpy.write_map(tmp_path / "iqu.fits", maps, dtype=np.float64, extra_header=[("POLCCONV", "COSMO")],
                     column_names=["I_STOKES", "Q_STOKES", "U_STOKES"])
    return maps


def beam(spin):
    """Steep at low l, faded away at LMAX."""
    l = np.arange(LMAX + 1.0)
    return np.where(l >= spin, np.exp(-l * (l + 1) * np.radians(6) ** 2 / 2 / (8 * np.log(2))) / (l + 1), 0)


def write_beam(path, e=None):
    l = np.arange(LMAX + 1.0)
    np.savetxt(path, np.transpose([l, beam(0), beam(0) if e is None else e, beam(0)]), header="l T E B")


def sums_of_q_and_u(q, u):
    e, b = healpy.map2alm_spin([q, u], 2, lmax=LMAX)
    return healpy.alm2map_spin([healpy.almxfl(e, beam(2)), healpy.almxfl(b, beam(2))], NSIDE, 2, LMAX)


BEAM = ("--beam", "beam.txt", "--lmax", LMAX, "--normalize", "none", "--method", "split")


@pytest.mark.parametrize("error, precision", [("1e-3", "double"), ("1e-5", "double"), ("1e-3", "float")])
def test_i_and_q_and_u_are_split_apart(polarized, zonal, tmp_path, error, precision):
    write_beam(tmp_path / "beam.txt")
    report = zonal("smooth", "iqu.fits", "out.fits", *BEAM, "--error", error, "--precision", precision)
    found = read_map(tmp_path / "out.fits", field=(0, 1, 2))
    expected = [sum_over_pixels(polarized[0], beam(0)), *sums_of_q_and_u(*polarized[1:])]
    assert relative_rms(found[0], expected[0]) <= float(error)
    assert relative_rms(np.asarray(found[1:]), np.asarray(expected[1:])) <= float(error)
    assert report["method"] == "split" and [part["part"] for part in report["parts"]] == ["I_STOKES", "Q_STOKES, U_STOKES"]
    cards = header(tmp_path / "out.fits")
    for part, l_cut, theta_cut in zip(report["parts"], ["L_CUT", "L_CUTQU"], ["THETACUT", "THCUTQU"]):
        assert 0 <= part["l_cut"] < LMAX
        assert part["certified_error"] <= float(error)
        assert part["parts_seconds"]["pixels"] > 0 and part["parts_seconds"]["harmonic"] > 0
        assert cards[l_cut] == part["l_cut"] and cards[theta_cut] == pytest.approx(part["theta_cut_arcmin"] / 60)
    assert cards["METHODQU"] == "split"


def test_kernels_whose_windows_of_e_and_b_differ_are_not_split(polarized, fails, tmp_path):
    write_beam(tmp_path / "beam.txt", e=0.9 * beam(0))
    line = fails(2, "smooth", "iqu.fits", "out.fits", *BEAM, "--error", "1e-3")
    assert "--method split" in line and "E and B" in line
