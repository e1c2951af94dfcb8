"""zonal wavelet: there and back."""

import healpy
import numpy as np
import pytest

from conftest import UNSEEN, assert_close, header, read_map


@pytest.fixture
def band_limited(tmp_path):
    """i.fits: one random field, nside 32, lmax 64."""
    np.random.seed(5)
    values = healpy.alm2map(healpy.synalm(np.ones(65)), 32)
    healpy.write_map(tmp_path / "i.fits", values, dtype=np.float64, column_units="K", coord="G")
    return values


@pytest.mark.parametrize("options", [["--kind", "needlet"], ["--kind", "needlet", "--base", "1.7"], [],
                                     ["--kind", "scale-discretised", "--base", "3", "--j-min", "1"]])
def test_there_and_back_is_the_map(band_limited, zonal, tmp_path, options):
    analysis = ("--tolerance", "1e-13")
    forward = zonal("wavelet", "i.fits", "scales.fits", "--lmax", "64", *analysis, *options)
    zonal("wavelet", "scales.fits", "back.fits", "--inverse", *analysis)
    back = read_map(tmp_path / "back.fits")
    # Two solutions to 1e-13 and the rounding of sums over 65^2 coefficients.
    assert_close(back, band_limited, rtol=0, atol=1e-10 * np.abs(band_limited).max())
    cards = header(tmp_path / "scales.fits")
    names = [cards[f"TTYPE{i + 1}"] for i in range(cards["TFIELDS"])]
    assert names == forward["scales"] and names[0] == "SCALING" and names[1].startswith("WAVELET_")
    assert cards["COORDSYS"][0] == "G" and cards["TUNIT1"] == "K" and cards["MAX-LPOL"] == 64
    assert "WAVELET" not in header(tmp_path / "back.fits")


def test_needlets_live_in_their_band(band_limited, zonal, tmp_path):
    report = zonal("wavelet", "i.fits", "scales.fits", "--lmax", "64", "--tolerance", "1e-12")
    scales = healpy.read_map(tmp_path / "scales.fits", field=None, dtype=np.float64)
    assert report["wavelets"] == "needlet" and report["base"] == 2
    for j, values in enumerate(scales[1:]):
        cl = healpy.anafast(values, lmax=64, iter=10)
        l = np.arange(65)
        outside = (l <= 2.0 ** (j - 1)) | (l >= 2.0 ** (j + 1))
        assert cl[outside].max(initial=0) <= 1e-8 * cl.max()


def test_mexican_hats_are_the_convolution_with_their_profile(zonal, tmp_path):
    # A point: its map is the hat itself (Cayon et al. 2001), whose integral is 0.
    values = np.zeros(12 * 64**2)
    values[12000] = 1 / healpy.nside2pixarea(64)
    healpy.write_map(tmp_path / "point.fits", values, dtype=np.float64)
    report = zonal("wavelet", "point.fits", "hats.fits", "--kind", "mexican-hat", "--radius", "6deg,0.2rad", "--iter", "0")
    hats = healpy.read_map(tmp_path / "hats.fits", field=None, dtype=np.float64)
    theta = np.array(healpy.rotator.angdist(healpy.pix2vec(64, np.arange(values.size)), healpy.pix2vec(64, 12000)))
    for radius, hat in zip((np.radians(6), 0.2), hats):
        y = 2 * np.tan(theta / 2)
        norm = radius * np.sqrt(1 + radius**2 / 2 + radius**4 / 4)
        expected = (2 - (y / radius) ** 2) * (1 + (y / 2) ** 2) ** 2 * np.exp(-(y**2) / (2 * radius**2)) / (np.sqrt(2 * np.pi) * norm)
        # Without iterations the analysis of a point errs by the quadrature of the grid.
        assert np.abs(hat - expected).max() < 1e-2 * expected.max()
    assert report["scales"] == ["HAT_0", "HAT_1"]


@pytest.mark.parametrize("command, code, words", [
    ("sky.fits out.fits", 2, ["Q and U", "--field I"]),
    ("cut.fits out.fits", 1, ["1 pixels are UNSEEN", "ring pixel 5"]),
    ("i.fits out.fits --kind haar", 2, ["haar", "needlet"]),
    ("i.fits out.fits --kind mexican-hat", 2, ["--radius"]),
    ("i.fits out.fits --kind mexican-hat --radius 5", 2, ["--radius", "unit"]),
    ("i.fits out.fits --kind mexican-hat --radius 90deg", 2, ["--radius = 90deg", "1rad"]),
    ("i.fits out.fits --radius 5deg", 2, ["--radius", "mexican-hat"]),
    ("i.fits out.fits --j-min 1", 2, ["--j-min", "scale-discretised"]),
    ("i.fits out.fits --kind scale-discretised --j-min 9", 2, ["j_min"]),
    ("i.fits out.fits --base 1", 2, ["--base", "1.01"]),
    ("i.fits out.fits --inverse", 1, ["i.fits", "WAVELET"]),
    ("i.fits out.fits --inverse --lmax 3", 2, ["--inverse", "--lmax"]),
])
def test_misuse_is_one_line(sky, band_limited, fails, tmp_path, command, code, words):
    cut = band_limited.copy()
    cut[5] = UNSEEN
    healpy.write_map(tmp_path / "cut.fits", cut, dtype=np.float64)
    line = fails(code, "wavelet", *command.split())
    for word in words:
        assert word in line, line


def test_hats_have_no_way_back(band_limited, zonal, fails):
    zonal("wavelet", "i.fits", "hats.fits", "--kind", "mexican-hat", "--radius", "6deg")
    assert "no inverse" in fails(2, "wavelet", "hats.fits", "out.fits", "--inverse")
