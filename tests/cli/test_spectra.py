"""zonal synfast, anafast, map2alm, alm2map: random skies, spectra, alm files."""

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import DATA, UNSEEN, assert_close, header

PLANCK = DATA / "theory" / "planck2018_lcdm_cl_v3.fits"
F90_NAMES = ["TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G", "T-G", "T-C", "G-C"]


def read(path):
    return np.atleast_2d(healpy.read_map(path, field=None, dtype=np.float64))


def read_cl(path):
    data = fits.getdata(path)
    return np.array([np.asarray(data.field(i), dtype=float) for i in range(len(data.names))]), data.names


def write_text_cl(path, **spectra):
    columns = list(spectra)
    rows = np.column_stack([np.arange(len(spectra[columns[0]])), *spectra.values()])
    np.savetxt(path, rows, header="l " + " ".join(columns), fmt="%.17g")


# --- synfast


def test_same_seed_gives_the_same_sky_for_any_threads(zonal, tmp_path):
    for i, threads in enumerate((1, 4)):
        zonal("synfast", PLANCK, f"{i}.fits", "--nside", "16", "--seed", "7", "--threads", threads, "--precision", "double")
    np.testing.assert_array_equal(read(tmp_path / "0.fits"), read(tmp_path / "1.fits"))
    zonal("synfast", PLANCK, "2.fits", "--nside", "16", "--seed", "8")
    assert np.abs(read(tmp_path / "2.fits") - read(tmp_path / "1.fits")).max() > 1


def test_same_seed_gives_the_same_low_degrees_for_any_lmax_and_nside(zonal, tmp_path):
    zonal("synfast", PLANCK, "a.fits", "--nside", "16", "--lmax", "20", "--seed", "7", "--alm-out", "a_alm.fits",
          "--precision", "double")
    zonal("synfast", PLANCK, "b.fits", "--nside", "32", "--lmax", "60", "--seed", "7", "--alm-out", "b_alm.fits",
          "--precision", "double")
    for hdu in (1, 2, 3):
        a, b = (healpy.read_alm(tmp_path / f"{n}_alm.fits", hdu=hdu) for n in "ab")
        # The files keep alm in the precision of C_l, float32 here.
        np.testing.assert_array_equal(a, healpy.resize_alm(b, 60, 60, 20, 20))


def test_drawn_seed_is_reported_and_written_and_repeats_the_sky(zonal, tmp_path):
    report = zonal("synfast", PLANCK, "a.fits", "--nside", "8")
    assert header(tmp_path / "a.fits")["SEED"] == report["seed"]
    assert zonal("synfast", PLANCK, "c.fits", "--nside", "8")["seed"] != report["seed"]
    zonal("synfast", PLANCK, "b.fits", "--nside", "8", "--seed", report["seed"])
    np.testing.assert_array_equal(read(tmp_path / "a.fits"), read(tmp_path / "b.fits"))


def test_sky_has_the_spectra_asked_for(zonal, tmp_path):
    zonal("synfast", PLANCK, "a.fits", "--nside", "128", "--lmax", "256", "--seed", "3", "--precision", "double")
    found = np.array(healpy.anafast(read(tmp_path / "a.fits"), lmax=256, iter=3))
    theory, names = read_cl(PLANCK)
    l = np.arange(30, 257)
    for index in (0, 1, 3):  # TT, EE, TE
        expected = theory[index][30:257]
        ratio = np.sum((2 * l + 1) * found[index][30:]) / np.sum((2 * l + 1) * expected)
        # Sample variance of the sum over 65,000 modes is about 1 %; TE's sum cancels in part.
        assert abs(ratio - 1) < (0.3 if index == 3 else 0.06), index


def test_te_is_between_t_and_e(zonal, tmp_path):
    ones = np.ones(33)
    ones[:2] = 0
    write_text_cl(tmp_path / "cl.txt", TT=ones, EE=ones, BB=0 * ones, TE=ones)
    zonal("synfast", "cl.txt", "a.fits", "--nside", "16", "--lmax", "32", "--alm-out", "alm.fits", "--seed", "1",
          "--precision", "double")
    t, e = (healpy.read_alm(tmp_path / "alm.fits", hdu=h) for h in (1, 2))
    assert_close(t, e, atol=1e-6)  # fully correlated: E = T


@pytest.mark.parametrize("options, creator, is_eb", [([], None, False), ([], "healpy", True),
                                                     (["--cl-order", "healpy"], None, True),
                                                     (["--cl-order", "f90"], "healpy", False)])
