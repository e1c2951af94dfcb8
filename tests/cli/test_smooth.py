"""zonal smooth: the conventions that decide whether the result is right."""

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import DATA, UNSEEN, assert_close, header

WMAP = DATA / "wmap" / "wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits"
WMAP_F90 = DATA / "wmap" / "wmap_W_smoothed10deg_healpix_f90.fits"
WMAP_MASK = DATA / "wmap" / "wmap_temperature_analysis_mask_r9_7yr_v4_udgraded32.fits"
HEALPY = ("--method", "harmonic")  # as healpy.smoothing


def read(path):
    return np.atleast_2d(healpy.read_map(path, field=None, dtype=np.float64))


def smoothed(maps, windows, lmax, iterations=3):
    """The answer by healpy: alm of T, E, B times one window each."""
    alm = healpy.map2alm(maps, lmax=lmax, iter=iterations)
    alm = [healpy.almxfl(a, w) for a, w in zip(np.atleast_2d(alm), windows)]
    nside = healpy.get_nside(maps)
    return healpy.alm2map(alm if len(alm) > 1 else alm[0], nside, lmax=lmax)


def gaussian(fwhm_degrees, lmax):
    """exp(-(l(l+1) - s^2) sigma^2/2) for T, E, B, 0 below l = s."""
    sigma = np.radians(fwhm_degrees) / np.sqrt(8 * np.log(2))
    l = np.arange(lmax + 1)
    t = np.exp(-l * (l + 1) * sigma**2 / 2)
    p = np.where(l >= 2, np.exp(-(l * (l + 1) - 4) * sigma**2 / 2), 0)
    return np.array([t, p, p])


def rounding(maps):
    # Two codes, a hundred thousand additions each: their rounding errors stay below 1e-11 of the largest value.
    return 1e-11 * np.abs(maps).max()


def test_agrees_with_healpix_f90_on_wmap(zonal, tmp_path):
    zonal("smooth", WMAP, "out.fits", *HEALPY, "--fwhm", "10deg", "--lmax", "64", "--iter", "3")
    ours, theirs = read(tmp_path / "out.fits"), read(WMAP_F90)
    for name, a, b in zip("IQU", ours, theirs):
        assert np.abs(a - b).max() <= 1e-6 * np.abs(b).max(), name


def test_default_is_lmax_3nside_minus_1_and_3_iterations(sky, zonal, tmp_path):
    report = zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--fwhm", "8deg")
    assert report["lmax"] == 47 and report["iterations"] == 3
    expected = smoothed(sky, gaussian(8, 47), 47)
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=rounding(expected))


def test_fwhm_agrees_with_healpy_smoothing(sky, zonal, tmp_path):
    zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--fwhm", "8deg", "--lmax", "40")
    expected = healpy.smoothing(sky, fwhm=np.radians(8), lmax=40, iter=3)
    # healpy's window at l = 0 and 1 of E and B multiplies zeros.
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=rounding(expected))


def test_keeps_order_precision_unit_coordinates_and_names(sky, zonal, tmp_path):
    nest = [healpy.reorder(m, r2n=True) for m in sky]
    healpy.write_map(tmp_path / "nest.fits", nest, nest=True, dtype=np.float32, column_units="mK", coord="E")
    zonal("smooth", "nest.fits", "out.fits", *HEALPY, "--fwhm", "8deg")
    cards = header(tmp_path / "out.fits")
    assert cards["ORDERING"] == "NESTED" and cards["COORDSYS"][0] == "E"
    assert cards["TFORM1"].endswith("E") and cards["TUNIT1"] == cards["TUNIT3"] == "mK"
    assert [cards[f"TTYPE{i}"] for i in (1, 2, 3)] == [header(tmp_path / "nest.fits")[f"TTYPE{i}"] for i in (1, 2, 3)]
    expected = smoothed(np.array(sky, dtype=np.float32).astype(float), gaussian(8, 47), 47)
    # healpy brings nest maps to ring order; float32 rounds to 6e-8.
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def write_columns(path, names, maps, **cards):
    columns = [fits.Column(name=n, format="D", array=m) for n, m in zip(names, maps)]
    table = fits.BinTableHDU.from_columns(columns)
    table.header.update(PIXTYPE="HEALPIX", ORDERING="RING", NSIDE=healpy.get_nside(maps[0]), **cards)
    table.writeto(path)


