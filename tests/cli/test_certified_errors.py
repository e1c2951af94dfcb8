"""zonal smooth --error: certified for the map at hand, whatever the map is, or exit status 1 and no file. Each result is compared
with transforms of ducc0 by all degrees of the window (discrete reference) or a least-squares analysis (continuous)."""

import healpy
import numpy as np
import pytest

from attack_maps import Grid
from certificate_attacks import least_squares, sum_by_profile, sum_over_pixels, times_window
from conftest import EPS, UNSEEN, assert_close, call, header, read_map

NSIDE = 32
GRID = Grid(NSIDE)
FWHM = ("--fwhm", "12deg")
AUTO = (*FWHM, "--method", "auto")
REFERENCES = ["discrete", "continuous"]
NAMES = ["I_STOKES", "Q_STOKES", "U_STOKES"]


def mode(l, m):
    """One alm of 1."""
    alm = np.zeros(healpy.Alm.getsize(3 * NSIDE - 1), complex)
    alm[healpy.Alm.getidx(3 * NSIDE - 1, l, m)] = 1
    return healpy.alm2map(alm, NSIDE)


def noise(seed, rows=()):
    return np.random.default_rng(seed).normal(size=(*rows, GRID.npix))


MAPS = {
    "noise": lambda: noise(1),
    "mode": lambda: mode(12, 3),
    "mode that is nearly removed": lambda: mode(50, 17),
    "checkerboard": lambda: np.where((GRID.place + GRID.ring) % 2 == 0, 1.0, -1.0),
    "alternating rings": lambda: (-1.0) ** GRID.ring,
    "offset": lambda: 2.7255 + 1e-5 * noise(2),
    "point source": lambda: (np.arange(GRID.npix) == 4321).astype(float),
}


def window(spin=0, lmax=300):
    l = np.arange(lmax + 1.0)
    return np.exp(-(l * (l + 1) - spin**2) * np.radians(12) ** 2 / (16 * np.log(2)))


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def truth(maps, report):
    """What the result stands for, by the report; maps: [1 or 2, pixel]."""
    spin = 2 if len(maps) == 2 else 0
    windows = [window(spin)] * len(maps)
    if report["reference"] == "discrete":
        return sum_over_pixels(GRID, maps, windows)
    lmax = report["lmax"]
    alm = least_squares(GRID, maps, lmax, spin)
    return GRID.synthesize(times_window(alm, [one[:lmax + 1] for one in windows], lmax), lmax, spin)


def smooth(folder, *arguments, values=None, code=0):
    """Of map.fits, which gets the values: the report, and the result if there is one."""
    if values is not None:
        healpy.write_map(folder / "map.fits", values, dtype=np.float64, overwrite=True)
    (folder / "out.fits").unlink(missing_ok=True)
    result = call("smooth", "map.fits", "out.fits", *arguments, "--json", cwd=folder)
    assert result.code == code, result.err
    report = result.report
    return report, read_map(folder / "out.fits") if (folder / "out.fits").exists() else None


def expect_certified(found, expected, report):
    """The bounds hold, of the map and of what varies in it, and keep --error."""
    error = rms(found - expected)
    assert error <= report["certified_error"] * rms(expected)
    assert report["certified_error"] <= report["error_bound"] and report["error_is"] == "certified for this map"
    if "certified_error_of_variations" in report:
        assert error <= report["certified_error_of_variations"] * np.std(expected)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name, error", [*((name, "1e-7") for name in MAPS), ("mode that is nearly removed", "1e-3"),
                                         ("checkerboard", "1e-2")])
def test_auto_keeps_the_error_on_maps_that_no_spectrum_foresees(tmp_path, name, error, reference):
    values = MAPS[name]()
    report, found = smooth(tmp_path, *AUTO, "--reference", reference, "--error", error, values=values)
    expect_certified(found, truth(values[None], report)[0], report)
    # The first plan is enough for noise, and for maps that keep more of their rms than noise does.
    is_faint = rms(found) < rms(truth(noise(1)[None], report)) * rms(values)
    assert is_faint or "attempts" not in report


