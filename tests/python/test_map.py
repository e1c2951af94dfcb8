"""Maps that know their pixels, unit, coordinates and columns."""
import copy
import operator
import pickle
import subprocess
import sys

import astropy.units as u
import healpy
import numpy as np
import pytest
from astropy.io import fits

import zonal

NSIDE = 8
N = 12 * NSIDE**2
RNG = np.random.default_rng(11)
IQU = RNG.normal(size=(3, N))
SKY = zonal.Map(IQU, unit="uK_CMB", coordinates="G", columns="IQU")


def planck_slope(frequency):
    """dB/dT of the Planck function at 2.7255 K, in MJy/sr per K, from the constants of the SI."""
    h, k, c, t = 6.62607015e-34, 1.380649e-23, 299792458.0, 2.7255
    x = h * frequency / (k * t)
    return 2 * h**2 * frequency**4 / (c**2 * k * t**2) * np.exp(x) / np.expm1(x) ** 2 * 1e20


def rayleigh_jeans_slope(frequency):
    """2 k nu^2 / c^2, in MJy/sr per K."""
    return 2 * 1.380649e-23 * frequency**2 / 299792458.0**2 * 1e20


def test_a_map_knows_its_pixels_and_shares_their_memory():
    assert np.shares_memory(np.asarray(SKY), IQU) and np.shares_memory(SKY.quantity, IQU)
    assert SKY.grid == zonal.Grid.healpix(NSIDE) and SKY.nside == NSIDE and not SKY.nest and SKY.pol
    assert SKY.unit == "uK_CMB" and SKY.coordinates == "galactic" and SKY.columns == ["I", "Q", "U"]
    assert (SKY.quantity.unit, SKY.quantity.shape) == (u.uK, (3, N))
    assert zonal.Map(IQU, unit=u.MJy / u.sr).unit == "MJy/sr" == zonal.Map(IQU * (u.MJy / u.sr)).unit
    assert zonal.Map(IQU.astype(np.float32)).dtype == np.float32
    car = zonal.Map(np.ones(200), zonal.Grid.equidistant_cylindrical(10, 20))
    assert car.nside == 0 and car._repr_png_() is None and "<img" not in car._repr_html_()


def test_a_map_says_in_a_line_what_it_is():
    sky = zonal.Map(IQU.copy(), unit="uK_CMB", coordinates="G", columns="IQU", nest=True)
    sky.values[:, :N // 4] = zonal.UNSEEN
    seen = IQU[:, N // 4:]
    assert repr(sky) == (f"<zonal.Map: nside 8, nest, galactic, I Q U, uK_CMB, {seen.min():.4g}..{seen.max():.4g}, "
                         "25 % unseen>")
    assert repr(zonal.Map(np.full(12, zonal.UNSEEN))) == "<zonal.Map: nside 1, ring, nan..nan, 100 % unseen>"


def test_rows_are_chosen_by_number_and_name():
    for key in ("Q", 1):
        assert SKY[key].columns == ["Q"] and not SKY[key].pol and SKY[key].unit == "uK_CMB"
        np.testing.assert_array_equal(SKY[key], IQU[1])
    assert SKY[1:].pol and SKY[["Q", "U"]].pol and not SKY[:2].pol and not SKY[["U", "Q"]].pol
    assert SKY["I"][5] == IQU[0, 5] and SKY[2, 3] == IQU[2, 3] and len(SKY) == 3
    np.testing.assert_array_equal(SKY[SKY > 1], IQU[IQU > 1])
    named = zonal.Map(IQU, columns=["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"], unit=["K", "mK", "uK"])
    assert named.pol and named["Q"].unit == "mK" and named["T"].columns == ["TEMPERATURE"]
    with pytest.raises(ValueError, match="row = 'E': must be one of I, Q, U"):
        SKY["E"]
    with pytest.raises(ValueError, match="the rows have 'K', 'mK', 'uK': take one row"):
        _ = named.unit


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy])
def test_maps_can_be_copied(copied):
    other = copied(SKY)
    assert repr(other) == repr(SKY) and (other == SKY).all() and other.pol