def test_columns_are_polarised_by_name_key_or_option_only(sky, zonal, tmp_path):
    polarised = smoothed(sky, gaussian(8, 47), 47)
    scalars = np.array([smoothed(m, gaussian(8, 47)[:1], 47) for m in sky])
    cases = [(["I_STOKES", "Q_STOKES", "U_STOKES"], {}, [], polarised), (["A", "B", "C"], {}, [], scalars),
             (["A", "B", "C"], {"POLAR": True}, [], polarised), (["A", "B", "C"], {}, ["--pol"], polarised),
             (["I_STOKES", "Q_STOKES", "U_STOKES"], {}, ["--no-pol"], scalars)]
    for i, (names, cards, options, expected) in enumerate(cases):
        write_columns(tmp_path / f"in{i}.fits", names, sky, **cards)
        zonal("smooth", f"in{i}.fits", f"out{i}.fits", *HEALPY, "--fwhm", "8deg", *options)
        # Columns that were polarised by key or option get HEALPix' names.
        out = np.array([fits.getdata(tmp_path / f"out{i}.fits").field(c).ravel() for c in range(3)])
        assert_close(out, expected, rtol=0, atol=rounding(expected), err_msg=str(names) + str(options))


def test_field_takes_names_and_numbers_from_0(sky, zonal, tmp_path):
    write_columns(tmp_path / "in.fits", ["A", "B", "C", "HITS"], [*sky, np.full(3072, 7.0)])
    zonal("smooth", "in.fits", "out.fits", *HEALPY, "--fwhm", "8deg", "--field", "C,0")
    assert [header(tmp_path / "out.fits")[f"TTYPE{i}"] for i in (1, 2)] == ["C", "A"]
    expected = smoothed(sky[2], gaussian(8, 47)[:1], 47)
    assert_close(read(tmp_path / "out.fits")[0], expected, rtol=0, atol=rounding(expected))


def test_hits_are_smoothed_only_when_named(sky, zonal, tmp_path):
    write_columns(tmp_path / "in.fits", ["TEMPERATURE", "N_OBS"], [sky[0], np.full(3072, 7.0)])
    report = zonal("smooth", "in.fits", "out.fits", *HEALPY, "--fwhm", "8deg")
    assert [field["name"] for field in report["fields"]] == ["TEMPERATURE"]
    report = zonal("smooth", "in.fits", "hits.fits", *HEALPY, "--fwhm", "8deg", "--field", "N_OBS")
    assert [field["name"] for field in report["fields"]] == ["N_OBS"]


def test_q_without_u_is_refused(sky, fails):
    assert "--field" in fails(2, "smooth", "sky.fits", "out.fits", "--fwhm", "8deg", "--field", "0,1")


def test_one_column_beam_serves_t_e_b_as_it_stands(sky, zonal, tmp_path):
    beam = np.exp(-np.arange(48) / 20)
    np.savetxt(tmp_path / "beam.txt", beam)
    healpy.write_cl(tmp_path / "beam.fits", beam)
    expected = smoothed(sky, [beam, beam, beam], 47)
    for name in ("beam.txt", "beam.fits"):
        zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--beam", name, "--overwrite")
        # healpy writes the beam as float64
        assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=rounding(expected))


def test_three_column_beam_serves_t_e_and_b(sky, zonal, tmp_path):
    l = np.arange(48)
    beams = np.array([np.exp(-l / 20), np.exp(-l / 10), np.exp(-l / 5)])
    columns = [fits.Column(name=n, format="D", array=b) for n, b in zip(("TEMPERATURE", "GRADIENT", "CURL"), beams)]
    fits.BinTableHDU.from_columns(columns).writeto(tmp_path / "beam.fits")
    zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--beam", "beam.fits")
    expected = smoothed(sky, beams, 47)
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=rounding(expected))


def test_beam_shorter_than_lmax_is_an_error_without_extend(sky, zonal, fails, tmp_path):
    beam = 1 / (1.0 + np.arange(31)) ** 2
    beam[0] = 1
    np.savetxt(tmp_path / "beam.txt", beam)
    line = fails(2, "smooth", "sky.fits", "out.fits", *HEALPY, "--beam", "beam.txt")
    assert "30" in line and "47" in line and "beam" in line
    zonal("smooth", "sky.fits", "zero.fits", *HEALPY, "--beam", "beam.txt", "--extend", "zero")
    longer = np.append(beam, np.zeros(17))
    expected = smoothed(sky, [longer] * 3, 47)
    assert_close(read(tmp_path / "zero.fits"), expected, rtol=0, atol=rounding(expected))
    zonal("smooth", "sky.fits", "power.fits", *HEALPY, "--beam", "beam.txt", "--extend", "powerlaw")
    assert np.abs(read(tmp_path / "power.fits") - expected).max() > 1e-6


