"""zonal smooth --method: kernels by sums over pixels, and what the report says of them."""

import healpy
import numpy as np
import pytest

from attack_maps import Grid
from certificate_attacks import sum_over_pixels
from conftest import DATA, UNSEEN, assert_close, header, read_map

CARD = 1e-14  # cards hold 15 digits

PHOTONS = DATA / "fermi" / "fermi_2fhl_events_selected.fits.gz"
PSF = DATA / "fermi" / "fermi_2fhl_psf_gc.fits.gz"
CUBE = DATA / "fermi" / "fermi_3fhl_counts_cube_hpx.fits.gz"
CUBE_PSF = DATA / "fermi" / "fermi_3fhl_psf_gc.fits.gz"
METHODS = ["pixel-sum", "ring-fft"]


@pytest.fixture
def white(tmp_path):
    """white.fits: one field of white noise, nside 16; returns it."""
    values = np.random.default_rng(2).normal(size=12 * 16**2)
    healpy.write_map(tmp_path / "white.fits", values, dtype=np.float64)
    return values


def direct_sum(values, profile, nside=16):
    """sum_p' Omega K(theta) f(p'), pixel by pixel."""
    vectors = np.array(healpy.pix2vec(nside, np.arange(12 * nside**2))).T
    chord = np.linalg.norm(vectors[:, None, :] - vectors[None, :, :], axis=2)
    theta = 2 * np.arcsin(np.minimum(chord / 2, 1))
    return healpy.nside2pixarea(nside) * profile(theta) @ values


def write_profile(path, theta, value, units="# theta [deg] value [1/sr]"):
    path.write_text(units + "\n" + "".join(f"{float(t)!r} {float(v)!r}\n" for t, v in zip(theta, value)))


@pytest.mark.parametrize("method", METHODS)
def test_gaussian_is_the_sum_over_pixels(zonal, tmp_path, method):
    values = np.random.default_rng(7).normal(size=12 * 8**2)
    healpy.write_map(tmp_path / "small.fits", values, dtype=np.float64)
    report = zonal("smooth", "small.fits", "out.fits", "--fwhm", "12deg", "--method", method, "--error", "1e-8")
    lmax, sigma = 200, np.radians(12) / np.sqrt(8 * np.log(2))
    l = np.arange(lmax + 1)
    window = np.exp(-l * (l + 1) * sigma**2 / 2)
    profile = lambda theta: np.polynomial.legendre.legval(np.cos(theta), (2 * l + 1) / (4 * np.pi) * window)
    expected = direct_sum(values, profile, 8)
    difference = read_map(tmp_path / "out.fits") - expected
    actual = np.sqrt(np.mean(difference**2) / np.mean(expected**2))
    assert actual <= report["certified_error"] <= report["error_bound"] == 1e-8
    assert report["error_is"] == "certified for this map" and "estimated_error" not in report
    assert report["method"] == method and report["reference"] == "discrete" and report["normalize"] == "none"
    assert report["kernel_integral"] == pytest.approx(1, abs=1e-12)
    assert 25 < report["support_deg"] < 40  # sigma sqrt(2 ln 1e8) = 31 deg
    cards = header(tmp_path / "out.fits")
    assert cards["METHOD"] == method and cards["REFERENC"] == "discrete"
    assert cards["CERTERR"] == pytest.approx(report["certified_error"], rel=CARD, abs=0) and "ESTERROR" not in cards
    assert cards["SUPPORT"] == pytest.approx(report["support_deg"], rel=CARD, abs=0) and cards["FWHM"] == pytest.approx(12, rel=CARD, abs=0)


def test_error_is_kept_and_a_smaller_error_takes_a_larger_support(white, zonal, tmp_path):
    exact = sum_over_pixels(Grid(16), white[None], [healpy.gauss_beam(np.radians(9), lmax=200)])[0]
    supports = []
    for error in ("1e-2", "1e-4", "1e-6"):
        report = zonal("smooth", "white.fits", "out.fits", "--fwhm", "9deg", "--method", "ring-fft", "--error", error, "--overwrite")
        off = read_map(tmp_path / "out.fits") - exact
        assert np.sqrt(np.mean(off**2) / np.mean(exact**2)) <= report["certified_error"] <= float(error)
        supports.append(report["support_deg"])
    assert supports == sorted(supports) and supports[0] < supports[2]


