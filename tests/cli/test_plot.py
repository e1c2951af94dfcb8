"""zonal plot: titles, coordinates, theory curves, and the Python that draws. Pictures are compared with pictures: equal ones have
equal bytes."""

import os
import shutil
import sys

import healpy
import numpy as np
import pytest

from conftest import DATA, UNSEEN, ZONAL, call

PLANCK = DATA / "theory" / "planck2018_lcdm_cl_v3.fits"


@pytest.fixture
def drawn(zonal, tmp_path):
    """Draws and returns the picture's bytes."""

    def draw(*arguments):
        zonal("plot", *arguments, "picture.png", "--width", "400", "--overwrite")
        return (tmp_path / "picture.png").read_bytes()

    return draw


def test_title_is_by_default_that_of_file_and_column(sky, drawn):
    default = drawn("sky.fits")
    assert default == drawn("sky.fits", "--title", "sky.fits: TEMPERATURE")
    assert default != drawn("sky.fits", "--no-title")
    assert drawn("sky.fits", "--field", "Q") == drawn("sky.fits", "--field", "1", "--title", "sky.fits: Q_POLARISATION")


def test_title_of_spectra_is_by_default_the_files_name(drawn):
    assert drawn(PLANCK) == drawn(PLANCK, "--title", PLANCK.name)


def test_title_and_no_title_exclude_each_other(sky, fails):
    line = fails(2, "plot", "sky.fits", "out.png", "--title", "a", "--no-title")
    assert "--title" in line and "--no-title" in line


@pytest.mark.parametrize("options", [[], ["--projection", "gnomonic"]])
def test_coordinates_are_named_only_when_known(sky, drawn, zonal, options):
    zonal("convert", "sky.fits", "unknown.fits", "--set-coordsys", "unknown")
    zonal("convert", "sky.fits", "ecliptic.fits", "--set-coordsys", "E")
    pictures = {drawn(name, "--title", "a", *options) for name in ("sky.fits", "unknown.fits", "ecliptic.fits")}
    assert len(pictures) == 3
    assert zonal("plot", "unknown.fits", "a.png")["coordinates"] == "unknown"
    assert zonal("plot", "sky.fits", "b.png")["coordinates"] == "galactic"


@pytest.fixture
def cl(sky, zonal):
    """cl.fits: TT, EE, BB, TE, TB, EB in uK^2."""
    zonal("anafast", "sky.fits", "cl.fits", "--lmax", "40")


def test_theory_is_drawn_beside_the_spectra(cl, drawn, zonal):
    plain = drawn("cl.fits", "--title", "a")
    assert drawn("cl.fits", "--title", "a", "--theory", PLANCK) != plain
    assert zonal("plot", "cl.fits", "b.png", "--theory", PLANCK)["theory"] == str(PLANCK)
    assert drawn("cl.fits", "--theory", PLANCK) == drawn("cl.fits", "--theory", PLANCK, "--title",
                                                         f"cl.fits (points), {PLANCK.name} (lines)")


def test_theory_may_be_d_l(cl, drawn, tmp_path):
    l = np.arange(2, 41)
    c_l = 7.0 / l
    np.savetxt(tmp_path / "c.txt", np.transpose([l, c_l]), header="l TT")
    np.savetxt(tmp_path / "d.txt", np.transpose([l, l * (l + 1) * c_l / (2 * np.pi)]), header="l TT")
    common = ("cl.fits", "--title", "a", "--theory")
    assert drawn(*common, "c.txt") == drawn(*common, "d.txt", "--theory-dl")
    assert drawn(*common, "c.txt") != drawn(*common, "d.txt")