@pytest.mark.parametrize(("given", "message"), [
    (dict(values=np.ones(13)), "13 pixels, which is no HEALPix map"),
    (dict(values=np.ones((1, 1, 12))), r"shape \(1, 1, 12\): must be \[pixel\]"),
    (dict(values=IQU, grid=zonal.Grid.healpix(4)), "768 pixels: must be 192 for healpix nside=4"),
    (dict(values=np.ones(200), grid=zonal.Grid.equidistant_cylindrical(10, 20), nest=True), "is for HEALPix alone"),
    (dict(values=IQU, columns=["I", "Q"]), "columns: has 2 texts: must have one for each of 3 rows"),
    (dict(values=IQU, unit=["K", "K"]), "unit: has 2 texts"),
    (dict(values=IQU, coordinates="X"), "coordinate system 'X'"),
    (dict(values=SKY, nest=True), "nest = True: values is a zonal.Map in ring order"),
    (dict(values=SKY, grid=zonal.Grid.healpix(4)), "grid = healpix nside=4: values is a zonal.Map on healpix nside=8"),
    (dict(values=IQU * u.K, unit="uK"), "unit = 'uK': the values are in 'K'"),
])
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        zonal.Map(**given)


def test_orders_are_those_of_healpy():
    nest = SKY.reordered(nest=True)
    assert nest.nest and nest.unit == SKY.unit
    np.testing.assert_array_equal(nest, healpy.reorder(IQU, r2n=True))
    np.testing.assert_array_equal(nest.reordered(nest=False), IQU)