@pytest.mark.parametrize("method", METHODS)
def test_band_limited_maps_and_kernels_agree_with_the_harmonic_method_of_the_same_reference(sky, zonal, tmp_path, method):
    # A window that ends, so that its discrete sum is what analysis without iterations and synthesis give.
    l = np.arange(33)
    np.savetxt(tmp_path / "beam.txt", np.column_stack([l, np.exp(-l * (l + 1) * 0.004)]))
    beam = ("--field", "I", "--beam", "beam.txt", "--extend", "zero", "--normalize", "none")
    report = zonal("smooth", "sky.fits", "sums.fits", *beam[:4], "--method", method, "--cut", "180deg", "--normalize", "none")
    zonal("smooth", "sky.fits", "harmonic.fits", *beam, "--method", "harmonic", "--reference", "discrete")
    sums, harmonic = read_map(tmp_path / "sums.fits"), read_map(tmp_path / "harmonic.fits")
    assert np.sqrt(np.mean((sums - harmonic) ** 2) / np.mean(harmonic**2)) <= report["certified_error"] <= 1e-5


@pytest.mark.parametrize("units, angle, density", [("# theta [deg] value [1/sr]", 1, 1), ("# theta [arcmin] K [1/deg^2]", 60, 3282.806350011744),
                                                   ("# theta [rad] K [sr-1]", np.pi / 180, 1)])
def test_profiles_in_any_unit_are_the_same_kernel(white, zonal, tmp_path, units, angle, density):
    theta = np.linspace(0, 15, 61)
    value = np.exp(-(theta / 6) ** 2)
    write_profile(tmp_path / "k.txt", theta * angle, value / density, units)
    report = zonal("smooth", "white.fits", "out.fits", "--profile", "k.txt", "--method", "pixel-sum", "--normalize", "none", "--cut", "15deg")
    expected = direct_sum(white, lambda t: np.interp(np.degrees(t), theta, value, right=0))
    # Linear interpolation of the test against the cubic: h^2 / 8 of the second derivative, 4e-4 of the peak.
    assert np.abs(read_map(tmp_path / "out.fits") - expected).max() < 2e-3 * np.abs(expected).max()
    assert report["kernel_integral"] == pytest.approx(np.trapezoid(2 * np.pi * np.sin(np.radians(theta)) * value, np.radians(theta)), rel=1e-3)


