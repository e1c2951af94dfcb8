"""zonal smooth --method auto and zonal plan of Q and U: which way they go, and how far from the sum over pixels."""

import json

import healpy
import numpy as np
import pytest

from conftest import BENCH, EPS, UNSEEN, ZONAL, call, header, read_map, write_costs

NSIDE = 32
DISCRETE = ("--reference", "discrete")
LMAX = 3 * NSIDE - 1


@pytest.fixture
def white(tmp_path):
    """iqu.fits and qu.fits, white noise; returns I, Q, U."""
    maps = np.random.default_rng(11).normal(size=(3, 12 * NSIDE**2))
    write(tmp_path, "iqu.fits", maps)
    write(tmp_path, "qu.fits", maps[1:], names=["Q_STOKES", "U_STOKES"])
    return maps


def write(folder, name, maps, polcconv="COSMO", **options):
    healpy.write_map(folder / name, maps, dtype=np.float64, overwrite=True, extra_header=[("POLCCONV", polcconv)],
                     column_names=options.pop("names", ["I_STOKES", "Q_STOKES", "U_STOKES"]), **options)


def costs_by_spin(folder, scalar, polarization):
    """costs.json where transforms take so many times what they do, of spin 0 and of Q and U."""
    write_costs(folder / "costs.json", legendre=polarization)
    costs = json.loads((folder / "costs.json").read_text())
    write_costs(folder / "costs.json", legendre=scalar)
    other = json.loads((folder / "costs.json").read_text())
    costs["devices"][0]["scalar"] = other["devices"][0]["scalar"]
    (folder / "costs.json").write_text(json.dumps(costs))


