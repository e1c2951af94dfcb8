"""Words of the command line that are misspelt, missing, or names of files that promise another format."""

import pytest

from conftest import call
from test_common import SUBCOMMANDS


@pytest.mark.parametrize("arguments, meant", [
    (["smooth", "sky.fits", "out.fits", "--fwmh", "1deg"], "did you mean --fwhm?"),
    (["smooth", "sky.fits", "out.fits", "--fwhm=1deg", "--lmx=3"], "did you mean --lmax?"),
    (["smooth", "sky.fits", "--masc", "m.fits"], "did you mean --mask?"),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--thread", "1"], "did you mean --threads?"),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--FWHM", "1deg"], "--FWHM: is not an option of zonal smooth"),
    (["synfast", "cl.fits", "out.fits", "--iter", "3"], "--iter: is not an option of zonal synfast"),
    (["anafast", "sky.fits", "out.fits", "--removemonopole"], "did you mean --remove-monopole?"),
    (["smoth", "sky.fits"], "did you mean smooth?"),
    (["plt", "sky.fits"], "did you mean plot?"),
    (["qqqqqqqqqq"], "is not a subcommand; zonal --help"),
    (["--json", "smooth"], "options come after the subcommand"),
    (["--verion"], "did you mean --version?"), (["version"], "did you mean zonal --version?"), (["help"], "did you mean zonal --help?"),
    (["smooth", "sky.fits", "out.fits", "-fwhm", "1deg"], "-fwhm: is not an option of zonal smooth; did you mean --fwhm? zonal smooth --help"),
    (["smooth", "sky.fits", "--out", "out.fits"], "--out: is not an option of zonal smooth: files stand without one: zonal smooth IN OUT"),
    (["map2alm", "--input=sky.fits", "alm.fits"], "--input: is not an option of zonal map2alm: files stand without one: zonal map2alm IN OUT"),
])
def test_misspelt_words_are_answered_with_what_may_have_been_meant(sky, fails, arguments, meant):
    if "--json" in arguments:
        result = call(*arguments)
        assert result.code == 2 and meant in result.err
        return
    line = fails(2, *arguments)
    assert meant in line and "--help" in line


def test_word_unlike_any_option_gets_no_guess(sky, fails):
    assert "did you mean" not in fails(2, "smooth", "sky.fits", "out.fits", "--xyzzyplugh")


def test_no_arguments_list_the_subcommands_and_point_to_help(fails):
    line = fails(2)
    assert "zonal SUBCOMMAND" in line and "zonal --help" in line
    for name in SUBCOMMANDS:
        assert name in line


@pytest.mark.parametrize("arguments, words", [
    (["anafast", "sky.fits"], ["OUT is required", "IN [IN2] OUT"]),
    (["anafast"], ["IN [IN2] OUT"]),
    (["smooth", "sky.fits"], ["OUT is required", "zonal smooth IN OUT"]),
    (["smooth"], ["IN is required", "zonal smooth IN OUT"]),
    (["compare", "sky.fits"], ["SECOND is required", "zonal compare FIRST SECOND"]),
    (["smooth", "a.fits", "b.fits", "c.fits", "--fwhm", "1deg"], ["c.fits", "zonal smooth IN OUT"]),
])
def test_missing_and_surplus_arguments_show_the_usage(sky, fails, arguments, words):
    line = fails(2, *arguments)
    for word in words:
        assert word in line, line


@pytest.mark.parametrize("arguments, message", [
    ("smooth sky.fits out.fits --fwhm 1deg --fwhm 2deg", "--fwhm: is given more than once"),
    ("smooth sky.fits out.fits --fwhm", "--fwhm: its value is missing"),
    ("smooth sky.fits out.fits more.fits --fwhm 1deg", "more.fits: nothing is expected here"),
    ("compare sky.fits sky.fits -x", "-x: nothing is expected here"),
    ("plot sky.fits out.png --title a --no-title", "--title and --no-title exclude each other"),
    ("plot sky.fits out.png --theory-dl", "--theory-dl: only with --theory"),
])
def test_messages_on_the_form_of_a_command_line_say_what_is_wrong(sky, fails, arguments, message):
    assert fails(2, *arguments.split()).split(": ", 1)[1].startswith(message + "; usage: zonal ")


@pytest.mark.parametrize("command", ["convert sky.fits -", "plot sky.fits -", "anafast sky.fits - --overwrite",
                                     "synfast cl.txt x.fits --nside 4 --alm-out -"])
def test_dash_is_not_the_name_of_an_output(sky, fails, command):
    line = fails(2, *command.split())
    assert "standard output" in line and "./-" in line


def test_file_may_be_named_dash_by_its_path(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "./-")
    assert (tmp_path / "-").exists()


@pytest.mark.parametrize("arguments", [
    "smooth sky.fits out.fits --fwhm nandeg", "smooth sky.fits out.fits --method auto --fwhm 9deg --error nan",
    "compare sky.fits sky.fits --limit nan", "plot sky.fits out.png --range nan,1", "plot sky.fits out.png --centre nandeg,0deg",
    "rotate sky.fits out.fits --euler 1deg,nandeg,2deg", "smooth sky.fits out.fits --fwhm 9deg --tolerance nan",
    "smooth sky.fits out.fits --fwhm 9deg --lmax nan", "smooth sky.fits out.fits --fwhm 9deg --threads nan"])
def test_options_take_no_nan(sky, fails, arguments):
    assert "nan" in fails(2, *arguments.split())


@pytest.mark.parametrize("words", [["--fwhm", "60", "arcmin"], ["--fwhm=60", "arcmin"], ["--fwhm-in", "1.", "degrees"],
                                   ["--fwhm", "60", "'"]])
def test_unit_apart_from_its_number_is_explained(sky, fails, words):
    line = fails(2, "smooth", "sky.fits", "out.fits", *words)
    assert "one argument" in line and words[-1] in line


@pytest.mark.parametrize("name", ["out.jpg", "out.jpeg", "out.eps", "out", "out.fits", "out.png.gz"])
def test_pictures_must_be_named_for_a_format(sky, fails, name):
    line = fails(2, "plot", "sky.fits", name)
    assert name in line and ".png" in line


def test_pictures_may_be_named_in_capitals(sky, zonal):
    zonal("plot", "sky.fits", "OUT.PNG", "--width", "200")


@pytest.mark.parametrize("command", ["smooth sky.fits {} --fwhm 9deg", "convert sky.fits {}", "anafast sky.fits {}",
                                     "map2alm sky.fits {}", "udgrade sky.fits {} --nside 8", "rotate sky.fits {} --to C",
                                     "weights {} --nside 4 --ring", "synfast cl.txt x.fits --nside 4 --alm-out {}"])
@pytest.mark.parametrize("name", ["out.png", "out.txt", "out.CSV", "out.jpg.gz", "out.npy"])
def test_fits_files_must_not_be_named_as_another_format(sky, fails, command, name):
    line = fails(2, *command.format(name).split())
    assert name in line and ".fits" in line


@pytest.mark.parametrize("name", ["out.fits", "out.fit", "out.fits.gz", "out", "out.v2", "out.hpx"])
def test_other_names_are_free(sky, zonal, tmp_path, name):
    zonal("convert", "sky.fits", name)
    assert (tmp_path / name).exists()


def test_device_that_is_not_there_names_the_option(sky, tmp_path):
    result = call("smooth", "sky.fits", "out.fits", "--fwhm", "9deg", "--device", "cuda", cwd=tmp_path)
    if result.code != 0:  # no GPU here
        assert result.code == 1 and "--device = cuda: " in result.err and "permitted: cpu, auto" in result.err
