"""How maps are read whose headers say it in other words: what is I, Q, U, in which order, coordinates and convention."""

import numpy as np
import pytest
from astropy.io import fits

from conftest import UNSEEN, call

NSIDE = 2
N_PIXELS = 12 * NSIDE * NSIDE


def write_table(path, names, keys=(), primary=(), values=None, hdus=None):
    """hdus: an extension for each name, of this name and one column SIGNAL (or the extension's name); else one of all."""
    values = np.arange(1.0, len(names) * N_PIXELS + 1).reshape(len(names), N_PIXELS) if values is None else values
    groups = [(names, values, "")] if hdus is None else [
        ([name if hdus == "named" else "SIGNAL"], [row], name) for name, row in zip(names, values)]
    file = [fits.PrimaryHDU()]
    file[0].header.update(dict(primary))
    for columns, rows, extension in groups:
        table = fits.BinTableHDU.from_columns([fits.Column(name, "D", array=row) for name, row in zip(columns, rows)],
                                              name=extension or None)
        table.header.update({"PIXTYPE": "HEALPIX", "NSIDE": NSIDE, "ORDERING": "RING", "INDXSCHM": "IMPLICIT"})
        for key, value in dict(keys).items():
            if value is None:
                del table.header[key]
            else:
                table.header[key] = value
        file.append(table)
    fits.HDUList(file).writeto(path)


IQU, SCALARS = "I, Q, U", None
IAU, COSMO = {"POLCCONV": "IAU"}, {"POLCCONV": "COSMO"}
NAMED = "names do not say|look like Q and U"
# names, keys, how it is read (None: every column by its own name), what a note says
POLARIZATION = [
    (["I_MEAN", "Q_MEAN", "U_MEAN"], {}, IQU, "no POLCCONV"),
    (["I_MEAN", "Q_MEAN", "U_MEAN"], IAU, IQU, ""),
    (["I_MEAN", "Q_MEAN", "U_MEAN"], {"POLAR": True, **IAU}, IQU, ""),
    (["I_MEAN", "Q_MEAN", "U_MEAN"], {"POLAR": False, **IAU}, IQU, "POLAR = F"),
    (["DUST_I", "DUST_Q", "DUST_U"], COSMO, IQU, ""),
    (["I_DUST", "Q_DUST", "U_DUST"], COSMO, IQU, ""),
    (["TQU_T", "TQU_Q", "TQU_U"], COSMO, IQU, ""),
    (["TEMPERATURE", "POLARIZATION_Q", "POLARIZATION_U"], COSMO, IQU, ""),
    (["I_INTENSITY", "Q_INTENSITY", "U_INTENSITY"], COSMO, IQU, ""),
    (["Stokes I", "Stokes Q", "Stokes U"], COSMO, IQU, ""),
    (["IMAP", "QMAP", "UMAP"], COSMO, IQU, ""),
    (["IPOL", "QPOL", "UPOL"], COSMO, IQU, ""),
    (["I_CMB", "Q_CMB", "U_CMB"], COSMO, IQU, ""),
    (["I_ML_FULL", "Q_ML_FULL", "U_ML_FULL"], COSMO, IQU, ""),
    (["I_STOKES", "Q_STOKES", "U_STOKES"], COSMO, IQU, ""),
    (["I", "Q", "U"], {"POLAR": ".true.", **COSMO}, IQU, ""),
    (["I", "Q", "U"], {"POLAR": "T", **COSMO}, IQU, ""),
    (["I", "Q", "U"], {"POLAR": "TRUE", **COSMO}, IQU, ""),
    (["I", "Q", "U"], {"POLAR": ".false.", **COSMO}, IQU, "POLAR = F"),
    (["I_Stokes"], {"POLAR": ".false.", **COSMO}, SCALARS, ""),
    (["U_MEAN", "I_MEAN", "Q_MEAN"], COSMO, "U, I, Q", ""),
    (["Q_X", "U_X"], COSMO, "Q, U", ""),
    (["DUST", "DUST_Q", "DUST_U"], COSMO, "DUST, Q, U", ""),
    (["A", "B", "C"], {}, SCALARS, ""),
    (["A", "B", "C"], {"POLAR": True, **COSMO}, IQU, "POLAR = T: columns 'A', 'B', 'C' taken as I, Q, U"),
    (["A", "B", "C"], {"POLAR": "T", **COSMO}, IQU, "POLAR = T: columns"),
    (["I_MEAN", "I_RMS", "Q_MEAN"], {"POLAR": True}, "I_MEAN, Q_MEAN", "names do not say"),
    (["C", "U_A", "Q_B"], {"POLAR": True}, SCALARS, "names do not say"),
    (["I_A", "Q_A", "U_B"], {}, SCALARS, "look like Q and U"),
    (["Q_A", "U_A", "Q_B", "U_B"], {}, SCALARS, "look like Q and U"),
    (["Q_U", "T_U", "T_Q"], {}, SCALARS, ""),
    (["K_BAND", "Q_BAND", "V_BAND"], {}, SCALARS, ""),
    (["PROB", "DISTMU", "DISTSIGMA"], {}, SCALARS, ""),
]
PIXELS = [
    ({"ORDERING": "NESTED"}, {}, "nside 2, nest", ""),
    ({"ORDERING": "NEST"}, {}, "nside 2, nest", ""),
    ({"ORDERING": "nested"}, {}, "nside 2, nest", ""),
    ({"ORDERING": None}, {}, "nside 2, ring", "no ORDERING"),
    ({"ORDERING": None}, {"ORDERING": "NESTED"}, "nside 2, nest", ""),
    ({"ORDERING": None, "HPXNEST": True}, {}, "nside 2, nest", ""),
    ({"ORDERING": None, "HPXNEST": False}, {}, "nside 2, ring", ""),
    ({"NSIDE": None}, {"NSIDE": 2}, "nside 2, ring", ""),
    ({"NSIDE": None, "HPXNSIDE": 2}, {}, "nside 2, ring", ""),
    ({"NSIDE": None}, {}, "nside 2, ring", "no NSIDE"),
    ({"NSIDE": 2.0}, {}, "nside 2, ring", ""),
    ({"NSIDE": "2"}, {}, "nside 2, ring", ""),
    ({"NSIDE": "2.0"}, {}, "nside 2, ring", ""),
    ({"COORDSYS": "G"}, {}, "galactic", ""),
    ({"COORDSYS": "GALACTIC"}, {}, "galactic", ""),
    ({"COORDSYS": "ICRS"}, {}, "equatorial", ""),
    ({"COORDSYS": "FK5"}, {}, "equatorial", ""),
    ({"COORDSYS": "J2000"}, {}, "equatorial", ""),
    ({"COORDSYS": "E"}, {}, "ecliptic", ""),
    ({"COORDSYS": "SUPERGALACTIC"}, {}, "unknown coordinates", "zonal convert --set-coordsys names them"),
    ({}, {"COORDSYS": "C"}, "equatorial", ""),
    ({"INDXSCHM": "IMPLICIT", "OBJECT": "PARTIAL"}, {}, "nside 2, ring", ""),
    ({"BAD_DATA": "NaN"}, {}, "nside 2, ring", ""),
    ({"BAD_DATA": "-1.6375E+30"}, {}, "nside 2, ring", ""),
]