def test_unsmoothing_is_the_inverse_of_smoothing(sky, zonal, tmp_path):
    common = ("--lmax", "32", "--tolerance", "1e-13")
    zonal("smooth", "sky.fits", "low.fits", *HEALPY, "--fwhm", "8deg", *common)
    zonal("smooth", "low.fits", "back.fits", *HEALPY, "--fwhm-in", "8deg", *common)
    # sky has nothing above lmax 32; E, B below l = 2 are 0. The window's smallest value, 0.02, amplifies the
    # solver's residual.
    assert_close(read(tmp_path / "back.fits"), sky, rtol=0, atol=1e-9 * np.abs(sky).max())


def test_unsmoothing_by_a_beam_needs_a_floor(sky, zonal, fails, tmp_path):
    beam = np.exp(-np.arange(48) / 8)
    np.savetxt(tmp_path / "beam.txt", beam)
    assert "--floor" in fails(2, "smooth", "sky.fits", "out.fits", "--beam-in", "beam.txt")
    zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--beam-in", "beam.txt", "--floor", "0.05", "--fwhm", "9deg")
    windows = gaussian(9, 47) / np.maximum(beam, 0.05)
    expected = smoothed(sky, windows, 47)
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=rounding(expected))


def test_pixel_windows_are_applied_only_when_asked_for(sky, zonal, fails, tmp_path):
    files = [DATA / "healpix" / f"pixel_window_n{n:04}.fits" for n in (16, 8)]
    zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--fwhm", "9deg", "--pixwin-in", files[0], "--pixwin-out", files[1],
          "--nside-out", "8", "--lmax", "23")
    t = [fits.getdata(f)["TEMPERATURE"][:24] for f in files]
    p = [fits.getdata(f)["POLARIZATION"][:24] for f in files]
    ratio_p = np.divide(p[1], p[0], out=np.zeros(24), where=np.arange(24) >= 2)
    windows = gaussian(9, 23) * np.array([t[1] / t[0], ratio_p, ratio_p])
    alm = healpy.map2alm(sky, lmax=23, iter=3)
    expected = healpy.alm2map([healpy.almxfl(a, w) for a, w in zip(alm, windows)], 8, lmax=23)
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=rounding(expected))
    assert "16" in fails(1, "smooth", "sky.fits", "no.fits", "--fwhm", "9deg", "--pixwin-in", files[1])


def test_mask_mode_zero_is_the_default_and_unseen_comes_back(sky, zonal, tmp_path):
    masked = sky[0].copy()
    masked[100:400] = UNSEEN
    healpy.write_map(tmp_path / "in.fits", masked, dtype=np.float64)
    report = zonal("smooth", "in.fits", "out.fits", *HEALPY, "--fwhm", "8deg")
    assert report["fields"][0]["masked_pixels"] == 300
    expected = smoothed(np.where(masked == UNSEEN, 0, masked), gaussian(8, 47)[:1], 47)
    out = read(tmp_path / "out.fits")[0]
    assert (out[100:400] == UNSEEN).all() and (out != UNSEEN).sum() == 3072 - 300
    seen = out != UNSEEN
    assert_close(out[seen], expected[seen], rtol=0, atol=rounding(expected))
    zonal("smooth", "in.fits", "filled.fits", *HEALPY, "--fwhm", "8deg", "--fill-masked")
    assert_close(read(tmp_path / "filled.fits")[0], expected, rtol=0, atol=rounding(expected))


def test_unseen_is_an_error_with_mask_mode_error(sky, fails, tmp_path):
    masked = sky[0].copy()
    masked[100:400] = UNSEEN
    healpy.write_map(tmp_path / "in.fits", masked, dtype=np.float64)
    line = fails(1, "smooth", "in.fits", "out.fits", "--fwhm", "8deg", "--mask-mode", "error")
    assert "300" in line and "in.fits" in line


def test_mask_acts_on_i_q_and_u(sky, zonal, tmp_path):
    mask = (np.arange(3072) > 1000).astype(float)
    healpy.write_map(tmp_path / "mask.fits", mask, dtype=np.int32)
    zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--fwhm", "8deg", "--mask", "mask.fits")
    expected = smoothed(np.array(sky) * mask, gaussian(8, 47), 47)
    out = read(tmp_path / "out.fits")
    assert (out[:, mask == 0] == UNSEEN).all()
    assert_close(out[:, mask == 1], expected[:, mask == 1], rtol=0, atol=rounding(expected))