def test_theory_must_share_a_spectrum_and_the_unit(cl, fails, tmp_path):
    (tmp_path / "bb.txt").write_text("# l BB\n" + "".join(f"{l} 1\n" for l in range(41)))
    assert "bb.txt" in fails(2, "plot", "cl.fits", "out.png", "--spectra", "TT", "--theory", "bb.txt")
    healpy.write_map(tmp_path / "kelvin.fits", np.arange(192.0), dtype=np.float64, column_units="K")
    assert call("anafast", "kelvin.fits", "kelvin_cl.fits", cwd=tmp_path).code == 0
    line = fails(2, "plot", "kelvin_cl.fits", "out.png", "--theory", str(PLANCK))
    assert "uK^2" in line and "K^2" in line and "--unit" in line
    assert "--theory" in fails(2, "plot", "cl.fits", "out.png", "--theory-dl")
    assert "missing.fits" in fails(1, "plot", "cl.fits", "out.png", "--theory", "missing.fits")


def test_spectra_are_chosen_by_name(cl, drawn, fails):
    assert drawn("cl.fits", "--spectra", "TT,EE") != drawn("cl.fits")
    line = fails(2, "plot", "cl.fits", "out.png", "--spectra", "TT,XX")
    assert "XX" in line and "TT, EE, BB, TE, TB, EB" in line


def test_options_of_spectra_are_wrong_use_with_maps(sky, fails):
    assert "--theory" in fails(2, "plot", "sky.fits", "out.png", "--theory", str(PLANCK))


# --- what is drawn, as matplotlib reads it back


@pytest.fixture
def pixels(zonal, tmp_path):
    """Draws and returns the colours, [row from above, column, 3]."""
    from matplotlib import image

    def draw(*arguments):
        zonal("plot", *arguments, "picture.png", "--overwrite")
        return image.imread(tmp_path / "picture.png")[:, :, :3]

    return draw


def near(picture, color):
    """Rows and columns, as shares of the picture, of pixels that have about this colour."""
    rows, columns = np.nonzero(np.abs(picture - color).max(axis=2) < 0.02)
    return rows / picture.shape[0], columns / picture.shape[1]


BARE = ("--no-title", "--no-colorbar", "--no-graticule", "--width", "400")


@pytest.mark.parametrize("options", [[], ["--centre", "60deg,0deg"], ["--projection", "cartesian"]])
def test_longitude_grows_leftwards_from_the_centre(pixels, tmp_path, options):
    spot = np.zeros(12 * 16**2)
    spot[healpy.query_disc(16, healpy.ang2vec(30, 0, lonlat=True), 0.2)] = 1
    healpy.write_map(tmp_path / "spot.fits", spot, dtype=np.float64)
    rows, columns = near(pixels("spot.fits", "--cmap", "magma", "--range", "0,1", *BARE, *options), (0.987, 0.991, 0.749))
    offset = -30 if "--centre" in options else 30
    assert len(rows) > 20 and rows.mean() == pytest.approx(0.5, abs=0.02)
    assert columns.mean() == pytest.approx(0.5 - offset / 360, abs=0.02)