def described(path):
    result = call("info", path, "--json")
    assert result.code == 0, result.err
    assert result.err == ""
    return result.report["reads_as"], " ".join(result.report.get("notes", []))


def require_note(notes, wanted):
    if wanted:
        assert wanted in notes
    else:
        assert notes == ""


@pytest.mark.parametrize("names, keys, expected, note", POLARIZATION)
def test_names_then_keys_decide_what_is_polarized(names, keys, expected, note, tmp_path):
    write_table(tmp_path / "map.fits", names, keys)
    reading, notes = described(tmp_path / "map.fits")
    expected = ", ".join(names) if expected is None else expected
    assert reading.startswith(f"{expected} (IAU)" if "IAU" in keys.values() and "Q" in expected.split(", ") else expected)
    require_note(notes, note)


@pytest.mark.parametrize("keys, primary, expected, note", PIXELS)
def test_keys_of_pixels_are_read_as_what_they_can_only_mean(keys, primary, expected, note, tmp_path):
    write_table(tmp_path / "map.fits", ["SIGNAL"], keys, primary)
    reading, notes = described(tmp_path / "map.fits")
    assert expected in reading
    require_note(notes, note)


@pytest.mark.parametrize("keys, message", [
    ({"ORDERING": "SPIRAL"}, "must be RING or NESTED, unless you say which it is (ordering_if_absent, --order-if-absent)"),
    ({"NSIDE": 2.5}, "must be an integer"), ({"NSIDE": "two"}, "must be an integer"),
    ({"POLAR": "perhaps"}, "must be T or F"), ({"BAD_DATA": "none"}, "must be a number"),
    ({"INDXSCHM": "SPARSE"}, "must be IMPLICIT or EXPLICIT"),
    ({"INDXSCHM": "EXPLICIT", "OBJECT": "FULLSKY"}, "there is no column of pixel numbers")])