def test_renormalize_divides_by_the_mask_smoothed_with_the_intensity_kernel(sky, zonal, tmp_path):
    mask = (np.arange(3072) > 1000).astype(float)
    healpy.write_map(tmp_path / "mask.fits", mask)
    zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--fwhm", "8deg", "--mask", "mask.fits", "--mask-mode", "renormalize",
          "--fill-masked", "--mask-threshold", "0.2")
    numerator = smoothed(np.array(sky) * mask, gaussian(8, 47), 47)
    denominator = smoothed(mask, gaussian(8, 47)[:1], 47)
    out = read(tmp_path / "out.fits")
    kept = denominator >= 0.2
    np.testing.assert_array_equal(out[0] != UNSEEN, kept)
    expected = (numerator / denominator)[:, kept]
    assert_close(out[:, kept], expected, rtol=0, atol=10 * rounding(expected))


def test_default_mask_threshold_is_a_tenth(sky, zonal, tmp_path):
    mask = (np.arange(3072) > 1000).astype(float)
    healpy.write_map(tmp_path / "mask.fits", mask)
    zonal("smooth", "sky.fits", "out.fits", *HEALPY, "--fwhm", "8deg", "--mask", "mask.fits", "--mask-mode", "renormalize",
          "--fill-masked")
    kept = smoothed(mask, gaussian(8, 47)[:1], 47) >= 0.1
    np.testing.assert_array_equal(read(tmp_path / "out.fits")[0] != UNSEEN, kept)


def test_mask_of_another_nside_or_outside_0_to_1_is_an_error(sky, fails, tmp_path):
    healpy.write_map(tmp_path / "coarse.fits", np.ones(192))
    healpy.write_map(tmp_path / "two.fits", np.full(3072, 2.0))
    assert "nside 4" in fails(1, "smooth", "sky.fits", "out.fits", "--fwhm", "8deg", "--mask", "coarse.fits")
    assert "from 0 to 1" in fails(1, "smooth", "sky.fits", "out.fits", "--fwhm", "8deg", "--mask", "two.fits")


def test_nan_is_an_error_that_says_how_many_and_where(sky, fails, tmp_path):
    bad = sky[0].copy()
    bad[[17, 300, 3000]] = np.nan
    healpy.write_map(tmp_path / "nan.fits", bad, dtype=np.float64)
    line = fails(1, "smooth", "nan.fits", "out.fits", "--fwhm", "8deg")
    assert "3 pixels are NaN" in line and "pixel 17" in line


def test_alm_files_are_smoothed_too(sky, zonal, tmp_path):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "32")
    zonal("smooth", "alm.fits", "out.fits", "--fwhm", "8deg")
    windows = gaussian(8, 32)
    for hdu, window in zip((1, 2, 3), windows):
        before, after = (healpy.read_alm(tmp_path / name, hdu=hdu) for name in ("alm.fits", "out.fits"))
        assert_close(after, healpy.almxfl(before, window), rtol=1e-14, atol=1e-14)


def test_map_options_are_refused_for_alm(sky, zonal, fails):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "32")
    for options in (["--iter", "2"], ["--nside-out", "8"], ["--field", "0"], ["--fill-masked"]):
        assert "alm" in fails(2, "smooth", "alm.fits", "out.fits", "--fwhm", "8deg", *options)


def test_partial_sky_stays_partial(sky, zonal, tmp_path):
    part = np.full(3072, UNSEEN)
    part[500:2000] = sky[0][500:2000]
    healpy.write_map(tmp_path / "part.fits", part, partial=True, dtype=np.float64)
    zonal("smooth", "part.fits", "out.fits", *HEALPY, "--fwhm", "8deg")
    assert fits.getdata(tmp_path / "out.fits").shape == (1500,)
    healpy.write_map(tmp_path / "full.fits", part, dtype=np.float64)
    zonal("smooth", "full.fits", "full_out.fits", *HEALPY, "--fwhm", "8deg")
    np.testing.assert_array_equal(read(tmp_path / "out.fits"), read(tmp_path / "full_out.fits"))


def test_iau_maps_have_u_negated_in_and_out(sky, zonal, tmp_path):
    healpy.write_map(tmp_path / "iau.fits", [sky[0], sky[1], -sky[2]], dtype=np.float64, extra_header=[("POLCCONV", "IAU")])
    zonal("smooth", "iau.fits", "out.fits", *HEALPY, "--fwhm", "8deg")
    assert header(tmp_path / "out.fits")["POLCCONV"] == "IAU"
    expected = smoothed(sky, gaussian(8, 47), 47) * np.array([[1], [1], [-1]])
    out = np.array([fits.getdata(tmp_path / "out.fits").field(i).ravel() for i in range(3)])
    assert_close(out, expected, rtol=0, atol=rounding(expected))


