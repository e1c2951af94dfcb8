"""What all subcommands have in common: help, versions, exit codes, messages, output files, interruption."""

import json
import os
import pathlib
import pty
import re
import resource
import subprocess

import healpy
import numpy as np
import pytest

from conftest import BENCH, ZONAL, assert_close, call, largest, read_map

SUBCOMMANDS = ["smooth", "synfast", "alm2map", "map2alm", "anafast", "rotate", "udgrade", "convert", "bin", "evaluate", "lens", "scan", "mask", "wavelet", "weights", "split", "plan", "calibrate", "solve", "info", "compare",
               "plot"]
BENCH_SUBCOMMANDS = ["sht", "distributed", "radial", "chebyshev", "plan", "split"]
# (program, subcommand)
COMMANDS = [(ZONAL, name) for name in SUBCOMMANDS] + [(BENCH, name) for name in BENCH_SUBCOMMANDS]


@pytest.mark.parametrize("program, subcommands", [(ZONAL, SUBCOMMANDS), (BENCH, BENCH_SUBCOMMANDS)])
def test_help_names_every_subcommand(program, subcommands):
    result = call("--help", program=program)
    assert result.code == 0 and result.err == ""
    assert len(re.findall(r"^  [a-z]", result.out, re.MULTILINE)) == len(subcommands)
    for name in subcommands:
        assert re.search(rf"^  {name} ", result.out, re.MULTILINE), name


@pytest.mark.parametrize("program, name", COMMANDS)
def test_help_of_subcommand_has_usage_defaults_and_an_example(program, name):
    result = call(name, "--help", program=program)
    assert result.code == 0 and result.err == ""
    command = f"{os.path.basename(program)} {name}"
    assert f"Usage: {command}" in result.out
    assert f"Example:\n  {command}" in result.out
    assert max(map(len, result.out.splitlines())) <= 110
    for option in ("--json", "--quiet", "--help"):
        assert option in result.out


@pytest.mark.parametrize("program, name", [
    *((ZONAL, name) for name in ("smooth", "synfast", "alm2map", "map2alm", "anafast", "rotate", "wavelet")),
    (BENCH, "sht"), (BENCH, "radial"),
])
def test_transforms_share_their_options(program, name):
    text = call(name, "--help", program=program).out
    for option in ("--lmax", "--threads", "--device auto|cpu|cuda"):
        assert option in text, option


def test_version_names_libraries_and_instruction_set():
    text = call("--version").out
    assert re.match(r"zonal \d+\.\d+\.\d+\n", text)
    for name in ("Highway", "CFITSIO", "SIMD"):
        assert re.search(rf"^{name} \S+", text, re.MULTILINE), name


def test_man_page_shows_what_help_shows():
    page = call("--man").out
    assert page.startswith(".TH ZONAL 1")
    assert not [line for line in page.splitlines() if line.startswith((". ", "'"))]
    plain = page.replace("\\-", "-").replace("\\&", "")
    for name in SUBCOMMANDS:
        for option in re.findall(r"^  (--[a-z-]+)", call(name, "--help").out, re.MULTILINE):
            assert f"\n.B {option}" in plain, (name, option)


