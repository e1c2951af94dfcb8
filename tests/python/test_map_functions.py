"""Functions that take maps and coefficients return what they were given: arrays, Quantities or zonal.Map."""
import astropy.units as u
import numpy as np
import pytest
from astropy.io import fits

import zonal

NSIDE = 8
N = 12 * NSIDE**2
CL = 1.0 / np.arange(1, 18) ** 2
SMOOTH_SKY = zonal.synfast({"TT": CL, "EE": CL, "BB": CL}, NSIDE, seed=2)
HARMONIC = {"method": "harmonic", "lmax": 16}
KERNEL = zonal.Kernel.gaussian("30deg")
SPLIT = zonal.Split(zonal.gaussian_window("30deg", 24), "60deg", l_cut=12)
PLAN = zonal.plan(KERNEL, zonal.Grid.healpix(NSIDE), error=1e-3)


@pytest.mark.parametrize("work", [
    lambda m: zonal.smooth(m, "30deg", **HARMONIC),
    lambda m: zonal.convolve(m, KERNEL, error=1e-3),
    lambda m: zonal.udgrade(m, 4),
    lambda m: zonal.rotate_map(m, (0.1, 0.2, 0.3)),
    lambda m: zonal.remove_dipole(m),
    lambda m: SPLIT.convolve(m),
    PLAN,
    lambda m: zonal.smooth(m, "30deg", grid_out=zonal.Grid.equidistant_cylindrical(20, 40), method="harmonic"),
])
def test_maps_come_back_as_what_was_given(work):
    expected = work(SMOOTH_SKY[0])
    assert type(expected) is np.ndarray
    quantity = work(SMOOTH_SKY[0] * u.mK)
    assert quantity.unit == u.mK
    np.testing.assert_array_equal(quantity.value, expected)
    ring = zonal.Map(SMOOTH_SKY[0], unit="mK_CMB", columns=["I"])
    for given in (ring, ring.reordered(nest=True)):
        result = work(given)
        is_healpix = result.grid.nside is not None
        assert isinstance(result, zonal.Map) and result.unit == "mK_CMB" and result.columns == ["I"]
        assert result.nest == (given.nest and is_healpix) and result.grid.n_pixels == len(expected)
        np.testing.assert_array_equal(result.reordered(nest=False), expected)


def test_polarised_maps_are_smoothed_as_such():
    sky = zonal.Map(SMOOTH_SKY, unit="mK", columns="IQU")
    expected = zonal.smooth(SMOOTH_SKY, "30deg", pol=True, **HARMONIC)
    assert np.abs(expected - zonal.smooth(SMOOTH_SKY, "30deg", **HARMONIC))[1:].max() > 0.01
    result, reports = zonal.smooth(sky, "30deg", return_report=True, **HARMONIC)
    assert result.pol and [list(report.rows) for report in reports] == [[0], [1, 2]]
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(zonal.smooth(sky, "30deg", pol=False, **HARMONIC), zonal.smooth(SMOOTH_SKY, "30deg", **HARMONIC))
    np.testing.assert_array_equal(zonal.map2alm(sky), zonal.map2alm(SMOOTH_SKY, pol=True))
    np.testing.assert_array_equal(zonal.anafast(sky)["EE"], zonal.anafast(SMOOTH_SKY, pol=True)["EE"])
    np.testing.assert_array_equal(zonal.rotate_map(sky, (1, 0, 0)), zonal.rotate_map(SMOOTH_SKY, (1, 0, 0), pol=True))
    with pytest.raises(ValueError, match="has 4 rows: must be I, Q, U or Q, U, or else pol = False"):
        zonal.smooth(zonal.Map(np.concatenate([SMOOTH_SKY, SMOOTH_SKY[:1]]), columns=["I", "Q", "U", "HITS"]), "30deg", **HARMONIC)