@pytest.mark.parametrize("method", ["ring-fft", "pixel-sum", "split"])
@pytest.mark.parametrize("name", ["mode that is nearly removed", "checkerboard", "point source"])
def test_so_do_methods_by_name_or_refuse(tmp_path, name, method):
    values = MAPS[name]()
    healpy.write_map(tmp_path / "map.fits", values, dtype=np.float64)
    result = call("smooth", "map.fits", "out.fits", *FWHM, "--method", method, "--error", "1e-5", "--json", cwd=tmp_path)
    if result.code == 0:
        assert result.report["method"] == method
        expect_certified(read_map(tmp_path / "out.fits"), truth(values[None], result.report)[0], result.report)
    else:
        assert result.code == 1 and "--error = 1e-05: is not certified for this map" in result.err
        assert not (tmp_path / "out.fits").exists()
    assert result.code == 0 or (method, name) == ("split", "mode that is nearly removed")


@pytest.mark.parametrize("method", ["auto", "harmonic"])
@pytest.mark.parametrize("error", ["1e-3", "1e-6"])
def test_profiles_whose_windows_have_no_end(tmp_path, method, error):
    """Of few values, so that the window falls slowly; harmonic space stops at some degree of it."""
    theta = np.linspace(0, 1.05, 12)
    value = np.exp(-0.5 * (theta / 0.35) ** 2) * np.cos(8 * theta)
    np.savetxt(tmp_path / "profile.txt", np.transpose([theta, value]), header="theta [rad] value [1/sr]", fmt="%.17g")
    values = healpy.ud_grade(mode(30, 11), 16)
    healpy.write_map(tmp_path / "map.fits", values, dtype=np.float64)
    result = call("smooth", "map.fits", "out.fits", "--profile", "profile.txt", "--normalize", "none", "--method", method,
                  "--reference", "discrete", "--error", error, "--json", cwd=tmp_path)
    if result.code == 0:
        expected = sum_by_profile(Grid(16), values[None], (theta, value))[0]
        expect_certified(read_map(tmp_path / "out.fits"), expected, result.report)
    else:
        assert result.code == 1 and "is not certified for this map" in result.err and method == "harmonic"


def test_the_certificate_is_made_of_what_was_measured(tmp_path):
    values = noise(3)
    report, found = smooth(tmp_path, *AUTO, "--reference", "discrete", "--error", "1e-4", values=values)
    certificate = report["certificate"]
    # Sums of as many squares as there are pixels: a random walk of roundings.
    walk = {"rel": np.sqrt(GRID.npix) * EPS, "abs": 0}
    assert certificate["rms_in"] == pytest.approx(rms(values), **walk) and certificate["rms_out"] == pytest.approx(rms(found), **walk)
    parts = sum(certificate[name] for name in ("cut", "window", "quadrature", "accuracy", "rounding"))
    # Over the rms of the reference, which may be smaller than the result by as much.
    assert report["certified_error"] == pytest.approx(parts / (1 - parts), rel=16 * EPS, abs=0)
    # The same, with the standard deviation's walk, which takes a mean off before.
    assert report["certified_error_of_variations"] == pytest.approx(
        parts * rms(found) / (np.std(found) - parts * rms(found)), rel=4 * np.sqrt(GRID.npix) * EPS, abs=0)


def test_where_less_is_left_than_of_noise_it_is_planned_once_more(tmp_path):
    hard = (*FWHM, "--method", "ring-fft", "--error", "1e-4")
    one, _ = smooth(tmp_path, *hard, values=noise(4))
    other, _ = smooth(tmp_path, *hard, values=mode(35, 17))
    assert "attempts" not in one and other["attempts"] == 2
    assert other["support_deg"] > one["support_deg"] and other["certified_error"] <= 1e-4


def test_a_large_offset_hides_no_error_of_what_varies(tmp_path):
    values = 1e6 + noise(5)
    report, found = smooth(tmp_path, *AUTO, "--error", "1e-3", values=values)
    expected = truth(values[None], report)[0]
    expect_certified(found, expected, report)
    assert any("varies in the map about its mean" in note for note in report["notes"])
    assert report.get("certified_error_of_variations", np.inf) > 1e-3


@pytest.mark.parametrize("value", [1.0, 2.7255, 3.0, 1e5 / 3])
def test_a_constant_map_has_no_variations_to_certify(tmp_path, value):
    """The mean of squares less the square of the mean rounds to 1e-8 of the map, and nothing varies so much."""
    report, found = smooth(tmp_path, *AUTO, "--error", "1e-6", values=np.full(GRID.npix, value))
    assert rms(found - value) <= value * report["certified_error"] <= value * 1e-6
    assert "certified_error_of_variations" not in report


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e160, 1e200])
def test_values_whose_squares_no_number_holds_are_certified_or_refused(tmp_path, unit, reference):
    """Their squares are 0 or infinite in double precision."""
    values = MAPS["mode that is nearly removed"]()
    healpy.write_map(tmp_path / "map.fits", values * unit, dtype=np.float64)
    result = call("smooth", "map.fits", "out.fits", *AUTO, "--reference", reference, "--error", "1e-6", "--json", cwd=tmp_path)
    assert result.code in (0, 1) and (tmp_path / "out.fits").exists() == (result.code == 0)
    if result.code == 0:
        found = read_map(tmp_path / "out.fits")
        assert result.report["certified_error"] > 0
        expect_certified(found / unit, truth(values[None], result.report)[0], result.report)