def test_c_t_and_c_g_mean_what_the_creator_says(zonal, tmp_path, options, creator, is_eb):
    l = np.arange(33)
    one, zero = np.where(l >= 2, 1.0, 0.0), np.zeros(33)
    # healpy's order: TT EE BB TE EB TB under the same names as F90's TT EE BB TE TB EB
    columns = [fits.Column(name=n, format="D", array=a)
               for n, a in zip(F90_NAMES[:6], (one, one, one, zero, 0.9 * one, zero))]
    table = fits.BinTableHDU.from_columns(columns)
    if creator:
        table.header["CREATOR"] = creator
    table.writeto(tmp_path / "cl.fits")
    zonal("synfast", "cl.fits", "a.fits", "--nside", "16", "--lmax", "32", "--alm-out", "alm.fits", "--seed", "1", *options)
    t, e, b = (healpy.read_alm(tmp_path / "alm.fits", hdu=h) for h in (1, 2, 3))
    correlation = lambda x, y: np.sum(healpy.alm2cl(x, y)[2:]) / np.sqrt(
        np.sum(healpy.alm2cl(x)[2:]) * np.sum(healpy.alm2cl(y)[2:]))
    # 33^2 modes: correlations scatter by 0.1 or so
    assert abs(correlation(e, b) - (0.9 if is_eb else 0)) < 0.25
    assert abs(correlation(t, b) - (0 if is_eb else 0.9)) < 0.25


def test_spectra_that_are_not_positive_are_an_error_that_names_l(fails, tmp_path):
    ones = np.ones(33)
    te = np.zeros(33)
    te[11] = 2
    write_text_cl(tmp_path / "cl.txt", TT=ones, EE=ones, BB=ones, TE=te)
    line = fails(1, "synfast", "cl.txt", "a.fits", "--nside", "8", "--seed", "1")
    assert "cl.txt" in line and "11" in line


def test_text_spectra_need_named_columns(fails, tmp_path):
    np.savetxt(tmp_path / "cl.txt", np.column_stack([np.arange(33), np.ones(33), np.ones(33), np.ones(33)]))
    assert "cl.txt" in fails(1, "synfast", "cl.txt", "a.fits", "--nside", "8", "--seed", "1")


def test_dl_only_with_the_option(zonal, tmp_path):
    l = np.arange(33)
    cl = np.where(l >= 2, 1.0, 0.0)
    write_text_cl(tmp_path / "cl.txt", TT=cl)
    write_text_cl(tmp_path / "dl.txt", TT=cl * l * (l + 1) / (2 * np.pi))
    for name, options in (("cl.txt", []), ("dl.txt", ["--dl"])):
        zonal("synfast", name, name + ".fits", "--nside", "8", "--seed", "1", *options)
    # Both are rounded to the same double but for the last bits.
    assert_close(read(tmp_path / "cl.txt.fits"), read(tmp_path / "dl.txt.fits"), rtol=1e-12, atol=1e-12)


def test_short_spectra_are_an_error_without_extend(fails, zonal, tmp_path):
    write_text_cl(tmp_path / "cl.txt", TT=1 / np.arange(1.0, 21) ** 2)
    line = fails(2, "synfast", "cl.txt", "a.fits", "--nside", "8", "--seed", "1")
    assert "19" in line and "23" in line and "--extend" in line
    for extension in ("zero", "powerlaw"):
        zonal("synfast", "cl.txt", f"{extension}.fits", "--nside", "8", "--seed", "1", "--extend", extension,
              "--alm-out", f"{extension}_alm.fits")
    zero, power = (healpy.alm2cl(healpy.read_alm(tmp_path / f"{n}_alm.fits")) for n in ("zero", "powerlaw"))
    assert (zero[20:] == 0).all() and (power[20:] > 0).all()


def test_beam_and_pixel_window_multiply_the_alm(zonal, tmp_path):
    window = DATA / "healpix" / "pixel_window_n0016.fits"
    common = ("--nside", "16", "--lmax", "32", "--seed", "1", "--precision", "double")
    zonal("synfast", PLANCK, "a.fits", *common, "--alm-out", "plain.fits")
    zonal("synfast", PLANCK, "b.fits", *common, "--alm-out", "beamed.fits", "--fwhm", "5deg", "--pixwin", window)
    sigma = np.radians(5) / np.sqrt(8 * np.log(2))
    l = np.arange(33)
    for hdu, s, column in ((1, 0, "TEMPERATURE"), (2, 2, "POLARIZATION")):
        plain, beamed = (healpy.read_alm(tmp_path / n, hdu=hdu) for n in ("plain.fits", "beamed.fits"))
        factor = np.exp(-(l * (l + 1) - s * s) * sigma**2 / 2) * fits.getdata(window)[column][:33]
        # alm files carry float32 here (as the C_l): 6e-8 each
        assert_close(beamed, healpy.almxfl(plain, factor), rtol=3e-7, atol=1e-7 * np.abs(plain).max())