def test_quantities_keep_their_unit_in_harmonic_space():
    sky, q = SMOOTH_SKY[0], SMOOTH_SKY[0] * u.mK
    sht = zonal.SHT(zonal.Grid.healpix(NSIDE), 16)
    alm = zonal.map2alm(sky, 16)
    for found, expected, unit in (
        (zonal.map2alm(q, 16), alm, u.mK), (sht.analyze(q), sht.analyze(sky), u.mK),
        (sht.adjoint(q), sht.adjoint(sky), u.mK), (sht.synthesize(alm * u.K), sht.synthesize(alm), u.K),
        (sht.analyze(q, return_report=True)[0], sht.analyze(sky), u.mK),
        (zonal.alm2map(alm * u.K, NSIDE), zonal.alm2map(alm, NSIDE), u.K),
        (zonal.rotate_alm(alm * u.K, "GC"), zonal.rotate_alm(alm, "GC"), u.K),
        (zonal.almxfl(alm * u.K, CL), zonal.almxfl(alm, CL), u.K), (zonal.resize_alm(alm * u.K, 4), zonal.resize_alm(alm, 4), u.K),
        (zonal.wavelet_transform(alm * u.K, [CL]), zonal.wavelet_transform(alm, [CL]), u.K),
        (zonal.inverse_wavelet_transform(alm[None] * u.K, [CL]), zonal.inverse_wavelet_transform(alm[None], [CL]), u.K),
        (zonal.anafast(q, lmax=16), zonal.anafast(sky, lmax=16), u.mK**2),
        (zonal.anafast(q, SMOOTH_SKY[1] * u.K, 16), zonal.anafast(sky, SMOOTH_SKY[1], 16), u.mK * u.K),
        (zonal.anafast(SMOOTH_SKY * u.K, pol=True)["TE"], zonal.anafast(SMOOTH_SKY, pol=True)["TE"], u.K**2),
        (zonal.fit_dipole(q)[0], zonal.fit_dipole(sky)[0], u.mK), (zonal.fit_dipole(q)[1], zonal.fit_dipole(sky)[1], u.mK),
    ):
        assert found.unit == unit
        np.testing.assert_array_equal(found.value, expected)


@pytest.mark.parametrize("order", [False, True])
def test_coefficients_of_maps_are_plain_arrays(order):
    sky = zonal.Map(SMOOTH_SKY[0], unit="mK").reordered(nest=order)
    sht = zonal.SHT(zonal.Grid.healpix(NSIDE), 16)
    for work in (zonal.map2alm, sht.analyze, sht.adjoint, zonal.anafast, lambda m: zonal.anafast(m, m),
                 lambda m: zonal.fit_dipole(m)[1]):
        found = work(sky)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, work(SMOOTH_SKY[0]))


def test_masks_may_be_maps_in_their_own_order():
    mask = (zonal.Grid.healpix(NSIDE).angles()[0] > 1).astype(float)
    nest = zonal.Map(mask).reordered(nest=True)
    expected = zonal.smooth(SMOOTH_SKY[0], "30deg", mask=mask, **HARMONIC)
    np.testing.assert_array_equal(zonal.smooth(SMOOTH_SKY[0], "30deg", mask=nest, **HARMONIC), expected)
    sky = zonal.Map(SMOOTH_SKY[0]).reordered(nest=True)
    for given in (nest, zonal.Map(mask)):
        np.testing.assert_array_equal(zonal.smooth(sky, "30deg", mask=given, **HARMONIC).reordered(nest=False), expected)