def test_a_map_of_zeros_stays_one(tmp_path):
    for reference in REFERENCES:
        report, found = smooth(tmp_path, *AUTO, "--reference", reference, values=np.zeros(GRID.npix))
        assert not found.any() and report["certified_error"] == 0


@pytest.mark.parametrize("lmax, error, iterations", [
    (40, "1e-3", ()), (64, "1e-8", ()), (76, "1e-6", ()), (40, "1e-6", ("--iter", 20)), (64, "1e-6", ("--tolerance", "1e-12"))])
def test_harmonic_space_is_certified_against_least_squares(tmp_path, error, lmax, iterations):
    values = noise(6)
    report, found = smooth(tmp_path, *FWHM, "--method", "harmonic", "--error", error, "--lmax", lmax, *iterations, values=values)
    assert report["reference"] == "continuous" and report["lmax"] == lmax
    assert "attempts" not in report
    expect_certified(found, truth(values[None], report)[0], report)


def test_iterations_that_are_given_are_checked(tmp_path):
    given = (*FWHM, "--method", "auto", "--lmax", 64, "--iter", 1)
    report, found = smooth(tmp_path, *given, "--error", "1e-6", values=noise(7), code=1)
    assert found is None and "is not certified for this map" in report["error"]
    report, found = smooth(tmp_path, *given, "--error", "0.5")
    expect_certified(found, truth(noise(7)[None], report)[0], report)


def test_no_analysis_above_24_nside_is_certified(tmp_path):
    report, _ = smooth(tmp_path, "--fwhm", "1deg", "--method", "auto", values=noise(8))
    assert report["lmax"] == 76  # 2.4 nside
    assert any("the answer depends on lmax" in note for note in report["notes"])
    for method in ("auto", "harmonic"):
        report, found = smooth(tmp_path, "--fwhm", "1deg", "--method", method, "--error", "1e-3", "--lmax", 77, code=1)
        assert found is None and "above lmax = 76 has no bound" in report["error"]


@pytest.mark.parametrize("method", ["auto", "harmonic", "ring-fft"])
@pytest.mark.parametrize("reference", REFERENCES)
def test_i_and_q_u_have_certificates_of_their_own(tmp_path, method, reference):
    maps = np.array([MAPS["offset"](), *noise(9, (2,))])
    healpy.write_map(tmp_path / "map.fits", maps, dtype=np.float64, column_names=NAMES, extra_header=[("POLCCONV", "COSMO")])
    arguments = (*FWHM, "--method", method, "--error", "1e-5", "--reference", reference)
    if (method, reference) == ("ring-fft", "continuous"):
        result = call("smooth", "map.fits", "out.fits", *arguments, cwd=tmp_path)
        assert result.code == 2 and "--reference continuous" in result.err
        return
    report, _ = smooth(tmp_path, *arguments)
    found, cards = read_map(tmp_path / "out.fits", field=(0, 1, 2)), header(tmp_path / "out.fits")
    assert [part["part"] for part in report["parts"]] == ["I_STOKES", "Q_STOKES, U_STOKES"]
    for part, rows, card in zip(report["parts"], ([0], [1, 2]), ("CERTERR", "CERTERRQ")):
        expected = truth(maps[rows], {**part, "reference": report["reference"]})
        assert rms(found[rows] - expected) <= part["certified_error"] * rms(expected)
        assert part["certified_error"] <= part["error_bound"] == 1e-5
        assert cards[card] == pytest.approx(part["certified_error"])


def test_several_fields_are_as_good_as_the_worst(tmp_path):
    maps = np.array([noise(10), mode(50, 17), 1e9 * noise(11)])
    healpy.write_map(tmp_path / "map.fits", maps, dtype=np.float64, column_names=["A", "B", "C"])
    report, _ = smooth(tmp_path, *AUTO, "--no-pol", "--reference", "discrete", "--error", "1e-4")
    found = read_map(tmp_path / "out.fits", field=(0, 1, 2))
    errors = [rms(ours - theirs) / rms(theirs) for ours, theirs in zip(found, [truth(one[None], report)[0] for one in maps])]
    assert max(errors) <= report["certified_error"] <= 1e-4 and report["attempts"] == 2
    assert report["certificate"]["rms_out"] == pytest.approx(rms(found[1]))  # of which least is left