def smooth(folder, source, out, *arguments):
    environment = {"XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder)}
    result = call("smooth", source, out, *arguments, "--json", cwd=folder, env=environment)
    assert result.code == 0, result.err
    return result.report


def sum_of_scalars(values, window):
    """The sum over pixels: quadrature alm, window, synthesis, exact where the window has faded away at LMAX."""
    return healpy.alm2map(healpy.almxfl(healpy.map2alm(values, lmax=LMAX, iter=0), window), NSIDE, lmax=LMAX)


def sum_of_polarization(q, u, window_e, window_b=None):
    e, b = healpy.map2alm_spin([q, u], 2, lmax=LMAX)
    window_b = window_e if window_b is None else window_b
    return np.array(healpy.alm2map_spin([healpy.almxfl(e, window_e), healpy.almxfl(b, window_b)], NSIDE, 2, LMAX))


def gaussian(fwhm_degrees, spin):
    sigma = np.radians(fwhm_degrees) / np.sqrt(8 * np.log(2))
    l = np.arange(LMAX + 1.0)
    return np.exp(-(l * (l + 1) - spin**2) * sigma**2 / 2)


def relative(found, expected):
    return np.sqrt(np.mean((np.asarray(found) - expected) ** 2) / np.mean(np.asarray(expected) ** 2))


def parts_of(report):
    return {part["part"]: part for part in report["parts"]}


@pytest.mark.parametrize("transforms", [1e-4, 1e8])  # so fast, or so slow, that harmonic space is, or is not, taken
@pytest.mark.parametrize("fwhm, error", [(8, 1e-2), (8, 1e-4), (10, 1e-6), (30, 1e-4), (170, 1e-3)])
def test_the_error_of_q_and_u_together_keeps_the_bound(white, tmp_path, fwhm, error, transforms):
    write_costs(tmp_path / "costs.json", legendre=transforms)
    report = smooth(tmp_path, "qu.fits", "out.fits", "--fwhm", f"{fwhm}deg", "--method", "auto", "--error", error, "--costs",
                    "costs.json", "--explain", *DISCRETE)
    expected = sum_of_polarization(white[1], white[2], gaussian(fwhm, 2))
    actual = relative(read_map(tmp_path / "out.fits", field=(0, 1)), expected)
    assert actual <= report["certified_error"] <= report["error_bound"] == error
    best = report["choices"][0]
    assert report["method"] == best["method"] and "excluded" not in best and "parts" not in report
    assert report["predicted_error"] == best["error"] <= error
    methods = {row["method"] for row in report["choices"]}
    # Sums over discs of more than a radian need not be looked at where harmonic space keeps the error.
    assert {"harmonic", "ring-fft"} <= methods or (fwhm >= 30 and "harmonic" in methods)
    assert "split" not in methods
    assert (report["method"] == "harmonic") == (transforms < 1 or "ring-fft" not in methods)
    if report["method"] != "harmonic":
        assert report["support_deg"] == pytest.approx(best["support_arcmin"] / 60, rel=8 * EPS, abs=0)
        assert report["precision"] == best["precision"]


def test_i_and_q_u_each_go_the_way_that_is_fastest_for_them(white, tmp_path):
    costs_by_spin(tmp_path, scalar=1e-5, polarization=1e5)
    report = smooth(tmp_path, "iqu.fits", "out.fits", "--fwhm", "9deg", "--method", "auto", "--error", "1e-4", "--costs",
                    "costs.json", "--explain", *DISCRETE)
    parts = parts_of(report)
    assert list(parts) == ["I_STOKES", "Q_STOKES, U_STOKES"]
    assert parts["I_STOKES"]["method"] == "harmonic" and parts["Q_STOKES, U_STOKES"]["method"] != "harmonic"
    assert "method" not in report  # in which the parts differ
    for part in parts.values():
        assert part["method"] == part["choices"][0]["method"] and part["predicted_seconds"] == part["choices"][0]["seconds"]
        assert part["certified_error"] <= 1e-4 and part["method_asked_for"] == "auto"
    assert report["reference"] == "discrete"
    assert [field["name"] for field in report["fields"]] == ["I_STOKES", "Q_STOKES", "U_STOKES"]
    out = read_map(tmp_path / "out.fits", field=(0, 1, 2))
    cards = header(tmp_path / "out.fits")
    assert relative(out[0], sum_of_scalars(white[0], gaussian(9, 0))) <= cards["CERTERR"] <= 1e-4
    assert relative(out[1:], sum_of_polarization(white[1], white[2], gaussian(9, 2))) <= cards["CERTERRQ"] <= 1e-4
    assert cards["METHOD"] == "harmonic" and cards["METHODQU"] == parts["Q_STOKES, U_STOKES"]["method"]
    assert cards["SUPPRTQU"] == pytest.approx(parts["Q_STOKES, U_STOKES"]["support_deg"])
    assert [cards["CERTERR"], cards["CERTERRQ"]] == pytest.approx([part["certified_error"] for part in parts.values()])
    assert "ESTERROR" not in cards and "ESTERRQU" not in cards


def test_parts_are_what_each_is_alone(white, tmp_path):
    arguments = ("--fwhm", "9deg", "--method", "auto", "--error", "1e-5", "--costs", "costs.json", *DISCRETE)
    costs_by_spin(tmp_path, scalar=1e4, polarization=1e4)
    report = smooth(tmp_path, "iqu.fits", "all.fits", *arguments)
    alone = [smooth(tmp_path, "iqu.fits", name, *arguments, "--field", fields)
             for name, fields in (("i.fits", "I"), ("qu_out.fits", "Q,U"))]
    for part, one in zip(report["parts"], alone):
        for key in ("method", "precision", "support_deg", "certified_error", "predicted_seconds"):
            assert part[key] == one[key], key
    together = read_map(tmp_path / "all.fits", field=(0, 1, 2))
    assert np.array_equal(together[0], read_map(tmp_path / "i.fits"))
    assert np.array_equal(together[1:], read_map(tmp_path / "qu_out.fits", field=(0, 1)))


def test_fields_beside_i_q_u_go_with_i(white, tmp_path):
    hits = np.random.default_rng(12).normal(size=12 * NSIDE**2)
    write(tmp_path, "four.fits", [*white, hits], names=["I_STOKES", "Q_STOKES", "U_STOKES", "SPECTRAL_INDEX"])
    report = smooth(tmp_path, "four.fits", "out.fits", "--fwhm", "9deg", "--method", "auto", "--error", "1e-4", *DISCRETE)
    assert [part["part"] for part in report["parts"]] == ["I_STOKES, SPECTRAL_INDEX", "Q_STOKES, U_STOKES"]
    assert [field["name"] for field in report["fields"]] == ["I_STOKES", "Q_STOKES", "U_STOKES", "SPECTRAL_INDEX"]
    out = read_map(tmp_path / "out.fits", field=(0, 1, 2, 3))
    assert relative(out[3], sum_of_scalars(hits, gaussian(9, 0))) <= 1e-4
    assert relative(out[1:3], sum_of_polarization(white[1], white[2], gaussian(9, 2))) <= 1e-4


@pytest.mark.parametrize("columns", [1, 3])
def test_beams_of_e_and_b_and_their_integral(white, tmp_path, columns):
    windows = 0.5 * np.array([gaussian(9, 0), gaussian(9, 2), 0.3 * gaussian(14, 2)])[:columns]
    text = np.transpose([np.arange(LMAX + 1), *windows])
    np.savetxt(tmp_path / "beam.txt", text, header="l T" if columns == 1 else "l T E B", fmt="%.17g")
    write_costs(tmp_path / "costs.json", legendre=1e4)
    report = smooth(tmp_path, "iqu.fits", "out.fits", "--beam", "beam.txt", "--method", "auto", "--error", "1e-4", "--costs",
                    "costs.json", *DISCRETE)
    # Where E and B differ the profile does not fade away, and goes on for more than a radian.
    assert report["parts"][0]["method"] != "harmonic" and (columns == 3 or report["parts"][1]["method"] != "harmonic")
    window_t, window_e, window_b = windows[[0, 0, 0]] if columns == 1 else windows
    out = read_map(tmp_path / "out.fits", field=(0, 1, 2))
    assert relative(out[0], sum_of_scalars(white[0], window_t)) <= 1e-4
    assert relative(out[1:], sum_of_polarization(white[1], white[2], window_e, window_b)) <= 1e-4
    # By name the same kernel, cut or not.
    for method in ("pixel-sum", "ring-fft", "harmonic"):
        precise = () if method == "harmonic" else ("--error", "1e-7")
        smooth(tmp_path, "iqu.fits", f"{method}.fits", "--beam", "beam.txt", "--method", method, "--reference", "discrete", *precise)
        named = read_map(tmp_path / f"{method}.fits", field=(1, 2))
        assert relative(named, sum_of_polarization(white[1], white[2], window_e, window_b)) <= 1e-6, method  # ten times the error asked for


ADVERSE = {
    "partial": (["--fwhm", "9deg"], "partial"),
    "unseen": (["--fwhm", "9deg"], "unseen"),
    "mask": (["--fwhm", "9deg", "--mask", "mask.fits"], "whole"),
    "filled": (["--fwhm", "9deg", "--mask", "mask.fits", "--fill-masked"], "whole"),
    "renormalized": (["--fwhm", "9deg", "--mask", "mask.fits", "--mask-mode", "renormalize"], "whole"),
    "iau": (["--fwhm", "9deg"], "iau"),
    "nested": (["--fwhm", "9deg"], "nested"),
}


def adverse_map(folder, kind, maps):
    rng = np.random.default_rng(13)
    maps = maps.copy()
    if kind in ("partial", "unseen"):
        theta, _ = healpy.pix2ang(NSIDE, np.arange(maps.shape[1]))
        maps[:, (theta < 0.8) if kind == "partial" else (rng.random(maps.shape[1]) < 0.1)] = UNSEEN
    if kind == "unseen":
        maps[1, rng.random(maps.shape[1]) < 0.05] = UNSEEN  # Q and U mask each other
    write(folder, "map.fits", maps, partial=kind == "partial", nest=kind == "nested",
          polcconv="IAU" if kind == "iau" else "COSMO")


@pytest.mark.parametrize("name", ADVERSE)
def test_masks_partial_skies_and_conventions_are_as_in_harmonic_space(white, tmp_path, name):
    arguments, kind = ADVERSE[name]
    theta, phi = healpy.pix2ang(NSIDE, np.arange(white.shape[1]))
    healpy.write_map(tmp_path / "mask.fits", np.where(abs(theta - 1.3) < 0.3, 0, np.clip(phi, 0, 1)), dtype=np.float64)
    adverse_map(tmp_path, kind, white)
    write_costs(tmp_path / "costs.json", legendre=1e4)
    report = smooth(tmp_path, "map.fits", "auto.fits", *arguments, "--method", "auto", "--error", "1e-5", "--costs",
                    "costs.json", *DISCRETE)
    assert all(part["method"] != "harmonic" for part in report["parts"])
    told = smooth(tmp_path, "map.fits", "harmonic.fits", *arguments, "--method", "harmonic", "--reference", "discrete")
    assert report["fields"] == told["fields"]
    ours, theirs = (read_map(tmp_path / file, field=(0, 1, 2)) for file in ("auto.fits", "harmonic.fits"))
    assert np.array_equal(ours == UNSEEN, theirs == UNSEEN)
    known = theirs != UNSEEN
    assert header(tmp_path / "auto.fits").get("POLCCONV") == header(tmp_path / "harmonic.fits").get("POLCCONV")
    for rows in ([0], [1, 2]):
        good = known[rows]
        assert relative(ours[rows][good], theirs[rows][good]) <= 1e-5


@pytest.mark.parametrize("reference", ["discrete", "continuous"])
def test_iau_is_cosmo_with_the_other_u(white, tmp_path, reference):
    write_costs(tmp_path / "costs.json", legendre=1e4)
    arguments = ("--fwhm", "9deg", "--method", "auto", "--error", "1e-5", "--costs", "costs.json", "--reference", reference)
    write(tmp_path, "iau.fits", [white[0], white[1], -white[2]], polcconv="IAU")
    for name in ("iqu", "iau"):
        report = smooth(tmp_path, f"{name}.fits", f"{name}_out.fits", *arguments)
        assert all((part["method"] == "harmonic") == (reference == "continuous") for part in report["parts"])
    cosmo, iau = (read_map(tmp_path / f"{name}_out.fits", field=(0, 1, 2)) for name in ("iqu", "iau"))
    assert np.array_equal(cosmo[:2], iau[:2]) and np.array_equal(cosmo[2], -iau[2])


@pytest.mark.parametrize("source", ["qu.fits", "iqu.fits"])
def test_kernels_narrower_than_a_pixel_go_to_harmonic_space(white, tmp_path, source):
    report = smooth(tmp_path, source, "auto.fits", "--fwhm", "20arcmin", "--method", "auto")  # pixels of 110 arcmin
    parts = report.get("parts", [report])
    assert report["method"] == "harmonic" and report["reference"] == "continuous"
    lmax = parts[0]["lmax"]
    assert [part["lmax"] for part in parts] == [lmax] * len(parts)
    smooth(tmp_path, source, "converged.fits", "--fwhm", "20arcmin", "--lmax", lmax, "--tolerance", "1e-12")
    fields = (0, 1) if source == "qu.fits" else (0, 1, 2)
    ours, theirs = (read_map(tmp_path / file, field=fields) for file in ("auto.fits", "converged.fits"))
    assert relative(ours[-2:], theirs[-2:]) <= parts[-1]["certified_error"] <= 1e-5
    assert relative(ours[0], theirs[0]) <= 1e-5
    refused = call("smooth", source, "no.fits", "--fwhm", "20arcmin", *DISCRETE, cwd=tmp_path)
    assert refused.code == 2 and "so narrow" in refused.err and not (tmp_path / "no.fits").exists()


def test_kernels_of_spin_0_leave_q_and_u_to_harmonic_space(white, tmp_path):
    theta = np.linspace(0, 20, 101)
    np.savetxt(tmp_path / "p.txt", np.transpose([theta, np.exp(-theta**2 / 20)]), header="theta [deg] value [1/sr]")
    report = smooth(tmp_path, "iqu.fits", "out.fits", "--profile", "p.txt", "--method", "auto", "--reference", "continuous")
    assert report["method"] == "harmonic" and report["reference"] == "continuous" and report["error_bound"] == 1e-5
    assert max(part["certified_error"] for part in report["parts"]) <= 1e-5
    smooth(tmp_path, "iqu.fits", "converged.fits", "--profile", "p.txt", "--lmax", report["parts"][0]["lmax"],
           "--reference", "continuous", "--tolerance", "1e-12")
    ours, theirs = (read_map(tmp_path / file, field=(0, 1, 2)) for file in ("out.fits", "converged.fits"))
    for rows, part in zip(([0], [1, 2]), report["parts"]):
        assert relative(ours[rows], theirs[rows]) <= part["certified_error"]


def test_continuous_reference_takes_the_iterations_that_it_needs(tmp_path):
    l, m = healpy.Alm.getlm(NSIDE)
    rng = np.random.default_rng(14)
    alm = (rng.normal(size=(2, l.size)) + 1j * rng.normal(size=(2, l.size))) / (l + 3.0)
    alm[:, : NSIDE + 1] = alm[:, : NSIDE + 1].real
    alm[:, l < 2] = 0
    q, u = healpy.alm2map_spin(list(alm), NSIDE, 2, NSIDE)
    write(tmp_path, "qu.fits", [q, u], names=["Q_STOKES", "U_STOKES"])
    window = np.exp(-(np.arange(NSIDE + 1.0) * np.arange(1.0, NSIDE + 2) - 4) *
                    (np.radians(10) / np.sqrt(8 * np.log(2))) ** 2 / 2)
    expected = healpy.alm2map_spin([healpy.almxfl(one, window) for one in alm], NSIDE, 2, NSIDE)
    for error in (1e-2, 1e-4, 1e-7):
        report = smooth(tmp_path, "qu.fits", f"{error}.fits", "--fwhm", "10deg", "--method", "auto", "--reference",
                        "continuous", "--error", error, "--lmax", NSIDE)
        assert relative(read_map(tmp_path / f"{error}.fits", field=(0, 1)), expected) <= error
        assert report["reference"] == "continuous" and report["certified_error"] <= error
    assert report["method"] == "harmonic" and report["iterations"] >= 2


@pytest.mark.parametrize("source, arguments, words", [
    ("qu.fits", ["--normalize", "pixel"], ["--normalize pixel"]),
    ("qu.fits", ["--lmax", "1"], ["--lmax = 1", "at least 2"]),
])
def test_wrong_use_is_one_line(white, fails, tmp_path, source, arguments, words):
    line = fails(2, "smooth", source, "out.fits", "--fwhm", "9deg", "--method", "auto", *arguments)
    for word in words:
        assert word in line, line


def test_what_cannot_be_kept_is_a_failure_and_no_wrong_use(white, fails, tmp_path):
    request = ("smooth", "qu.fits", "out.fits", "--fwhm", "9deg", "--method", "ring-fft", "--error", "1e-12")  # sums round
    assert "--error = 1e-12: is not certified for this map" in fails(1, *request)


PLAN = ("plan", "--nside", NSIDE, "--lmax", LMAX, "--fwhm", "9deg", "--error", "1e-4", "--costs", "costs.json")


def plan(folder, *arguments, program=ZONAL):
    result = call(*PLAN, *arguments, "--json", program=program, cwd=folder)
    assert result.code == 0, result.err
    return result.report


def test_plan_and_smooth_list_the_same(white, tmp_path):
    costs_by_spin(tmp_path, scalar=3, polarization=30)
    listed = plan(tmp_path, "--fields", "IQU", *DISCRETE)
    report = smooth(tmp_path, "iqu.fits", "out.fits", *PLAN[3:], "--method", "auto", "--explain", *DISCRETE)
    assert [part["part"] for part in listed["parts"]] == ["I", "Q, U"]
    for ours, theirs in zip(report["parts"], listed["parts"]):
        assert ours["choices"] == theirs["choices"] and len(ours["choices"]) > 2
    assert plan(tmp_path, "--fields", "QU", *DISCRETE)["choices"] == listed["parts"][1]["choices"]
    spin_0 = [plan(tmp_path, *fields, *DISCRETE)["choices"] for fields in ((), ("--fields", "I"))]
    assert spin_0 == [listed["parts"][0]["choices"]] * 2


def test_plan_measures_all_ways_of_q_and_u(white, tmp_path):
    write_costs(tmp_path / "costs.json")
    report = plan(tmp_path, "--fields", "QU", *DISCRETE, program=BENCH)
    assert report["error_bound"] == 1e-4
    allowed = [row for row in report["choices"] if "excluded" not in row]
    assert allowed and all(0 <= row["measured_error"] <= 1e-4 and row["measured_seconds"] > 0 for row in allowed)
    assert report["measured"]["chosen_over_fastest"] >= 1


@pytest.mark.parametrize("arguments, words", [
    (["--fields", "QU", "--kernel", "cl-beam", "--cl", "tt.txt"], ["--fields", "spin 0"]),
    (["--fields", "U"], ["--fields = U", "QU"]),
])
def test_wrong_use_of_plan_is_one_line(fails, tmp_path, arguments, words):
    write_costs(tmp_path / "costs.json")
    np.savetxt(tmp_path / "tt.txt", np.transpose([np.arange(LMAX + 1), np.ones(LMAX + 1)]), header="l TT")
    line = fails(2, *PLAN, *arguments)
    for word in words:
        assert word in line, line