def test_maps_of_one_row_serve_as_they_are_read():
    mask = (zonal.Grid.healpix(NSIDE).angles()[0] > 1).astype(float)
    row = np.where(mask > 0, mask, zonal.UNSEEN)[None]
    sky = zonal.Map(SMOOTH_SKY[:1])
    expected = zonal.smooth(SMOOTH_SKY[0], "30deg", mask=mask, **HARMONIC)
    for given in (zonal.Map(row), zonal.Map(row).reordered(nest=True)):
        np.testing.assert_array_equal(zonal.smooth(SMOOTH_SKY[0], "30deg", mask=given, **HARMONIC), expected)
    np.testing.assert_array_equal(zonal.anafast(sky), zonal.anafast(SMOOTH_SKY[0]))
    np.testing.assert_array_equal(zonal.anafast(sky, sky), zonal.anafast(SMOOTH_SKY[0]))
    np.testing.assert_array_equal(zonal.fit_dipole(sky)[1], zonal.fit_dipole(SMOOTH_SKY[0])[1])
    with pytest.raises(ValueError, match=r"mask: has 2 rows: must be one, such as mask\[0\]"):
        zonal.smooth(sky, "30deg", mask=zonal.Map(np.concatenate([row, row])), **HARMONIC)
    for call in (lambda m: zonal.smooth(sky, "30deg", mask=m, **HARMONIC), lambda m: zonal.smooth(sky, "30deg", mask=m),
                 lambda m: zonal.smooth(sky, "30deg", mask=m, method="ring-fft", error=0.1), lambda m: zonal.anafast(sky, mask=m)):
        with pytest.raises(ValueError, match="mask: with the UNSEEN pixels of the map it leaves no pixel"):
            call(np.zeros(mask.size))


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda m: zonal.smooth(m, "30deg", nest=True), ValueError, "nest = True: maps is a zonal.Map in ring order"),
    (lambda m: zonal.smooth(m.reordered(True), "30deg", nest=False), ValueError, "nest = False: maps is a zonal.Map in nest"),
    (lambda m: zonal.map2alm(m, grid=zonal.Grid.healpix(4)), ValueError, "grid = healpix nside=4: maps is"),
    (lambda m: zonal.SHT(zonal.Grid.healpix(4), 8).analyze(m), ValueError, "map: is a zonal.Map on healpix nside=8, and this works on healpix nside=4: "),
    (lambda m: zonal.plan(KERNEL, zonal.Grid.healpix(4), error=1e-3)(m), ValueError, "maps: is a zonal.Map on healpix nside=8, and this works on healpix nside=4: "),
    (lambda m: PLAN(m.reordered(True), out=np.empty(N)), ValueError, "out: has no place for a zonal.Map in nest order"),
    (lambda m: zonal.rotate_map(m, "CG"), ValueError, "rotation = 'CG': begins in equatorial coordinates, but the map has galactic"),
    (lambda m: zonal.anafast(m, m.quantity), TypeError, "are a zonal.Map and a Quantity"),
    (lambda m: zonal.plot.mollweide(m, coord="C"), ValueError, "coord = 'C': must begin with G"),
    (lambda m: zonal.plot.mollweide(m, nest=True), ValueError, "nest = True: map is"),
])
def test_arguments_that_contradict_a_map_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(zonal.Map(SMOOTH_SKY[0], unit="mK", coordinates="galactic"))


def test_rotations_change_the_coordinates():
    sky = zonal.Map(SMOOTH_SKY, coordinates="G", columns="IQU")
    turned = zonal.rotate_map(sky, "GC")
    assert turned.coordinates == "equatorial" and turned.pol
    np.testing.assert_array_equal(turned, zonal.rotate_map(SMOOTH_SKY, "GC", pol=True))
    assert zonal.rotate_map(sky, (0.1, 0, 0)).coordinates == "unknown"


def test_spectra_with_units_give_skies_with_units():
    spectra = {"TT": CL * u.mK**2, "EE": CL * u.mK**2}
    sky, alm = zonal.synfast(spectra, NSIDE, seed=1, return_alm=True)
    assert sky.unit == alm.unit == zonal.synalm(spectra, seed=1).unit == u.mK
    assert np.array_equal(sky.value, zonal.synfast({"TT": CL, "EE": CL}, NSIDE, seed=1))
    with pytest.raises(ValueError, match="c_l: are in mK2, no unit: must all be in one unit"):
        zonal.synalm({"TT": CL * u.mK**2, "EE": CL}, seed=1)
    assert zonal.wiener_window(CL * u.K**2, 1e6 * CL * u.mK**2) == pytest.approx(0.5, rel=4 * np.finfo(float).eps, abs=0)