def test_absent_polcconv_is_said(sky, zonal, tmp_path):
    healpy.write_map(tmp_path / "plain.fits", sky, dtype=np.float64)
    cards = header(tmp_path / "plain.fits")
    notes = zonal("smooth", "plain.fits", "out.fits", *HEALPY, "--fwhm", "8deg")["notes"]
    assert "POLCCONV" in cards or any("COSMO" in note for note in notes)
    notes = zonal("smooth", WMAP, "wmap.fits", *HEALPY, "--fwhm", "8deg")["notes"]
    assert any("POLCCONV" in note and "COSMO" in note for note in notes)


def test_many_columns_such_as_energy_bands(zonal, tmp_path):
    cube = DATA / "fermi" / "fermi_3fhl_counts_cube_hpx.fits.gz"
    report = zonal("smooth", cube, "out.fits", *HEALPY, "--fwhm", "5deg", "--lmax", "64", "--field", "CHANNEL1,CHANNEL3")
    assert [field["name"] for field in report["fields"]] == ["CHANNEL1", "CHANNEL3"]
    counts = np.asarray(fits.getdata(cube)["CHANNEL3"], dtype=float)
    expected = smoothed(counts, gaussian(5, 64)[:1], 64)
    assert_close(read(tmp_path / "out.fits")[1], expected, rtol=0, atol=rounding(expected))


def test_weights_are_computed_once_and_kept_in_the_cache(sky, tmp_path, monkeypatch, zonal):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = zonal("smooth", "sky.fits", "a.fits", *HEALPY, "--fwhm", "8deg", "--weights", "pixel", "--iter", "0")
    second = zonal("smooth", "sky.fits", "b.fits", *HEALPY, "--fwhm", "8deg", "--weights", "pixel", "--iter", "0")
    assert first["weights"].startswith("pixel, computed") and second["weights"].startswith("pixel, from")
    np.testing.assert_array_equal(read(tmp_path / "a.fits"), read(tmp_path / "b.fits"))
    assert [p.name for p in (tmp_path / "cache" / "zonal").iterdir()] == ["healpix_full_weights_nside_0016.fits"]


def test_wmap_mask_renormalized_keeps_what_it_sees(zonal, tmp_path):
    zonal("smooth", WMAP, "out.fits", *HEALPY, "--fwhm", "5deg", "--mask", WMAP_MASK, "--mask-mode", "renormalize")
    out = read(tmp_path / "out.fits")
    mask = healpy.read_map(WMAP_MASK)
    assert (out[0][mask == 0] == UNSEEN).all()
    assert (out[0][mask == 1] != UNSEEN).mean() > 0.99


@pytest.mark.parametrize("form, values", [("L", lambda seen: seen), ("B", lambda seen: seen.astype(np.uint8)),
                                          ("J", lambda seen: seen.astype(np.int32))])
def test_masks_may_be_logical_or_integer_columns(sky, zonal, tmp_path, form, values):
    seen = np.arange(3072) > 1000
    table = fits.BinTableHDU.from_columns([fits.Column(name="MASK", format=form, array=values(seen))])
    table.header.update(PIXTYPE="HEALPIX", ORDERING="RING", NSIDE=16)
    table.writeto(tmp_path / "mask.fits")
    healpy.write_map(tmp_path / "float.fits", seen.astype(float))
    for name in ("mask", "float"):
        zonal("smooth", "sky.fits", f"{name}_out.fits", *HEALPY, "--fwhm", "8deg", "--mask", f"{name}.fits")
    np.testing.assert_array_equal(read(tmp_path / "mask_out.fits"), read(tmp_path / "float_out.fits"))


def test_gzipped_maps_are_read_and_written(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "sky.fits.gz")
    assert (tmp_path / "sky.fits.gz").read_bytes()[:2] == b"\x1f\x8b"
    zonal("smooth", "sky.fits.gz", "out.fits", *HEALPY, "--fwhm", "8deg")
    expected = smoothed(sky, gaussian(8, 47), 47)
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=rounding(expected))


def test_nest_masks_serve_ring_maps(sky, zonal, tmp_path):
    mask = (np.arange(3072) > 1000).astype(float)
    healpy.write_map(tmp_path / "ring.fits", mask)
    healpy.write_map(tmp_path / "nest.fits", healpy.reorder(mask, r2n=True), nest=True)
    for name in ("ring", "nest"):
        zonal("smooth", "sky.fits", f"{name}_out.fits", *HEALPY, "--fwhm", "8deg", "--mask", f"{name}.fits")
    np.testing.assert_array_equal(read(tmp_path / "nest_out.fits"), read(tmp_path / "ring_out.fits"))