def test_other_values_are_errors(keys, message, tmp_path):
    write_table(tmp_path / "map.fits", ["SIGNAL"], keys)
    result = call("convert", "map.fits", "out.fits", cwd=tmp_path)
    assert result.code == 1
    assert message in result.err
    assert not (tmp_path / "out.fits").exists()


def test_a_column_of_numbers_settles_what_scheme_and_object_leave_open(tmp_path):
    names, values = ["PIXEL", "SIGNAL"], np.array([np.arange(N_PIXELS)[::-1], np.arange(N_PIXELS)], float)
    write_table(tmp_path / "full.fits", names, {"INDXSCHM": "EXPLICIT", "OBJECT": "FULLSKY"}, values=values)
    assert call("convert", "full.fits", "out.fits", cwd=tmp_path).code == 0
    assert np.array_equal(fits.getdata(tmp_path / "out.fits", 1).field(0).ravel(), values[1][::-1])
    write_table(tmp_path / "part.fits", names, {"INDXSCHM": "IMPLICIT", "OBJECT": "PARTIAL"}, values=values)
    result = call("convert", "part.fits", "out.fits", "--overwrite", cwd=tmp_path)
    assert result.code == 1
    assert "and there is a column of pixel numbers" in result.err


def test_an_option_stands_for_an_order_that_cannot_be_read(tmp_path):
    write_table(tmp_path / "map.fits", ["SIGNAL"], {"ORDERING": "SPIRAL"})
    assert call("convert", "map.fits", "out.fits", "--order-if-absent", "nest", cwd=tmp_path).code == 0
    assert fits.getheader(tmp_path / "out.fits", 1)["ORDERING"] == "NESTED"


@pytest.mark.parametrize("hdus", ["named", "signal"])
def test_three_extensions_make_one_map(hdus, tmp_path):
    names = ["TEMPERATURE", "Q-POLARISATION", "U-POLARISATION"]
    write_table(tmp_path / "map.fits", names, {"COORDSYS": "G", **COSMO}, hdus=hdus)
    assert described(tmp_path / "map.fits") == ("I, Q, U (COSMO), nside 2, ring, galactic, no unit", "")
    assert call("convert", "map.fits", "out.fits", "--order", "ring", cwd=tmp_path).code == 0
    table = fits.getdata(tmp_path / "out.fits", 1)
    for i, name in enumerate(table.names):
        assert np.array_equal(np.ravel(table[name]), np.arange(i * N_PIXELS, (i + 1) * N_PIXELS) + 1)
    assert table.names == (names if hdus == "named" else ["SIGNAL", *names[1:]])
    result = call("convert", "map.fits", "q.fits", "--hdu", "Q-POLARISATION", "--no-pol", cwd=tmp_path)
    assert result.code == 0, result.err


def test_extensions_that_are_left_out_are_named(tmp_path):
    write_table(tmp_path / "map.fits", ["FIRST", "SECOND"], hdus="named")
    reading, notes = described(tmp_path / "map.fits")
    assert reading.startswith("FIRST, nside 2")
    assert "HDU 2 'SECOND': they hold maps, too, which --hdu (hdu=) reads" in notes


def test_extensions_of_other_pixels_are_no_one_map(tmp_path):
    write_table(tmp_path / "map.fits", ["Q", "U"], hdus="named")
    with fits.open(tmp_path / "map.fits", mode="update") as file:
        file[2].header["ORDERING"] = "NESTED"
    result = call("convert", "map.fits", "out.fits", cwd=tmp_path)
    assert result.code == 1
    assert "have other pixels or coordinates; --hdu (hdu=) reads one" in result.err


def test_polcconv_is_carried_through_whatever_the_columns_are_called(tmp_path):
    write_table(tmp_path / "map.fits", ["A", "B"], IAU)
    assert call("convert", "map.fits", "out.fits", cwd=tmp_path).code == 0
    assert fits.getheader(tmp_path / "out.fits", 1)["POLCCONV"] == "IAU"
    assert np.array_equal(np.ravel(fits.getdata(tmp_path / "out.fits", 1)["B"]), np.arange(N_PIXELS) + N_PIXELS + 1.0)