def test_units_of_map_and_spectrum_follow_each_other(zonal, tmp_path):
    zonal("synfast", PLANCK, "a.fits", "--nside", "8", "--seed", "1")
    unit = header(tmp_path / "a.fits")["TUNIT1"]
    zonal("anafast", "a.fits", "cl.fits")
    assert unit and header(tmp_path / "cl.fits")["TUNIT1"] in (unit + "^2", f"({unit})^2")


# --- anafast


def test_anafast_agrees_with_healpy_and_has_f90_names(sky, zonal, tmp_path):
    zonal("anafast", "sky.fits", "cl.fits", "--lmax", "40")
    found, names = read_cl(tmp_path / "cl.fits")
    assert names == F90_NAMES[:6]
    tt, ee, bb, te, eb, tb = healpy.anafast(sky, lmax=40, iter=3)
    for name, a, b in zip(names, found, (tt, ee, bb, te, tb, eb)):
        assert_close(a, b, rtol=0, atol=1e-11 * np.abs(found).max(), err_msg=name)


def test_two_maps_give_nine_spectra(sky, zonal, tmp_path):
    other = np.roll(sky, 1, axis=0) + 0.3 * np.array(sky)
    healpy.write_map(tmp_path / "other.fits", other, dtype=np.float64, coord="G")
    zonal("anafast", "sky.fits", "other.fits", "cl.fits", "--lmax", "40")
    found, names = read_cl(tmp_path / "cl.fits")
    assert names == F90_NAMES
    first, second = (healpy.map2alm(m, lmax=40, iter=3) for m in (sky, other))
    pairs = ["TT", "EE", "BB", "TE", "TB", "EB", "ET", "BT", "BE"]
    for row, pair in zip(found, pairs):
        x, y = ("TEB".index(c) for c in pair)
        assert_close(row, healpy.alm2cl(first[x], second[y]), rtol=0, atol=1e-11 * np.abs(found).max(),
                     err_msg=pair)


def test_anafast_is_readable_by_healpy(sky, zonal, tmp_path):
    zonal("anafast", "sky.fits", "cl.fits", "--lmax", "40")
    np.testing.assert_array_equal(healpy.read_cl(tmp_path / "cl.fits")[:4], read_cl(tmp_path / "cl.fits")[0][:4])


def test_f_sky_is_reported_and_not_divided_out(sky, zonal, tmp_path):
    mask = (np.arange(3072) >= 768).astype(float)
    healpy.write_map(tmp_path / "mask.fits", mask)
    report = zonal("anafast", "sky.fits", "cl.fits", "--lmax", "40", "--mask", "mask.fits")
    assert report["f_sky"][0]["used"] == pytest.approx(0.75, rel=0, abs=16 * np.finfo(float).eps)
    expected = healpy.anafast(np.array(sky) * mask, lmax=40, iter=3)
    found, _ = read_cl(tmp_path / "cl.fits")
    assert_close(found[:4], expected[:4], rtol=0, atol=1e-11 * np.abs(found).max())


def test_unseen_pixels_count_as_zero(sky, zonal, tmp_path):
    holes = sky[0].copy()
    holes[100:500] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", holes, dtype=np.float64)
    zonal("anafast", "holes.fits", "cl.fits", "--lmax", "40")
    expected = healpy.anafast(np.where(holes == UNSEEN, 0, holes), lmax=40, iter=3)
    assert_close(read_cl(tmp_path / "cl.fits")[0][0], expected, rtol=0, atol=1e-11 * expected.max())