@pytest.mark.parametrize("method, reference", [("auto", "discrete"), ("ring-fft", "discrete"), ("pixel-sum", "discrete"),
                                               ("auto", "continuous"), ("harmonic", "continuous")])
@pytest.mark.parametrize("options", [(), ("--fill-masked", "--mask-threshold", "0.02")])
def test_renormalised_masks(tmp_path, method, reference, options):
    mask = np.where(GRID.theta < 1.2, 0.0, np.clip(GRID.phi, 0, 1))
    healpy.write_map(tmp_path / "mask.fits", mask, dtype=np.float64)
    values = noise(12)
    report, found = smooth(tmp_path, *FWHM, "--method", method, "--reference", reference, "--error", "1e-4", "--mask", "mask.fits",
                           "--mask-mode", "renormalize", *options, values=values)
    seen = found != UNSEEN
    expected = (truth((values * mask)[None], report) / truth(mask[None], report))[0]
    expect_certified(found[seen], expected[seen], report)
    assert 0.6 * GRID.npix < seen.sum() < 0.9 * GRID.npix


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("options", [(), ("--fill-masked",)])
def test_masked_pixels_count_as_0(tmp_path, reference, options):
    mask = np.where(GRID.theta < 1.2, 0.0, np.clip(GRID.phi, 0, 1))
    healpy.write_map(tmp_path / "mask.fits", mask, dtype=np.float64)
    values = noise(13)
    values[5000:6000] = UNSEEN
    report, found = smooth(tmp_path, *AUTO, "--reference", reference, "--error", "1e-4", "--mask", "mask.fits", *options, values=values)
    known = np.where(values == UNSEEN, 0, values * mask)
    seen = found != UNSEEN
    assert np.array_equal(seen, known != 0) if not options else seen.all()
    expected = truth(known[None], report)[0]
    assert rms((found - expected)[seen]) <= report["certified_error"] * rms(expected[seen]) <= 1e-4 * rms(expected[seen])


@pytest.mark.parametrize("method", ["auto", "ring-fft"])
def test_counts(tmp_path, method):
    values = np.random.default_rng(14).poisson(0.3, size=GRID.npix).astype(float)
    report, found = smooth(tmp_path, *FWHM, "--method", method, "--normalize", "pixel", "--error", "1e-4", values=values)
    sums = truth(np.ones((1, GRID.npix)), report)  # of each pixel's kernel, as it is symmetric
    expect_certified(found, truth(values / sums, report)[0], report)
    assert report["reference"] == "discrete" and report["method"] != "harmonic"
    # Random walks of the roundings of each pixel's kernel, of the convolution and of the sum, or the rounding to single precision.
    walk = 4 * np.sqrt(GRID.npix) * EPS
    assert found.sum() == pytest.approx(values.sum(), rel=walk if report["precision"] == "double" else 2**-24, abs=0)


def test_other_pixels_and_windows_in_a_ratio(tmp_path):
    values = noise(15)
    report, found = smooth(tmp_path, *AUTO, "--error", "1e-5", "--nside-out", 16, values=values)
    lmax = report["lmax"]
    alm = times_window(least_squares(GRID, values[None], lmax, 0), [window(lmax=lmax)], lmax)
    expect_certified(found, Grid(16).synthesize(alm, lmax)[0], report)
    report, found = smooth(tmp_path, *AUTO, "--error", "1e-5", "--fwhm-in", "6deg")
    lmax = report["lmax"]
    l = np.arange(lmax + 1.0)
    ratio = np.exp(-l * (l + 1) * (np.radians(12) ** 2 - np.radians(6) ** 2) / (16 * np.log(2)))
    expect_certified(found, GRID.synthesize(times_window(least_squares(GRID, values[None], lmax, 0), [ratio], lmax), lmax)[0], report)
    report, found = smooth(tmp_path, *AUTO, "--nside-out", 16, "--reference", "discrete", code=2)
    assert found is None and "--reference discrete" in report["error"]


MISSED = [
    ("planned twice", (*AUTO, "--error", "1e-12")),
    ("discrete", (*AUTO, "--error", "1e-12", "--reference", "discrete")),
    ("too few iterations", (*FWHM, "--method", "harmonic", "--lmax", 64, "--iter", 1, "--error", "1e-6")),
    ("never planned", (*FWHM, "--method", "ring-fft", "--error", "1e-12")),
    ("no bound", (*FWHM, "--method", "harmonic", "--lmax", 95, "--error", "1e-3")),
]