def test_names_are_kept_where_they_tell_what_the_columns_are(tmp_path):
    names = ["I_MEAN", "Q_MEAN", "U_MEAN"]
    write_table(tmp_path / "map.fits", names, IAU)
    assert call("convert", "map.fits", "out.fits", "--order", "nest", cwd=tmp_path).code == 0
    assert fits.getdata(tmp_path / "out.fits", 1).names == names
    assert described(tmp_path / "out.fits")[0].startswith("I, Q, U (IAU), nside 2, nest")


def test_infinite_pixels_are_passed_on_but_not_smoothed(tmp_path):
    values = np.ones((2, N_PIXELS))
    values[1, 5] = np.inf
    write_table(tmp_path / "map.fits", ["PROB", "DISTMU"], values=values)
    assert call("convert", "map.fits", "out.fits", "--order", "ring", cwd=tmp_path).code == 0
    assert np.isinf(np.ravel(fits.getdata(tmp_path / "out.fits", 1)["DISTMU"])[5])
    result = call("smooth", "map.fits", "smooth.fits", "--fwhm", "60deg", cwd=tmp_path)
    assert result.code == 1
    assert "column DISTMU: 1 pixels are infinite, the first is pixel 5" in result.err


def test_nan_is_unseen_where_the_header_says_so(tmp_path):
    values = np.ones((1, N_PIXELS))
    values[0, 7] = np.nan
    write_table(tmp_path / "map.fits", ["SIGNAL"], {"BAD_DATA": "NaN"}, values=values)
    assert call("convert", "map.fits", "out.fits", cwd=tmp_path).code == 0
    assert np.ravel(fits.getdata(tmp_path / "out.fits", 1)["SIGNAL"])[7] == UNSEEN


def test_pixel_numbers_may_be_floats_and_padding(tmp_path):
    table = fits.BinTableHDU.from_columns([fits.Column("PIXEL", "D", array=[4.0, -1, 7, -1]),
                                           fits.Column("SIGNAL", "D", array=[1.0, 2, 3, 4])])
    table.header.update({"PIXTYPE": "HEALPIX", "NSIDE": NSIDE, "ORDERING": "RING", "INDXSCHM": "EXPLICIT"})
    table.writeto(tmp_path / "map.fits")
    reading, notes = described(tmp_path / "map.fits")
    assert "2 pixels of the sky" in reading
    assert "2 rows of pixel number -1 left out" in notes
    assert call("convert", "map.fits", "out.fits", "--full", cwd=tmp_path).code == 0
    values = np.ravel(fits.getdata(tmp_path / "out.fits", 1)["SIGNAL"])
    assert (values[4], values[7], values[5]) == (1, 3, UNSEEN)
    table.data["PIXEL"][0] = 4.5
    table.writeto(tmp_path / "wrong.fits")
    assert "pixel number 4.5: must be a whole number" in call("info", "wrong.fits", cwd=tmp_path).err


def test_planes_of_an_image_are_scalars_unless_said_otherwise(tmp_path):
    image = fits.PrimaryHDU(np.arange(3 * 8 * 16.0).reshape(3, 8, 16))
    image.header.update({"CTYPE1": "RA---CAR", "CTYPE2": "DEC--CAR", "CDELT1": -22.5, "CDELT2": 22.5, "CRPIX1": 8.5,
                         "CRPIX2": 4.5, "CRVAL1": 0.0, "CRVAL2": 0.0})
    image.writeto(tmp_path / "map.fits")
    reading, notes = described(tmp_path / "map.fits")
    assert reading.startswith("PLANE0, PLANE1, PLANE2, CAR, 8 rings of 16 pixels, equatorial")
    assert "--pol (pol=True) takes them as I, Q, U" in notes


def test_the_mask_may_be_any_column(tmp_path):
    values = np.zeros((2, N_PIXELS))
    values[1, :30] = 1
    write_table(tmp_path / "mask.fits", ["TEMPERATURE", "N_OBS"], values=values)
    write_table(tmp_path / "map.fits", ["SIGNAL"])
    common = ("anafast", "map.fits", "cl.fits", "--mask", "mask.fits", "--lmax", "3", "--json")
    result = call(*common, cwd=tmp_path)
    assert result.code == 1
    assert "column 'TEMPERATURE' is 0 in all pixels of the map, which leaves none; --mask-field (field) takes another" in result.err
    for field in ("N_OBS", "1"):
        result = call(*common, "--mask-field", field, "--overwrite", cwd=tmp_path)
        assert result.code == 0, result.err
        assert result.report["f_sky"][0]["used"] == pytest.approx(30 / 48)
    result = call("anafast", "map.fits", "other.fits", "--mask-field", "1", cwd=tmp_path)
    assert result.code == 2
    assert "--mask-field: needs --mask" in result.err