def test_window_normalisation_keeps_a_constant_and_none_keeps_the_kernel(zonal, tmp_path):
    healpy.write_map(tmp_path / "one.fits", np.ones(12 * 32**2), dtype=np.float64)
    theta = np.linspace(0, 10, 41)
    write_profile(tmp_path / "k.txt", theta, 5 * np.exp(-(theta / 4) ** 2))
    for normalize, value in (("window", 1.0), ("none", None)):
        report = zonal("smooth", "one.fits", "out.fits", "--profile", "k.txt", "--method", "pixel-sum", "--normalize", normalize, "--overwrite")
        # The quadrature of HEALPix on a kernel of 5 pixels' width, cut where it is 2e-3 of its peak: worst at the poles.
        out = read_map(tmp_path / "out.fits")
        assert_close(out, value or report["kernel_integral"], rtol=3e-2)
        assert out.mean() == pytest.approx(value or report["kernel_integral"], rel=1e-3)
        harmonic = zonal("smooth", "one.fits", "harmonic.fits", "--profile", "k.txt", "--normalize", normalize, "--overwrite",
                         "--lmax", "64", "--tolerance", "1e-12")
        assert_close(read_map(tmp_path / "harmonic.fits"), value or harmonic["kernel_integral"], rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_fermi_photons_through_their_psf_are_all_there_and_sources_stay(zonal, tmp_path, method):
    zonal("bin", PHOTONS, "counts.fits", "--nside", "128", "--lon", "L", "--lat", "B", "--energy-range", "50GeV:2TeV")
    report = zonal("smooth", "counts.fits", "out.fits", "--method", method, "--profile", PSF, "--energy", "100GeV",
                   "--normalize", "pixel")
    counts, out = read_map(tmp_path / "counts.fits"), read_map(tmp_path / "out.fits")
    # Rounding of 2e5 sums of a few hundred terms.
    assert abs(out.sum() - 60347) <= 60347 * 1e-13 and counts.sum() == 60347
    assert out.min() >= -1e-12 and report["normalize"] == "pixel" and report["energy_mev"] == 1e5
    # Crab and Mrk 421: the brightest pixel nearby stays within a pixel (0.46 deg) of the catalogue's place.
    for lon, lat in ((184.557, -5.784), (179.832, 65.032)):
        near = healpy.query_disc(128, healpy.ang2vec(lon, lat, lonlat=True), np.radians(2))
        brightest = near[np.argmax(out[near])]
        offset = healpy.rotator.angdist(healpy.pix2ang(128, brightest, lonlat=True), (lon, lat), lonlat=True)[0]
        assert np.degrees(offset) < 0.46
    assert header(tmp_path / "out.fits")["TUNIT1"] == "count"


@pytest.mark.parametrize("method", ["ring-fft", "harmonic"])
def test_each_band_of_a_cube_gets_its_own_psf(zonal, tmp_path, method):
    from astropy.io import fits

    counts = () if method == "harmonic" else ("--normalize", "pixel")  # the PSF is narrower than the pixels
    report = zonal("smooth", CUBE, "out.fits", "--method", method, "--profile", CUBE_PSF, "--energy", "bands", *counts)
    energies = [kernel["energy_mev"] for kernel in report["kernels"]]
    bounds = fits.getdata(CUBE, "EBOUNDS")
    assert_close(energies, np.sqrt(bounds["E_MIN"].astype(float) * bounds["E_MAX"]) / 1e3, rtol=1e-6)
    integrals = [kernel["kernel_integral"] for kernel in report["kernels"]]
    assert min(integrals) == pytest.approx(0.9973, abs=1e-4) and max(integrals) == pytest.approx(1.0013, abs=1e-4)
    # The 12th channel alone, through the PSF of its own energy.
    middle = f"{energies[11]!r}MeV"
    zonal("smooth", CUBE, "one.fits", "--field", "11", "--method", method, "--profile", CUBE_PSF, "--energy", middle, *counts)
    one, cube = read_map(tmp_path / "one.fits"), read_map(tmp_path / "out.fits", field=11)
    assert_close(one, cube, rtol=0, atol=1e-11 * cube.max())


@pytest.mark.parametrize("method", METHODS)
def test_masks_count_as_zero_or_are_divided_out(zonal, tmp_path, method):
    values = np.full(12 * 16**2, 3.0)
    values[:700] = UNSEEN
    healpy.write_map(tmp_path / "m.fits", values, dtype=np.float64)
    smooth = ("smooth", "m.fits", "out.fits", "--fwhm", "20deg", "--method", method, "--overwrite")
    report = zonal(*smooth)
    out = read_map(tmp_path / "out.fits")
    assert (out[:700] == UNSEEN).all() and report["fields"][0]["masked_pixels"] == 700
    assert 1 < out[710] < 2.5 and out[-1] == pytest.approx(3, rel=2e-2)  # the quadrature at the pole
    zonal(*smooth, "--mask-mode", "renormalize")
    assert_close(read_map(tmp_path / "out.fits")[700:], 3, rtol=1e-10)
    report = zonal(*smooth, "--mask-mode", "renormalize", "--fill-masked", "--mask-threshold", "0.01")
    filled = read_map(tmp_path / "out.fits")
    seen = filled != UNSEEN
    assert 700 > (~seen).sum() == report["fields"][0]["unseen_pixels_out"] > 0
    assert_close(filled[seen], 3, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", [("--error", "1e-7"), ("--cut", "70deg")])
def test_q_and_u_by_pixel_sums_agree_with_the_window(sky, zonal, tmp_path, method, kernel):
    report = zonal("smooth", "sky.fits", "out.fits", "--fwhm", "25deg", "--method", method, *kernel)
    zonal("smooth", "sky.fits", "harmonic.fits", "--fwhm", "25deg", "--method", "harmonic", "--reference", "discrete")
    ours, theirs = (np.array(healpy.read_map(tmp_path / name, field=None, dtype=np.float64)) for name in ("out.fits", "harmonic.fits"))
    for a, b in zip(ours, theirs):
        assert np.sqrt(np.mean((a - b) ** 2) / np.mean(b**2)) <= 1e-7
    assert [field["name"] for field in report["fields"]] == ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", ["zero", "renormalize"])
def test_masked_q_and_u_agree_with_the_window(sky, zonal, tmp_path, mode, method):
    maps = np.array(sky)
    maps[:, 1500:1700] = UNSEEN
    healpy.write_map(tmp_path / "cut.fits", maps, dtype=np.float64)
    options = ("--fwhm", "25deg", "--mask-mode", mode)
    zonal("smooth", "cut.fits", "out.fits", *options, "--method", method, "--error", "1e-7")
    zonal("smooth", "cut.fits", "harmonic.fits", *options, "--method", "harmonic", "--reference", "discrete")
    ours, theirs = (np.array(healpy.read_map(tmp_path / name, field=None, dtype=np.float64)) for name in ("out.fits", "harmonic.fits"))
    np.testing.assert_array_equal(ours == UNSEEN, theirs == UNSEEN)
    seen = theirs[0] != UNSEEN
    # The same sums, the kernel's window cut off at lmax = 47, where 1e-17 of it is left.
    for a, b in zip(ours, theirs):
        assert np.sqrt(np.mean((a - b)[seen] ** 2) / np.mean(b[seen] ** 2)) < 1e-7


def test_weights_multiply_the_pixels(white, zonal, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    healpy.write_map(tmp_path / "one.fits", np.ones(12 * 16**2), dtype=np.float64)
    report = zonal("smooth", "one.fits", "out.fits", "--fwhm", "20deg", "--method", "ring-fft", "--weights", "pixel", "--error", "1e-9")
    # Exact to l = 40, where 2e-4 of the kernel is left, which couples to l >= 40 of the grid: below 1e-6.
    assert_close(read_map(tmp_path / "out.fits"), 1, rtol=1e-6)
    assert report["weights"].startswith("pixel")


def test_nest_and_cylindrical_maps_are_convolved_too(white, zonal, tmp_path):
    zonal("convert", "white.fits", "nest.fits", "--order", "nest")
    smooth = ("--fwhm", "12deg", "--method", "ring-fft")
    zonal("smooth", "white.fits", "ring.fits", *smooth)
    zonal("smooth", "nest.fits", "out.fits", *smooth)
    assert header(tmp_path / "out.fits")["ORDERING"] == "NESTED"
    np.testing.assert_array_equal(healpy.read_map(tmp_path / "out.fits"), read_map(tmp_path / "ring.fits"))
    zonal("convert", "white.fits", "car.fits", "--car", "96x192", "--lmax", "40")
    report = zonal("smooth", "car.fits", "sums.fits", *smooth, "--error", "1e-9")
    zonal("smooth", "car.fits", "harmonic.fits", "--fwhm", "12deg", "--tolerance", "1e-12")
    from astropy.io import fits
    sums, harmonic = (fits.getdata(tmp_path / name) for name in ("sums.fits", "harmonic.fits"))
    # Quadrature exact to l = 95: the map's 40 and the kernel's 55, above which 6e-6 of it is left.
    assert_close(sums, harmonic, rtol=0, atol=1e-5 * np.abs(harmonic).max())
    assert "estimated_quadrature_error" not in report


def test_float_is_as_good_as_it_says(white, zonal, tmp_path):
    certified = []
    for precision in ("float", "double"):
        report = zonal("smooth", "white.fits", f"{precision}.fits", "--fwhm", "9deg", "--method", "ring-fft", "--precision", precision)
        assert report["precision"] == precision
        certified.append(report["certified_error"])
    one, two = (read_map(tmp_path / f"{precision}.fits").astype(float) for precision in ("float", "double"))
    assert 1e-10 < np.sqrt(np.mean((one - two) ** 2) / np.mean(two**2)) <= sum(certified)
    assert max(certified) <= 1e-5
    assert header(tmp_path / "float.fits")["TFORM1"].endswith("E")


def test_the_default_is_the_fastest_way_within_1e_5(sky, zonal, tmp_path):
    plain = zonal("smooth", "sky.fits", "a.fits", "--fwhm", "9deg")
    named = zonal("smooth", "sky.fits", "b.fits", "--fwhm", "9deg", "--method", "auto", "--error", "1e-5")
    for report in (plain, named):
        assert report["method"] == "harmonic" and report["reference"] == "continuous" and report["error_bound"] == 1e-5
    np.testing.assert_array_equal(read_map(tmp_path / "a.fits"), read_map(tmp_path / "b.fits"))


SUMS = "smooth sky.fits out.fits --field I --method ring-fft "


@pytest.mark.parametrize("command, code, words", [
    (SUMS + "--fwhm 9deg --iter 3", 2, ["iterations", "--method ring-fft"]),
    (SUMS + "--fwhm 9deg --tolerance 1e-9", 2, ["tolerance", "--method ring-fft"]),
    (SUMS + "--fwhm 9deg --reference continuous", 2, ["--reference continuous", "discrete"]),
    (SUMS + "--fwhm 9deg --cut 5deg --error 1e-3", 1, ["--error = 0.001", "certified"]),
    (SUMS + "--fwhm 9deg --cut 190deg", 2, ["--cut", "180deg"]),
    (SUMS + "--fwhm 9deg --nside-out 8", 2, ["--method ring-fft", "other pixels"]),
    (SUMS + "--fwhm 9deg --fwhm-in 3deg", 2, ["--method ring-fft", "windows of the input"]),
    (SUMS + "--fwhm 9deg --weights pixel --normalize pixel", 2, ["--weights", "normalization pixel"]),
    (SUMS + "--fwhm 9deg --mask-mode renormalize --normalize pixel", 2, ["renormalize", "--normalize pixel"]),
    (SUMS + "--fwhm 9deg --profile k.txt", 2, ["--profile", "--fwhm"]),
    (SUMS + "--fwhm 9deg --energy 10GeV", 2, ["--energy", "--profile"]),
    (SUMS + f"--profile {PSF} --energy 10GeV", 2, ["10000", "MeV", "range"]),
    (SUMS + f"--profile {PSF} --energy 10", 2, ["--energy", "unit"]),
    (SUMS + f"--profile {PSF}", 1, ["FITS", "text"]),
    (SUMS + "--profile k.txt --energy 10GeV", 1, ["k.txt"]),
    (SUMS + f"--profile {PSF} --energy bands", 1, ["sky.fits", "EBOUNDS"]),
    (SUMS + "--profile nounits.txt", 1, ["nounits.txt", "units"]),
    (SUMS + "--profile zero.txt --normalize window", 2, ["--normalize window", "integral", "none"]),
    ("smooth sky.fits out.fits --fwhm 9deg --method ring-fft --normalize pixel", 2, ["sky.fits", "Q and U", "counts"]),
    ("smooth sky.fits out.fits --profile k.txt --method pixel-sum", 2, ["Q and U", "kernel is of spin 0"]),
    ("smooth sky.fits out.fits --profile k.txt --method ring-fft", 2, ["Q and U", "kernel is of spin 0"]),
    ("smooth sky.fits out.fits --fwhm 9deg --normalize pixel", 2, ["--normalize pixel", "counts"]),
    ("smooth sky.fits out.fits --fwhm 9deg --error 1e-3 --lmax 47", 1, ["--error = 0.001", "lmax = 38"]),
    ("smooth sky.fits out.fits --fwhm 9deg --cut 20deg", 2, ["--cut", "pixel-sum and ring-fft"]),
    ("smooth sky.fits out.fits --fwhm 9deg --reference discrete --iter 2", 2, ["--reference discrete", "iterations"]),
    ("smooth sky.fits out.fits --fwhm 9deg --method magic", 2, ["magic", "ring-fft"]),
    ("smooth alm.fits out.fits --fwhm 9deg --method ring-fft", 2, ["alm.fits", "--method"]),
])
def test_misuse_is_one_line(sky, fails, tmp_path, command, code, words):
    write_profile(tmp_path / "k.txt", [0, 5, 10], [1, 0.5, 0])
    write_profile(tmp_path / "zero.txt", [0, 90, 180], [1, 0, -1])  # linear in chord^2: cos theta
    (tmp_path / "nounits.txt").write_text("0 1\n1 0\n")
    healpy.write_alm(tmp_path / "alm.fits", np.ones(healpy.Alm.getsize(4), dtype=complex))
    line = fails(code, *command.split())
    for word in words:
        assert word in line, line