@pytest.mark.parametrize("arguments, words", [
    ([], ["subcommand"]),
    (["nonsense"], ["nonsense"]),
    (["smooth"], ["IN"]),
    (["smooth", "sky.fits"], ["OUT"]), (["smooth", "--fwhm", "1deg"], ["IN"]),
    (["smooth", "sky.fits", "out.fits", "more.fits", "--fwhm", "1deg"], ["more.fits"]),
    (["smooth", "sky.fits", "out.fits"], ["--fwhm", "--beam"]),
    (["smooth", "sky.fits", "out.fits", "--nonsense"], ["--nonsense"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--lmax", "48"], ["--lmax", "48", "3*nside-1 = 47"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--lmax", "-1"], ["--lmax", "-1", "from 0"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--lmax", "3x"], ["--lmax", "3x", "integer"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--iter", "3", "--tolerance", "1e-9"], ["--iter", "--tolerance"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--mask-mode", "maybe"], ["--mask-mode", "maybe", "renormalize"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--threads", "-2"], ["--threads", "-2"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--device", "tpu"], ["--device", "tpu", "auto, cpu, cuda"]),
    (["smooth", "sky.fits", "", "--fwhm", "1deg"], ["OUT"]),
    (["map2alm", "sky.fits", "out.fits", "--lmax", "4", "--mmax", "5"], ["--mmax", "5", "4"]),
    (["udgrade", "sky.fits", "out.fits", "--nside", "12"], ["--nside", "12", "power of 2"]),
    (["udgrade", "sky.fits", "out.fits"], ["--nside"]),
    (["rotate", "sky.fits", "out.fits"], ["--to", "--euler"]),
    (["rotate", "sky.fits", "out.fits", "--to", "mars"], ["--to", "mars"]),
    (["rotate", "sky.fits", "out.fits", "--euler", "1deg,2deg"], ["--euler", "three"]),
    (["rotate", "sky.fits", "out.fits", "--euler", "1,2,3"], ["--euler", "unit"]),
    (["convert", "sky.fits", "out.fits", "--set-coordsys", "X"], ["--set-coordsys", "X"]),
    (["weights", "--nside", "4"], ["--ring", "--pixel"]),
    (["plot", "sky.fits", "out.png", "--range", "3,1"], ["--range", "MIN"]),
    (["plot", "sky.fits", "out.png", "--projection", "flat"], ["flat", "mollweide"]),
])
def test_wrong_use_is_exit_code_2_and_one_line_that_names_what(sky, fails, arguments, words):
    line = fails(2, *arguments)
    for word in words:
        assert word in line, line


@pytest.mark.parametrize("angle, words", [
    ("10", ["unit", "10deg"]), ("-10deg", ["above 0"]), ("0deg", ["above 0"]), ("0", ["unit"]), ("nandeg", ["finite"]),
    ("infdeg", ["finite"]), ("10 ", ["unit"]), (" 10deg", ["angle"]), ("10 turns", ["turns", "arcmin"]),
    ("10 deg deg", ["deg deg"]), ("deg", ["angle"]), ("1e400deg", []),
    ("10degx", ["degx"]), ("0x10deg", []), ("10°°", ["°°"]), ("", ["--fwhm"]), ("10DEG", ["deg"]),
    ("400deg", ["180deg"]), ("3.1416rad", ["180deg"]), ("1e-320deg", ["1e-6arcsec"]), ("1e308radians", ["180deg"]),
])
def test_angles_need_a_unit_and_must_be_above_zero(sky, fails, angle, words):
    line = fails(2, "smooth", "sky.fits", "out.fits", f"--fwhm={angle}")
    for word in ["--fwhm", *words]:
        assert word in line, line


@pytest.mark.parametrize("angle", ["10deg", "600arcmin", "10 deg", "600  arcmin", "36000arcsec", "0.17453292519943295rad", "+1e1deg",
                                   "10°", "10 °", "600'", "600′", '36000"', "36000″", "10 degrees", "10degree", "600 arcminutes",
                                   "0.17453292519943295 radians"])
def test_angle_units_agree(sky, zonal, tmp_path, angle):
    zonal("smooth", "sky.fits", "out.fits", "--fwhm", angle)
    zonal("smooth", "sky.fits", "expected.fits", "--fwhm", "10deg")
    # The last bit of the angle may differ by the unit.
    assert_close(healpy.read_map(tmp_path / "out.fits", dtype=np.float64),
                 healpy.read_map(tmp_path / "expected.fits", dtype=np.float64), rtol=1e-12, atol=1e-12)


def test_spaces_in_a_list_of_angles_mean_nothing(sky, zonal, tmp_path):
    zonal("rotate", "sky.fits", "plain.fits", "--euler", "10deg,20deg,-30deg")
    zonal("rotate", "sky.fits", "spaced.fits", "--euler", " 10deg, 20 deg , -30° ")
    np.testing.assert_array_equal(healpy.read_map(tmp_path / "spaced.fits", field=None),
                                  healpy.read_map(tmp_path / "plain.fits", field=None))


def test_list_has_no_empty_elements(sky, fails):
    for text in ("1deg,,2deg", "1deg, ,2deg", "1deg,2deg,", " "):
        assert "empty" in fails(2, "rotate", "sky.fits", "out.fits", "--euler", text)


@pytest.mark.parametrize("arguments, words", [
    (["smooth", "missing.fits", "out.fits", "--fwhm", "1deg"], ["missing.fits"]),
    (["smooth", "text.fits", "out.fits", "--fwhm", "1deg"], ["text.fits"]),
    (["smooth", "sky.fits", "nowhere/out.fits", "--fwhm", "1deg"], ["nowhere"]),
    (["smooth", "sky.fits", "out.fits", "--beam", "missing.fits"], ["missing.fits"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--mask", "missing.fits"], ["missing.fits"]),
    (["smooth", "sky.fits", "out.fits", "--fwhm", "1deg", "--field", "nonsense"], ["nonsense"]),
    (["info", "missing.fits"], ["missing.fits"]),
    (["info", "."], []),
])
def test_failure_is_exit_code_1_and_one_line_that_names_the_file(sky, fails, tmp_path, arguments, words):
    (tmp_path / "text.fits").write_text("this is no map\n" * 300)
    line = fails(1, *arguments)
    for word in words:
        assert word in line, line


def test_control_characters_cannot_break_the_line(sky, fails):
    fails(2, "smooth", "sky.fits", "out.fits", "--fwhm", "1deg\nsecond line\x1b[31m")
    fails(1, "info", "missing\nfile\x07")


def test_json_is_one_object_and_nothing_else(sky, tmp_path):
    result = call("smooth", "sky.fits", "out.fits", "--fwhm", "10deg", "--method", "harmonic", "--json", cwd=tmp_path)
    report = json.loads(result.out)
    assert result.err == "" and result.code == 0
    assert report["command"] == "smooth" and report["lmax"] == 47 and report["iterations"] == 3
    assert isinstance(report["notes"], list) and report["seconds"] > 0


def test_json_of_a_failure_is_an_object_too(tmp_path):
    for arguments, code in ((["info", "missing.fits"], 1), (["smooth", "--fwhm", "3"], 2)):
        result = call(*arguments, "--json", cwd=tmp_path)
        report = json.loads(result.out)
        assert result.code == code and report["exit_code"] == code
        assert result.err.strip().endswith(report["error"])


def test_quiet_prints_nothing(sky, tmp_path):
    result = call("smooth", "sky.fits", "out.fits", "--fwhm", "10deg", "--quiet", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, "", "")


def test_quiet_does_not_hide_that_a_result_is_not_what_was_asked_for(tmp_path):
    """Random pixels do not determine alm up to the largest lmax."""
    healpy.write_map(tmp_path / "in.fits", np.random.default_rng(3).normal(size=12 * 16**2), dtype=np.float64)
    command = ("map2alm", "in.fits", "out.fits", "--lmax", "47", "--tolerance", "1e-16", "--overwrite")
    report = call(*command, "--json", cwd=tmp_path).report
    assert report["converged"] is False and report["exit_code"] == 1 and report["residual"] < 1e-10
    result = call(*command, "--quiet", cwd=tmp_path)
    assert result.code == 1 and result.out == ""
    assert result.err.splitlines() == ["zonal map2alm: " + report["error"]]
    # The best that the solver saw is written: the map that it makes is no larger than the one it is of.
    alm = healpy.read_alm(tmp_path / "out.fits")
    assert np.std(healpy.alm2map(alm, 16)) < 2


def test_info_tells_standard_deviation_and_rms(tmp_path, zonal):
    healpy.write_map(tmp_path / "in.fits", np.arange(48.0), dtype=np.float64)
    column = zonal("info", "in.fits")["hdus"][-1]["columns"][0]
    assert column["std"] == pytest.approx(np.arange(48.0).std()) and column["rms"] == pytest.approx(np.sqrt(np.mean(np.arange(48.0)**2)))


def test_existing_file_is_kept_unless_overwrite(sky, fails, zonal, tmp_path):
    (tmp_path / "out.fits").write_text("precious")
    for arguments in (["smooth", "sky.fits", "out.fits", "--fwhm", "10deg"], ["convert", "sky.fits", "out.fits"],
                      ["anafast", "sky.fits", "out.fits"],
                      ["map2alm", "sky.fits", "out.fits"], ["udgrade", "sky.fits", "out.fits", "--nside", "8"],
                      ["rotate", "sky.fits", "out.fits", "--to", "C"], ["weights", "out.fits", "--nside", "4", "--ring"]):
        assert "out.fits" in fails(1, *arguments)
        assert (tmp_path / "out.fits").read_text() == "precious"
    (tmp_path / "out.png").write_text("precious")
    line = fails(1, "plot", "sky.fits", "out.png")
    assert "out.png" in line and line.endswith("--overwrite replaces it")
    assert (tmp_path / "out.png").read_text() == "precious"
    zonal("smooth", "sky.fits", "out.fits", "--fwhm", "10deg", "--overwrite")
    assert healpy.read_map(tmp_path / "out.fits").size == 3072


def test_existing_file_is_refused_before_any_work(tmp_path):
    (tmp_path / "out.fits").write_text("precious")
    result = call("synfast", "missing-too.fits", "out.fits", "--nside", "8192", cwd=tmp_path)
    assert result.code == 1 and "out.fits" in result.err  # not the missing input: the output is looked at first
    assert result.cpu_seconds < 1  # nothing is read, and no sky is made


def test_input_may_be_overwritten_by_its_result(sky, zonal, tmp_path):
    zonal("convert", "sky.fits", "sky.fits", "--order", "nest", "--overwrite")
    np.testing.assert_array_equal(healpy.read_map(tmp_path / "sky.fits", field=2, dtype=np.float64), sky[2])


def test_full_device_leaves_nothing(sky, fails):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
    line = fails(1, "smooth", "sky.fits", "out.fits", "--fwhm", "10deg", preexec_fn=limit)
    assert "out.fits" in line
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
    assert "out.png" in fails(1, "plot", "sky.fits", "out.png", preexec_fn=limit)


def test_full_disk_keeps_the_old_file(sky, fails, tmp_path):
    (tmp_path / "out.fits").write_text("precious")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
    fails(1, "smooth", "sky.fits", "out.fits", "--fwhm", "10deg", "--overwrite", preexec_fn=limit)
    assert (tmp_path / "out.fits").read_text() == "precious"


def test_output_that_is_no_regular_file_is_refused(sky, fails):
    assert "/dev/full" in fails(1, "smooth", "sky.fits", "/dev/full", "--fwhm", "10deg", "--overwrite")
    assert "." in fails(1, "smooth", "sky.fits", ".", "--fwhm", "10deg", "--overwrite")


def test_read_only_folder_is_one_line(sky, fails, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    # Permissions do not bind root, but nobody can make files in /sys.
    out = "/sys/out.fits" if os.geteuid() == 0 else "closed/out.fits"
    assert out in fails(1, "smooth", "sky.fits", out, "--fwhm", "10deg")


def test_report_that_cannot_be_printed_is_a_failure(sky, tmp_path):
    with open("/dev/full", "w") as full:
        process = subprocess.run([ZONAL, "info", "sky.fits"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 1
    assert "standard output" in process.stderr and process.stderr.count("\n") == 1


is_sanitized = b"__asan_init" in pathlib.Path(ZONAL).read_bytes()


@pytest.mark.skipif(is_sanitized, reason="the address sanitizer itself needs more address space")
def test_memory_that_a_limit_leaves_is_what_counts(tmp_path, fails):
    (tmp_path / "cl.txt").write_text("# l TT\n" + "".join(f"{l} 1\n" for l in range(24)))
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
    line = fails(1, "synfast", "cl.txt", "out.fits", "--nside", "8192", "--lmax", "23", "--threads", "1", preexec_fn=limit)  # a map of 6.44 GB
    needed = float(line.split("needs ")[1].split(" GB of memory")[0])
    assert 6.44 <= needed < 6.44 + 0.06 and "ulimit -v" in line  # with what the program takes by itself, some 30 MB


@pytest.mark.skipif(is_sanitized, reason="the address sanitizer itself needs more address space")
def test_threads_that_the_system_refuses_are_explained(tmp_path, fails):
    healpy.write_map(tmp_path / "in.fits", np.ones(12 * 32**2), dtype=np.float64)
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (500_000_000, 500_000_000))  # each thread reserves 8 MB
    line = fails(1, "map2alm", "in.fits", "out.fits", "--iter", "0", "--threads", "4000", preexec_fn=limit)
    assert "threads = " in line and "fewer threads" in line and "ulimit -u" in line


def test_unfinished_output_has_no_name(tmp_path):
    """So that kill -9 leaves nothing, either."""
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        pytest.skip("the file system has no O_TMPFILE")
    healpy.write_map(tmp_path / "in.fits", np.arange(12.0 * 512**2), dtype=np.float64)
    for command in ("convert in.fits out.fits", "convert in.fits out.fits.gz", "plot in.fits out.png --width 4000"):
        process = subprocess.Popen([ZONAL, *command.split()], cwd=tmp_path, stdout=subprocess.DEVNULL)
        while process.poll() is None:
            assert not [path.name for path in tmp_path.iterdir() if path.name not in ("in.fits", command.split()[2])], command
        assert process.returncode == 0
        (tmp_path / command.split()[2]).unlink()


def on_a_terminal(tmp_path, *arguments):
    """What zonal writes to a terminal as standard error."""
    master, slave = pty.openpty()
    process = subprocess.run([ZONAL, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    os.set_blocking(master, False)
    try:
        text = os.read(master, 100000).decode()
    except (BlockingIOError, OSError):
        text = ""
    os.close(master)
    assert process.returncode == 0
    return text


def test_progress_bar_is_drawn_on_a_terminal_only(sky, tmp_path):
    command = ("smooth", "sky.fits", "out.fits", "--fwhm", "9deg", "--overwrite")
    assert "100 %" in on_a_terminal(tmp_path, *command)
    assert on_a_terminal(tmp_path, *command, "--quiet") == ""
    assert on_a_terminal(tmp_path, *command, "--json") == ""


def test_progress_bar_names_the_stages_of_a_simulation(tmp_path):
    (tmp_path / "cl.txt").write_text("# l TT\n" + "".join(f"{l} 1\n" for l in range(24)))
    text = on_a_terminal(tmp_path, "synfast", "cl.txt", "out.fits", "--nside", "8", "--seed", "1")
    assert "random alm [" in text and "synthesis [" in text


def test_output_says_how_it_was_made(sky, zonal, tmp_path):
    from conftest import header

    zonal("smooth", "sky.fits", "out.fits", "--fwhm", "10deg", "--lmax", "30", "--iter", "2")
    cards = header(tmp_path / "out.fits")
    assert cards["CREATOR"] == "zonal" and cards["FWHM"] == pytest.approx(10)
    assert cards["MAX-LPOL"] == 30 and cards["ITER"] == 2
    assert "zonal smooth sky.fits out.fits --fwhm 10deg --lmax 30 --iter 2" in "".join(cards["HISTORY"])


def test_result_does_not_depend_on_threads(sky, zonal, tmp_path):
    for threads in (1, 3):
        zonal("smooth", "sky.fits", f"out{threads}.fits", "--fwhm", "10deg", "--threads", str(threads))
    one, three = (healpy.read_map(tmp_path / f"out{n}.fits", field=None, dtype=np.float64) for n in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_comparisons_fail_on_nan(tmp_path):
    with pytest.raises(AssertionError):
        assert_close([1, float("nan")], [1, float("nan")])
    assert not largest([float("nan"), 1]) < 2 and not largest([1, float("nan")]) < 2
    healpy.write_map(tmp_path / "nan.fits", np.full(12, np.nan))
    with pytest.raises(AssertionError, match="has NaN"):
        read_map(tmp_path / "nan.fits")