@pytest.mark.parametrize("arguments", [arguments for _, arguments in MISSED], ids=[name for name, _ in MISSED])
def test_what_is_not_certified_is_not_written(fails, tmp_path, arguments):
    healpy.write_map(tmp_path / "map.fits", MAPS["checkerboard"](), dtype=np.float64)
    line = fails(1, "smooth", "map.fits", "out.fits", *arguments)
    assert "is not certified for this map" in line and line.endswith("--keep-missed writes the map all the same")
    assert not (tmp_path / "out.fits").exists()


@pytest.mark.parametrize("arguments", [arguments for _, arguments in MISSED], ids=[name for name, _ in MISSED])
def test_keep_missed_writes_it_and_the_exit_status_is_1(tmp_path, arguments):
    report, found = smooth(tmp_path, *arguments, "--keep-missed", values=MAPS["checkerboard"](), code=1)
    assert report["exit_code"] == 1 and "is not certified for this map" in report["error"]
    assert found is not None and np.isfinite(found).all()
    error = report.get("certified_error", np.inf)
    assert error > report["error_bound"]
    assert np.isinf(error) or rms(found - truth(MAPS["checkerboard"]()[None], report)[0]) <= error * rms(found) * (1 + 1e-3)


def test_a_missed_error_is_not_said_to_be_certified(tmp_path):
    for iterations in (1, 4):
        report, _ = smooth(tmp_path, *FWHM, "--method", "harmonic", "--lmax", 64, "--iter", iterations, "--error", "1e-9",
                           "--keep-missed", values=MAPS["checkerboard"](), code=1)
        assert report["error_is"] != "certified for this map"


def test_no_message_says_that_an_error_may_be_infinite(tmp_path):
    given = (*FWHM, "--method", "harmonic", "--lmax", 64, "--iter", 1, "--error", "1e-6", "--keep-missed")
    missed, _ = smooth(tmp_path, *given, values=MAPS["checkerboard"](), code=1)
    constant, _ = smooth(tmp_path, *AUTO, "--error", "1e-3", values=np.ones(GRID.npix))
    assert not any("inf" in text.split() for text in [missed["error"], *constant["notes"]])


def test_keep_missed_changes_nothing_where_the_error_is_kept(tmp_path):
    plain, one = smooth(tmp_path, *AUTO, values=noise(16))
    kept, other = smooth(tmp_path, *AUTO, "--keep-missed")
    assert_close(other, one, rtol=0, atol=0)
    assert kept["certified_error"] == plain["certified_error"]


@pytest.mark.parametrize("arguments, reference, meaning", [
    (("--method", "auto"), "continuous", "the answer for l <= 63"),
    (("--method", "auto", "--reference", "discrete"), "discrete", "the sum over the map's pixels"),
    (("--method", "pixel-sum"), "discrete", "the sum over the map's pixels"),
    (("--method", "harmonic", "--lmax", "40"), "continuous", "the answer for l <= 40"),
])
def test_reports_say_what_the_result_stands_for(tmp_path, arguments, reference, meaning):
    healpy.write_map(tmp_path / "map.fits", noise(17), dtype=np.float64)
    request = ("smooth", "map.fits", "out.fits", *FWHM, *arguments, "--error", "1e-6", "--overwrite")
    result = call(*request, cwd=tmp_path)
    assert result.code == 0, result.err
    assert meaning in result.out and 2 <= len(result.out.splitlines()) <= 8
    report = call(*request, "--json", cwd=tmp_path).report
    assert report["reference"] == reference and report["stands_for"] == meaning
    assert header(tmp_path / "out.fits")["REFERENC"] == reference


def test_a_file_in_single_precision_has_its_share_of_the_error(fails, tmp_path):
    healpy.write_map(tmp_path / "map.fits", noise(3), dtype=np.float32)
    report, found = smooth(tmp_path, *FWHM, "--method", "auto", "--error", "1e-7")
    values = healpy.read_map(tmp_path / "map.fits", dtype=np.float64)
    expect_certified(found, truth(values[None], report)[0], report)
    assert report["certificate"]["rounding"] >= 2.0**-24
    line = fails(2, "smooth", "map.fits", "no.fits", *FWHM, "--method", "auto", "--error", "5e-8")
    assert "--error = 5e-08" in line and "double precision" in line