def test_what_has_no_value_is_grey_and_the_outside_may_be_transparent(pixels, zonal, tmp_path):
    from matplotlib import image

    sky = np.ones(48)
    sky[20:28] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", sky, dtype=np.float64)
    picture = pixels("holes.fits", *BARE)
    grey, all_of_it = near(picture, (0.5, 0.5, 0.5))[0].size, (picture.min(axis=2) < 0.99).sum()
    assert grey / all_of_it == pytest.approx(8 / 48, rel=0.03)  # the rim takes 2 % of the ellipse
    zonal("plot", "holes.fits", "clear.png", "--transparent", *BARE)
    clear = image.imread(tmp_path / "clear.png")
    assert clear[0, 0, 3] == 0 and clear[clear.shape[0] // 2, 200, 3] == 1


def test_lines_of_polarisation_are_drawn(sky, pixels):
    plain, lined = (pixels("sky.fits", *BARE, *more) for more in ([], ["--polarization"]))
    changed = np.abs(plain - lined).max(axis=2) > 0.1
    assert plain.shape == lined.shape and 0.01 < changed.mean() < 0.5


@pytest.mark.parametrize(("name", "begin"), [("a.png", b"\x89PNG"), ("a.PDF", b"%PDF"), ("a.svg", b"<?xml")])
def test_the_name_says_the_format(sky, zonal, tmp_path, name, begin):
    report = zonal("plot", "sky.fits", name, "--inches", "3.4", "--width", "510")
    assert (tmp_path / name).read_bytes().startswith(begin)
    assert report["width"] == 510 and report["height"] < 510


def test_sizes_on_paper_and_in_pixels(sky, zonal, fails):
    assert zonal("plot", "sky.fits", "a.png", "--inches", "2")["width"] == 400
    assert zonal("plot", "sky.fits", "b.png", "--projection", "gnomonic")["width"] == 1320
    assert "4096 pixels per inch" in fails(2, "plot", "sky.fits", "c.png", "--inches", "1", "--width", "4096")
    line = fails(2, "plot", "sky.fits", "c.png", "--projection", "gnomonic", "--size", "170deg")
    assert "--size = 170" in line and "150 deg" in line
    assert "--size" in fails(2, "plot", "sky.fits", "c.png", "--size", "10deg")


# --- the Python that draws


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_python_without_the_package_is_an_error_that_says_how_to_get_it(sky, fails, tmp_path):
    folder = tmp_path.parent / f"{tmp_path.name}-bin"
    script(folder / "python3", "exit 77")
    line = fails(1, "plot", "sky.fits", "out.png", env=os.environ | {"ZONAL_PYTHON": str(folder / "python3")})
    assert "python3 lacks it" in line and "pip install 'zonal[plot]'" in line
    line = fails(1, "plot", "sky.fits", "out.png", env=os.environ | {"ZONAL_PYTHON": "no-such-python"})
    assert "no-such-python is not there" in line and "ZONAL_PYTHON" in line
    without = {name: value for name, value in os.environ.items() if name != "ZONAL_PYTHON"} | {"PATH": str(folder)}
    assert "python3 lacks it" in fails(1, "plot", "sky.fits", "out.png", env=without)


def test_a_python_that_fails_is_one_line(sky, fails, tmp_path):
    script(tmp_path / "python", "echo 'first line' >&2; echo 'last line' >&2; exit 3")
    line = fails(1, "plot", "sky.fits", "out.png", env=os.environ | {"ZONAL_PYTHON": str(tmp_path / "python")})
    assert line.endswith("out.png: Python has failed (exit status 3): last line")


def test_the_python_beside_the_tool_comes_first(sky, tmp_path):
    beside = tmp_path / "bin"
    python = os.environ.get("ZONAL_PYTHON", sys.executable)
    script(beside / "python3", f"touch '{tmp_path}/was-asked'; exec '{python}' \"$@\"")
    shutil.copy(ZONAL, beside / "zonal")
    (tmp_path / "link").symlink_to(beside / "zonal")
    without = {name: value for name, value in os.environ.items() if name != "ZONAL_PYTHON"}
    result = call("plot", "sky.fits", "out.png", "--width", "200", program=tmp_path / "link", cwd=tmp_path, env=without)
    assert result.code == 0, result.err
    assert (tmp_path / "was-asked").exists() and (tmp_path / "out.png").exists()


def test_files_of_the_folder_are_no_modules(sky, zonal, tmp_path):
    for name in ("numpy.py", "zonal.py", "io.py", "json.py"):
        (tmp_path / name).write_text("raise RuntimeError('imported')\n")
    zonal("plot", "sky.fits", "out.png", "--width", "200")


def test_names_with_dollars_are_no_formulas_and_those_that_are_not_utf_8_are_told(sky, zonal, fails, tmp_path):
    name = os.fsdecode(b"caf\xe9.fits")
    shutil.copy(tmp_path / "sky.fits", tmp_path / name)
    line = fails(1, "plot", name, "out.png")
    assert "the name is not UTF-8" in line and "draw a link" in line
    (tmp_path / "$x_$.fits").symlink_to(name)
    zonal("plot", "$x_$.fits", "out.png", "--width", "200")
