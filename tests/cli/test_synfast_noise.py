"""zonal synfast --method: skies of white noise on pixels, convolved with sqrt(C_l) B_l."""

import healpy
import numpy as np
import pytest

from conftest import assert_close, header, read_map, write_costs

NSIDE, LMAX = 64, 128
SKY = ("synfast", "cl.txt")
MAP = ("--nside", NSIDE, "--lmax", LMAX, "--fwhm", "6deg", "--precision", "double")


@pytest.fixture
def spectrum(tmp_path):
    """cl.txt: C_l = 1/l^2; returns it."""
    l = np.arange(4 * NSIDE)
    c_l = np.where(l > 1, 1 / np.maximum(l, 1.0) ** 2, 0)
    np.savetxt(tmp_path / "cl.txt", np.transpose([l, c_l]), header="l TT")
    write_costs(tmp_path / "costs.json")
    return c_l[: LMAX + 1]


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011) of counters [4, n] and a key of two words."""
    counter, key = counter.astype(np.uint64), [np.uint64(k) for k in key]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        shift = np.uint64(32)
        counter = np.array([(b >> shift) ^ counter[1] ^ key[0], b & low, (a >> shift) ^ counter[3] ^ key[1], a & low])
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return counter


def white_noise(n, seed):
    """Scheme 2 as zonal/sky/realization.hpp has it."""
    k = np.arange((n + 1) // 2)
    w = philox(np.array([k, 0 * k, 0 * k, 0 * k + 2]), [seed % 2**32, seed >> 32])
    shift, bits = np.uint64(32), np.uint64(11)
    u = (((w[0] + (w[1] << shift)) >> bits) + np.uint64(1)).astype(float) / 2**53
    v = ((w[2] + (w[3] << shift)) >> bits).astype(float) / 2**53
    g = np.sqrt(-2 * np.log(u)) * np.exp(2j * np.pi * v)
    return np.column_stack([g.real, g.imag]).ravel()[:n]


def relative_rms(values, expected):
    return np.sqrt(np.mean((values - expected) ** 2) / np.mean(expected**2))


def test_is_the_documented_noise_convolved_in_harmonic_space(spectrum, zonal, tmp_path):
    seed = 2**40 + 17
    report = zonal(*SKY, "sky.fits", *MAP, "--method", "harmonic", "--seed", seed)
    n = 12 * NSIDE**2
    noise = white_noise(n, seed) * np.sqrt(n / (4 * np.pi))
    assert report["noise_variance"] == pytest.approx(n / (4 * np.pi)) and report["method"] == "harmonic"
    window = np.sqrt(spectrum) * healpy.gauss_beam(np.radians(6), lmax=LMAX)
    expected = healpy.alm2map(healpy.almxfl(healpy.map2alm(noise, lmax=LMAX, iter=0), window), NSIDE)
    assert_close(read_map(tmp_path / "sky.fits"), expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    cards = header(tmp_path / "sky.fits")
    assert cards["SEED"] == seed and cards["SEEDSCHM"] == 2 and cards["METHOD"] == "harmonic"


@pytest.mark.parametrize("method", ["split", "auto"])
@pytest.mark.parametrize("error", ["1e-3", "1e-5"])
def test_other_ways_give_that_sky_within_the_error(spectrum, zonal, tmp_path, method, error):
    zonal(*SKY, "harmonic.fits", *MAP, "--method", "harmonic", "--seed", 3)
    report = zonal(*SKY, "sky.fits", *MAP, "--method", method, "--seed", 3, "--error", error, "--costs", "costs.json")
    actual = relative_rms(read_map(tmp_path / "sky.fits"), read_map(tmp_path / "harmonic.fits"))
    assert actual <= report["certified_error"] <= float(error), (actual, report)
    assert header(tmp_path / "sky.fits")["CERTERR"] == pytest.approx(report["certified_error"])
    if method == "split":
        assert report["method"] == "split" and report["l_cut"] >= 0 and report["parts_seconds"]["pixels"] > 0


def test_same_seed_gives_the_same_sky_for_any_threads(spectrum, zonal, tmp_path):
    for threads in (1, 3):
        zonal(*SKY, f"{threads}.fits", *MAP, "--method", "split", "--seed", 5, "--threads", threads, "--error", "1e-4",
              "--costs", "costs.json")
    np.testing.assert_array_equal(read_map(tmp_path / "1.fits"), read_map(tmp_path / "3.fits"))
    zonal(*SKY, "other.fits", *MAP, "--method", "split", "--seed", 6, "--error", "1e-4", "--costs", "costs.json")
    assert relative_rms(read_map(tmp_path / "other.fits"), read_map(tmp_path / "1.fits")) > 1


@pytest.mark.parametrize("method", ["split", "harmonic"])
def test_has_the_spectrum_asked_for(spectrum, zonal, tmp_path, method):
    costs = ["--error", "1e-4", "--costs", "costs.json"] if method == "split" else []
    zonal(*SKY, "sky.fits", *MAP, "--method", method, "--seed", 11, *costs)
    # Beyond nside the noise's quadrature alm are no longer of unit spectrum to a per cent.
    l = np.arange(2, NSIDE + 1)
    found = healpy.anafast(read_map(tmp_path / "sky.fits"), lmax=LMAX, iter=5)[l]
    wanted = spectrum[l] * healpy.gauss_beam(np.radians(6), lmax=LMAX)[l] ** 2
    # sum over degrees of (2l+1)/2 (C_l / wanted - 1)^2 is chi^2 of that many degrees of freedom, nearly: its
    # variance is larger by 12/(2l+1) each, of chi^2 distributed C_l.
    chi2 = np.sum((2 * l + 1) / 2 * (found / wanted - 1) ** 2)
    spread = np.sqrt(np.sum(2 + 12 / (2 * l + 1)))
    assert abs(chi2 - l.size) <= 3 * spread, chi2
    # and the power of all together
    modes = np.sum(2 * l + 1)
    assert np.sum((2 * l + 1) * found / wanted) / modes == pytest.approx(1, abs=4 * np.sqrt(2 / modes))


@pytest.mark.parametrize("arguments, words", [
    (["--method", "split", "--alm-out", "alm.fits"], ["--alm-out", "--method"]),
    (["--method", "auto", "--mmax", "8"], ["--mmax", "--method"]),
    (["--method", "harmonic", "--error", "1e-3"], ["--error", "--method auto"]),
    (["--explain"], ["--explain", "--method auto"]),
    (["--method", "ring-fft"], ["--method = ring-fft", "auto, split, harmonic"]),
    (["--method", "split", "--error", "1e-7", "--fwhm", "10arcmin"], ["--method split", "lmax = 47", "faded"]),
])
def test_wrong_use_is_one_line(spectrum, fails, arguments, words):
    cannot_be_kept = "faded" in words
    line = fails(1 if cannot_be_kept else 2, *SKY, "sky.fits", "--nside", 16, *arguments)
    for word in words:
        assert word in line


def test_polarised_spectra_are_refused(fails, tmp_path):
    np.savetxt(tmp_path / "cl.txt", np.ones((48, 4)) * [0, 1, 1, 0.5] + np.arange(48)[:, None] * [1, 0, 0, 0], header="l TT EE TE")
    line = fails(2, *SKY, "sky.fits", "--nside", 16, "--method", "split")
    assert "EE" in line and "--temperature-only" in line
    line = fails(2, *SKY, "sky.fits", "--car", "48x96", "--method", "split", "--temperature-only")
    assert "--car" in line