@pytest.mark.parametrize("work", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_arithmetic_is_that_of_numpy(work):
    other = RNG.uniform(1, 2, N)
    for right in (2, np.float64(3), other, zonal.Map(other)):
        for one, two in ((SKY, right), (right, SKY)):
            if work is operator.truediv and two is SKY:
                one = one if isinstance(one, zonal.Map) else zonal.Map(one + np.zeros(N))
            result = work(one, two)
            assert isinstance(result, zonal.Map) and result.columns == ["I", "Q", "U"]
            assert result.coordinates == "galactic"
            np.testing.assert_array_equal(result, work(np.asarray(one), np.asarray(two)))
    assert (SKY + 1).pol and (2 * SKY).pol and not (SKY * SKY).pol
    single = zonal.Map(IQU.astype(np.float32))
    assert (2 * single).dtype == (single + single).dtype == (single > 0).choose([single, single]).dtype == np.float32
    np.testing.assert_array_equal(-SKY, -IQU)
    np.testing.assert_array_equal(abs(SKY), abs(IQU))
    np.testing.assert_array_equal(SKY ** 2, IQU ** 2)


def test_units_go_with_arithmetic():
    mk = zonal.Map(SKY.values / 1000, unit="mK,thermodynamic")
    # Conversions round once or twice.
    np.testing.assert_allclose(SKY + mk, 2 * IQU, rtol=1e-15)
    assert (SKY + mk).unit == "uK_CMB" and (mk - SKY).unit == "mK,thermodynamic"
    np.testing.assert_allclose(mk - SKY, 0 * IQU, rtol=0, atol=1e-18)
    np.testing.assert_allclose(SKY + 3 * u.mK, IQU + 3000, rtol=1e-15)
    np.testing.assert_allclose(3 * u.mK - SKY, 3000 - IQU, rtol=1e-15)
    assert (3 * u.mK - SKY).unit == "uK_CMB"
    np.testing.assert_array_equal(SKY > 0.001 * u.mK, IQU > 1)
    assert ((2 * u.s) * SKY).unit == (SKY * u.s).unit == "s uK_CMB"
    assert (SKY**2).unit == (SKY * SKY).unit == "uK_CMB2" and (1 / SKY).unit == "1/uK_CMB" and (SKY / SKY).unit == ""
    assert ((SKY**2) ** 0.5).quantity.unit == u.uK
    rows = zonal.Map(IQU, unit=["K", "mK", "uK"]) + zonal.Map(IQU, unit="mK")
    assert rows.units == ["K", "mK", "uK"]
    np.testing.assert_allclose(rows, IQU * [[1.001], [2], [1001]], rtol=1e-15)


def test_unseen_pixels_stay_unseen():
    values = IQU.copy()
    values[1, 3] = zonal.UNSEEN
    sky = zonal.Map(values, unit="uK_CMB")
    other = np.ones(N, np.float32)
    other[7] = np.float32(zonal.UNSEEN)
    for result in (sky * other, other * sky, sky - zonal.Map(other), zonal.Map(other, unit="mK") + sky, sky / other,
                   (sky**3) * other, abs(sky) + other, (-sky).to("mK") + other):
        assert (result.values[:, 7] == zonal.UNSEEN).all() and result.values[1, 3] == zonal.UNSEEN
        assert result.unseen.sum() == 4 and np.isfinite(result.values).all()
    assert not (sky < 0)[1, 3] and (sky < 0).sum() == (values < 0).sum() - 1
    np.testing.assert_array_equal(sky == zonal.UNSEEN, sky.unseen)


@pytest.mark.parametrize(("other", "message"), [
    (zonal.Map(np.ones(12)), "lie on healpix nside=8 and healpix nside=1: .* zonal.udgrade"),
    (SKY.reordered(nest=True), r"one is in ring order and the other in nest order: use map.reordered\(nest\)"),
    (zonal.Map(IQU, coordinates="C"), "have galactic and equatorial coordinates: turn one by zonal.rotate_map"),
    (zonal.Map(IQU, unit="MJy/sr"), r"'MJy/sr' becomes 'uK_CMB' at a frequency alone: use Map.to"),
    (zonal.Map(IQU, unit="K_RJ"), "'K_RJ' becomes 'uK_CMB' at a frequency alone"),
    (zonal.Map(IQU, unit="furlongs"), "unit = 'furlongs': is not known to astropy"),
    (1 * u.s, "'s' cannot become 'uK_CMB'"),
    (np.ones(5), r"other: has shape \(5,\): must be one number"),
    (SKY[:2], "have 3 and 2 rows"),
])
def test_what_cannot_be_added_says_what_to_do(other, message):
    with pytest.raises(ValueError, match=message):
        SKY + other
    if not isinstance(other, np.ndarray):
        with pytest.raises(ValueError):
            _ = SKY < other
    with pytest.raises(TypeError):
        SKY + "1"


# astropy's constants have as many digits as those above; exp(x) of x = 16.7 costs 17 units of the last place, and some
# ten operations one each.
PHOTONS = 32 * np.finfo(float).eps


@pytest.mark.parametrize("ghz", [30, 143, 217, 353, 857])
def test_temperatures_become_intensities_at_a_frequency(ghz):
    to_cmb, to_rj = planck_slope(ghz * 1e9), rayleigh_jeans_slope(ghz * 1e9)
    one = zonal.Map(np.ones(12), unit="K_CMB", coordinates="G")
    for frequency in (f"{ghz} GHz", ghz * 1e9, ghz * u.GHz):
        np.testing.assert_allclose(one.to("MJy/sr", frequency), to_cmb, rtol=PHOTONS)
    assert one.to("MJy/sr", ghz * 1e9).coordinates == "galactic"
    np.testing.assert_allclose(one.to("K_RJ", ghz * 1e9), to_cmb / to_rj, rtol=PHOTONS)
    np.testing.assert_allclose(one.to("mK_RJ", ghz * 1e9).to("uK_CMB", ghz * 1e9), 1e6, rtol=PHOTONS)
    np.testing.assert_allclose(zonal.Map(np.ones(12), unit="kJy sr-1").to("uK,antenna", ghz * 1e9), 1e3 / to_rj, rtol=PHOTONS)


def test_the_factors_are_those_of_planck():
    """Monochromatic; those of Planck 2013 IX with its bands, 483.69 and 287.45, differ by some per cent."""
    one = zonal.Map(np.ones(12), unit="K_CMB")
    assert one.to("MJy/sr", "217 GHz").values[0] == pytest.approx(483.69, rel=0.01)  # of a band
    assert one.to("MJy/sr", "353 GHz").values[0] == pytest.approx(287.45, rel=0.04)


@pytest.mark.parametrize(("text", "factor"), [
    ("uK_CMB", 1), ("K_CMB", 1e-6), ("Kcmb", 1e-6), ("mK,thermodynamic", 1e-3), ("mK, thermodynamic", 1e-3),
    ("mK (thermodynamic)", 1e-3), ("K(CMB)", 1e-6), ("muK_CMB", 1), ("µK", 1), ("microK", 1), ("Kelvin", 1e-6),
    (u.K, 1e-6),
])
def test_units_as_files_spell_them_are_known(text, factor):
    np.testing.assert_allclose(SKY.to(text), IQU * factor, rtol=1e-15)
    np.testing.assert_allclose(zonal.Map(SKY.to(text), unit=text).to("uK_CMB"), IQU, rtol=1e-15)


@pytest.mark.parametrize(("unit", "target", "frequency", "message"), [
    ("K", "MJy/sr", "217 GHz", "unit = 'K': may be thermodynamic or Rayleigh-Jeans"),
    ("MJy/sr", "K", "217 GHz", "unit = 'K': may be thermodynamic or Rayleigh-Jeans"),
    ("K_CMB", "MJy/sr", None, "at a frequency alone"),
    ("K_CMB", "s", "217 GHz", "'K_CMB' cannot become 's'"),
    (None, "K_CMB", None, "say the unit of a map"),
    ("K_CMB", "MJy/sr", -1, "frequency = -1: must be one frequency, finite and above 0"),
    ("K_CMB", "MJy/sr", np.nan, "frequency = nan"),
    ("K_CMB", "MJy/sr", [1e9, 2e9], "a bandpass is not integrated"),
    ("K_CMB", "MJy/sr", "3 mm", "frequency = '3 mm': must be a number of Hz"),
])
def test_conversions_without_an_answer_are_refused(unit, target, frequency, message):
    with pytest.raises(ValueError, match=message):
        zonal.Map(np.ones(12), unit=unit).to(target, frequency)


def test_a_map_goes_through_a_file_with_its_meaning(tmp_path):
    path = tmp_path / "sky.fits"
    for sky in (SKY, SKY.reordered(nest=True), zonal.Map(IQU[:2], unit=["K", "s"], columns=["SIGNAL", "TIME"])):
        zonal.io.write_map(path, sky, single=False, overwrite=True)
        assert fits.getheader(path, 1)["ORDERING"] == ("NESTED" if sky.nest else "RING")
        again = zonal.io.read_map(path)
        assert (again.units, again.columns, again.pol) == (sky.units, sky.columns, sky.pol)
        assert again.coordinates == sky.coordinates and again.nest_in_file == sky.nest
        np.testing.assert_array_equal(again, sky.reordered(nest=False))
    car = zonal.Map(RNG.normal(size=200), zonal.Grid.equidistant_cylindrical(10, 20), unit="MJy/sr")
    zonal.io.write_map(path, car, single=False, overwrite=True)
    again = zonal.io.read_map(path)[0]
    assert again.grid == car.grid and again.unit == "MJy/sr"
    np.testing.assert_array_equal(again, car)


def test_a_map_shows_a_picture_of_itself():
    from io import BytesIO

    from matplotlib import pyplot
    from matplotlib.image import imread

    half, open_before = np.where(zonal.Grid.healpix(NSIDE).angles()[0] < 1, 1.0, zonal.UNSEEN), pyplot.get_fignums()
    picture = imread(BytesIO(zonal.Map(half)._repr_png_()))
    assert picture.ndim == 3 and picture.shape[1] > 400 and pyplot.get_fignums() == open_before
    gray = (abs(picture[..., :3] - 128 / 255) < 1e-6).all(-1)  # the colour of pixels that are UNSEEN
    rows = np.flatnonzero(gray.sum(1) > 20)  # more than a letter's edge
    assert 0.15 * gray.size < gray.sum() < 0.6 * gray.size
    assert rows.min() > 0.1 * len(picture)  # the north is seen
    html = SKY._repr_html_()
    assert "&lt;zonal.Map: nside 8" in html and "data:image/png;base64," in html
    wide = imread(BytesIO(SKY._repr_png_()))
    assert wide.shape[1] > 2.5 * picture.shape[1]


def test_astropy_is_not_imported_unasked():
    code = ("import sys, numpy as np, zonal; m = zonal.Map(np.ones((2, 12)), unit='uK_CMB'); zonal.Map(m, unit='K');"
            "m + m - 1; 2 * m / m; m[0] > 0; m ** 1; m.to('uK_CMB'); repr(m); print('astropy' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