@pytest.mark.parametrize("option, remove", [("--remove-monopole", healpy.remove_monopole), ("--remove-dipole", healpy.remove_dipole)])
def test_monopole_and_dipole_are_fitted_to_i_outside_the_mask(sky, zonal, tmp_path, option, remove):
    mask = (np.arange(3072) >= 768).astype(float)
    x, y, z = healpy.pix2vec(16, np.arange(3072))
    bright = sky[0] + 100 + 30 * x - 20 * z
    bright[mask == 0] += 1000  # must not count
    healpy.write_map(tmp_path / "mask.fits", mask)
    healpy.write_map(tmp_path / "bright.fits", bright, dtype=np.float64)
    report = zonal("anafast", "bright.fits", "cl.fits", "--lmax", "40", "--mask", "mask.fits", option)
    cleaned = remove(np.where(mask == 0, UNSEEN, bright), copy=True)
    expected = healpy.anafast(np.where(mask == 0, 0, cleaned), lmax=40, iter=3)
    assert_close(read_cl(tmp_path / "cl.fits")[0][0], expected, rtol=0, atol=1e-10 * expected.max())
    assert abs(report["removed_monopole"] - 100) < 3 + 30


def test_several_scalar_columns_need_a_choice(sky, fails, tmp_path):
    healpy.write_map(tmp_path / "two.fits", sky[:2], column_names=["A", "B"], dtype=np.float64)
    assert "--field" in fails(2, "anafast", "two.fits", "cl.fits")
    assert "--field" in fails(2, "map2alm", "two.fits", "alm.fits")


def test_maps_in_different_coordinates_are_refused(sky, fails, tmp_path):
    healpy.write_map(tmp_path / "other.fits", sky, dtype=np.float64, coord="E")
    assert "ecliptic" in fails(1, "anafast", "sky.fits", "other.fits", "cl.fits")


# --- alm


def test_map2alm_agrees_with_healpy(sky, zonal, tmp_path):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "40", "--mmax", "30")
    expected = healpy.map2alm(sky, lmax=40, mmax=30, iter=3)
    for hdu in (1, 2, 3):
        alm, mmax = healpy.read_alm(tmp_path / "alm.fits", hdu=hdu, return_mmax=True)
        assert mmax == 30
        assert_close(alm, expected[hdu - 1], rtol=0, atol=1e-11 * np.abs(expected).max())


def test_alm_files_have_the_healpix_index(sky, zonal, tmp_path):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "10")
    with fits.open(tmp_path / "alm.fits") as hdus:
        assert len(hdus) == 4
        for hdu in hdus[1:]:
            l, m = healpy.Alm.getlm(10)
            np.testing.assert_array_equal(np.sort(hdu.data.field(0)), np.sort(l * l + l + m + 1))
            assert hdu.header["MAX-LPOL"] == hdu.header["MAX-MPOL"] == 10


def test_tolerance_inverts_the_synthesis(sky, zonal, tmp_path):
    report = zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "32", "--tolerance", "1e-12")
    assert report["residual"] <= 1e-12 and report["converged"]
    zonal("alm2map", "alm.fits", "back.fits", "--nside", "16")
    assert_close(read(tmp_path / "back.fits"), sky, rtol=0, atol=1e-9 * np.abs(sky).max())


def test_alm2map_agrees_with_healpy(sky, zonal, tmp_path):
    alm = healpy.map2alm(sky, lmax=20)
    healpy.write_alm(tmp_path / "alm.fits", alm, out_dtype=np.float64)
    zonal("alm2map", "alm.fits", "out.fits", "--nside", "8")
    expected = healpy.alm2map(alm, 8, lmax=20)
    assert_close(read(tmp_path / "out.fits"), expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    zonal("alm2map", "alm.fits", "nest.fits", "--nside", "8", "--order", "nest")
    assert header(tmp_path / "nest.fits")["ORDERING"] == "NESTED"
    assert_close(read(tmp_path / "nest.fits"), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_alm2map_beyond_the_file_is_an_error(sky, fails, tmp_path):
    healpy.write_alm(tmp_path / "alm.fits", healpy.map2alm(sky, lmax=20))
    assert "20" in fails(2, "alm2map", "alm.fits", "out.fits", "--nside", "8", "--lmax", "21")


def test_car_map_round_trip(sky, zonal, tmp_path):
    zonal("map2alm", "sky.fits", "alm.fits", "--lmax", "32", "--tolerance", "1e-12")
    zonal("alm2map", "alm.fits", "car.fits", "--car", "70x140")
    assert fits.getdata(tmp_path / "car.fits", 0).shape[-2:] == (70, 140)
    zonal("map2alm", "car.fits", "back.fits", "--lmax", "32", "--iter", "0")
    for hdu in (1, 2, 3):
        a, b = (healpy.read_alm(tmp_path / n, hdu=hdu) for n in ("alm.fits", "back.fits"))
        # Fejer's rule for 70 rings is exact for the product of two fields up to l = 32.
        assert_close(b, a, rtol=0, atol=1e-11 * np.abs(a).max())
