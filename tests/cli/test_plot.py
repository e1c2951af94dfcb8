"""zonal plot: titles, coordinates, theory curves. Pictures are compared with pictures: equal ones have equal bytes."""

import healpy
import numpy as np
import pytest
from conftest import DATA

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
    from conftest import call
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