def test_no_unit_is_lost():
    for values in (np.ones(N) * u.K, u.Quantity(np.full(N, 200.0), u.percent)):
        with pytest.raises((TypeError, ValueError), match="mask: is a Quantity in K|mask: pixel 0 is 2"):
            zonal.map2alm(SMOOTH_SKY[0], mask=values)


def test_quantities_go_into_files(tmp_path):
    zonal.io.write_map(tmp_path / "map.fits", SMOOTH_SKY * u.mK)
    assert zonal.io.read_map(tmp_path / "map.fits").units == ["mK"] * 3
    zonal.io.write_alm(tmp_path / "alm.fits", np.ones(6) * u.K)
    assert fits.getheader(tmp_path / "alm.fits", 1)["TUNIT2"] == "K"
    zonal.io.write_cl(tmp_path / "cl.fits", CL * u.K**2)
    assert fits.getheader(tmp_path / "cl.fits", 1)["TUNIT1"] == "K2"


def test_pictures_know_what_a_map_says():
    from matplotlib import pyplot

    def drawn(sky, **options):
        ax = zonal.plot.mollweide(sky, width=100, **options)
        label, picture = ax.figure.axes[1].get_xlabel(), np.ma.filled(ax.images[0].get_array(), np.nan)
        zonal.plot.graticule(ax, coord="C") if isinstance(sky, zonal.Map) else None
        pyplot.close(ax.figure)
        return label, picture

    sky = zonal.Map(SMOOTH_SKY, unit="mK", coordinates="galactic", columns="IQU").reordered(nest=True)
    label, picture = drawn(sky["I"])
    assert label == "mK" and drawn(sky["I"], unit="x")[0] == "x"
    np.testing.assert_array_equal(picture, drawn(SMOOTH_SKY[0])[1])
    label, picture = drawn(SMOOTH_SKY[0] * u.MJy / u.sr)
    assert label == "MJy/sr"
    np.testing.assert_array_equal(picture, drawn(SMOOTH_SKY[0])[1])
    ax = zonal.plot.mollweide(sky["I"], width=100)
    lines = zonal.plot.polarization(ax, sky["Q"], sky["U"], count=10)
    plain = zonal.plot.polarization(ax, SMOOTH_SKY[1], SMOOTH_SKY[2], count=10)
    np.testing.assert_array_equal(lines.get_segments(), plain.get_segments())
    with pytest.raises(ValueError, match="q, u: are in different orders"):
        zonal.plot.polarization(ax, sky["Q"], sky["U"].reordered(nest=False))
    pyplot.close(ax.figure)
    ax = zonal.plot.spectrum(np.ones(9) * u.mK**2)
    assert ax.get_ylabel().endswith("[mK$^{2}$]")
    pyplot.close(ax.figure)


def test_healpys_functions_take_the_values():
    import zonal.healpy as hp

    expected = hp.smoothing(SMOOTH_SKY[0], fwhm=0.5)
    for given in (zonal.Map(SMOOTH_SKY[0], unit="mK"), SMOOTH_SKY[0] * u.mK):
        found = hp.smoothing(given, fwhm=0.5)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(hp.anafast(given), hp.anafast(SMOOTH_SKY[0]))
        np.testing.assert_array_equal(hp.ud_grade(given, 4), hp.ud_grade(SMOOTH_SKY[0], 4))
        np.testing.assert_array_equal(hp.remove_dipole(given), hp.remove_dipole(SMOOTH_SKY[0]))
    np.testing.assert_array_equal(hp.smoothing(zonal.Map(SMOOTH_SKY), fwhm=0.5), hp.smoothing(SMOOTH_SKY, fwhm=0.5))
