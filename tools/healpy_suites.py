#!/usr/bin/env python3
"""Runs the tests of packages that use healpy, with healpy and then with zonal.healpy in its place, and compares.

tools/healpy_suites.py WORK ZONAL [PACKAGE...]   # those of SUITES that are named, or all

ZONAL is the folder that holds the package `zonal`. WORK gets a virtual environment and the sources of each package, which
are used again if they are there, and the logs. Prints a record as JSON: for each package how many tests pass with healpy,
how many of these with zonal.healpy, and the names of the others. Exits with 1 if one of these is not in EXPECTED, or
nothing ran. Packages and tests come from PyPI, or from the package's repository where its source distribution has no
tests. What cannot be installed or fetched is named, with the error, and does not count; nor do tests that fail with
healpy, such as those that download data where there is no network.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from machine import describe

COMMON = ["healpy==1.20.1", "nanobind-backend==1.0.0", "pytest==8.4.2", "pytest-reportlog==1.0.0", "pytest-timeout==2.4.0"]
SECONDS_OF_SUITE = 3600
SECONDS_OF_TEST = 600


@dataclasses.dataclass
class Suite:
    """requirement, needs: for pip. tests: arguments of pytest, which runs in the sources.

    repository: None where the source distribution has the tests, "wheel" where the installed package has them, or else a
    URL and a tag.
    """
    requirement: str
    tests: list[str]
    needs: list[str] = dataclasses.field(default_factory=list)
    repository: str | tuple[str, str] | None = None


# Where a whole suite takes longer than ten minutes, the files of tests that use healpy, or test what uses it.
CROISSANT = ["physics", "rotations", "sim_class", "utils"]
LIGO = ["distance", "healpix_tree", "io", "kde", "moc", "plot", "postprocess", "tests", "tool"]
LITEBIRD = """
    beam_convolution beam_synthesis binner coordinates destriper dipole healpix hitmap input_sky mapmaking maps_and_harmonics
    pair_differencing pol_efficiency_mapmaking sanepic scan_map simulations
""".split()
PYSM = """
    bandpass_convert_units catalog cmb co dipole dust dust_layers inmemory_maps interpolating mpi_smoothing smoothing units utils websky
""".split()
RUBIN = """
    scheduler/test_basisfuncs scheduler/test_comcam scheduler/test_coresched scheduler/test_queue_manager scheduler/test_scalarbf
    scheduler/test_skyarea scheduler/test_surveys scheduler/test_too_scripted scheduler/test_utils site_models/test_cloudmaps
    site_models/test_cloudmodel skybrightness_pre/test_dark_sky skybrightness_pre/test_skypre utils/test_approx utils/test_constants
    utils/test_healutils utils/test_site
""".split()
TOAST = """
    covariance footprint healpix ops_crosslinking ops_interpolate_healpix ops_loader ops_mapmaker_binning ops_pixels_healpix
    ops_pointing_healpix ops_scan_alm ops_sim_gaindrifts ops_sim_tod_catalog ops_sim_tod_conviqt ops_sim_tod_dipole
    ops_sim_tod_totalconvolve ops_stokes_hwp ops_stokes_weights pixels_healpix pixels_wcs
""".split()

SUITES = {
    "astropy-healpix": Suite("astropy-healpix[test]==2.0.1", ["--pyargs", "astropy_healpix"], repository="wheel"),
    "croissant": Suite("croissant-sim==5.2.1", [f"tests/test_{name}.py" for name in CROISSANT], ["pytest-cov", "pygdsm", "spiceypy"]),
    "gammapy": Suite("gammapy[test]==2.1", ["--pyargs", "gammapy.maps", "-k", "hpx or healpix"], ["regions==0.10"],
                     "wheel"),
    "glass": Suite("glass==2026.2", ["tests/core"], ["numpy<2.4", "scipy", "pytest-mock", "pytest-rerunfailures"],
                   ("https://github.com/glass-dev/glass", "v2026.2")),
    "healsparse": Suite("healsparse[test,parquet,hdf5,fitsio]==1.15.0", ["tests"]),
    "heracles": Suite("heracles[test]==25.1", ["tests"], ["scipy<1.15"]),
    "ligo.skymap": Suite("ligo.skymap[test]==2.5.4", ["--doctest-modules", "--pyargs", *(f"ligo.skymap.{name}" for name in LIGO)],
                         repository="wheel"),
    "litebird_sim": Suite("litebird-sim==0.18.0", [f"test/test_{name}.py" for name in LITEBIRD]),
    "mhealpy": Suite("mhealpy==0.3.7", ["."], repository=("https://gitlab.com/burstcube/mhealpy", "v0.3.7")),
    "pygdsm": Suite("pygdsm==1.7.1", ["tests"], ["pytest-cov"]),
    "pysm3": Suite("pysm3[test]==3.4.5", [f"tests/test_{name}.py" for name in PYSM],
                   repository=("https://github.com/galsci/pysm", "3.4.5")),
    "rubin_scheduler": Suite("rubin-scheduler==4.6.0", [f"tests/{name}.py" for name in RUBIN]),
    "toast": Suite("toast[totalconvolve]==3.0.6", ["-o", "python_files=*.py", "--pyargs", *(f"toast.tests.{name}" for name in TOAST)],
                   repository="wheel"),
}

# Tests that pass with healpy and are known to fail with zonal.healpy, each with its reason.
EXPECTED = {"tests/test_interpolating.py::test_presmoothed": "allows a relative difference of 1e-3 and an absolute one of 1e-4, which "
            "1.339e-3 just keeps that healpy has by its file of pixel weights, and 1.348e-3 by Zonal's weights does not"}

# In place of healpy's __init__.py: zonal.healpy and all of its modules under healpy's names.
SHIM = '''
import importlib, pkgutil, sys
import zonal.healpy
for _, name, _ in pkgutil.walk_packages(zonal.healpy.__path__, "zonal.healpy."):
    try:
        sys.modules[name.removeprefix("zonal.")] = importlib.import_module(name)
    except ModuleNotFoundError:  # of pictures, where matplotlib is not installed
        pass
sys.modules["healpy"] = zonal.healpy
'''


def run(*command, **options) -> str:
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options).stdout


def install(suite: Suite, folder: pathlib.Path) -> pathlib.Path:
    """Returns the Python of the suite's environment, and leaves its sources in folder/sources; reuses what is there."""
    python = folder / "venv/bin/python"
    wanted = [*COMMON, suite.requirement, *suite.needs]
    done = folder / "installed.json"
    if not done.exists() or json.loads(done.read_text()) != wanted:
        run(sys.executable, "-m", "venv", "--clear", str(folder / "venv"))
        run(str(python), "-m", "pip", "install", "--disable-pip-version-check", *wanted)
        done.write_text(json.dumps(wanted))
    sources = folder / "sources"
    if sources.exists():
        return python
    if suite.repository == "wheel":
        sources.mkdir()
    elif suite.repository:
        url, tag = suite.repository
        run("git", "clone", "--depth=1", "--branch", tag, url, str(sources))
    else:
        pinned = re.sub(r"\[.*\]", "", suite.requirement)
        run(str(python), "-m", "pip", "download", "--no-deps", "--no-binary", pinned.split("==")[0], "-d", str(folder), pinned)
        sources.mkdir()
        run("tar", "xzf", str(*folder.glob("*.tar.gz")), "--strip-components=1", "-C", str(sources))
    return python


def outcomes(python: pathlib.Path, suite: Suite, folder: pathlib.Path, name: str, path: list[str]) -> tuple[dict, bool]:
    """Whether each test passed, and whether all of them came to an end in time. Runs in a copy, as tests write files."""
    here = folder / name
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(folder / "sources", here)
    report = folder / f"{name}.jsonl"
    report.unlink(missing_ok=True)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": ":".join(path), "HOME": str(home), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "2"}
    root = here if suite.repository != "wheel" else next((folder / "venv/lib").glob("python3*/site-packages"))
    command = [str(python), "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--timeout={SECONDS_OF_TEST}",
               f"--report-log={report}", f"--rootdir={root}", "--continue-on-collection-errors", *suite.tests]
    ended = True
    with open(folder / f"{name}.log", "w") as log:
        try:
            subprocess.run(command, cwd=here, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                           timeout=SECONDS_OF_SUITE)
        except subprocess.TimeoutExpired:
            ended = False
    passed: dict[str, bool] = {}
    for line in report.read_text().splitlines() if report.exists() else []:
        entry = json.loads(line)
        if entry["$report_type"] == "TestReport" and (entry["when"] == "call" or entry["outcome"] == "failed"):
            passed[entry["nodeid"]] = passed.get(entry["nodeid"], True) and entry["outcome"] == "passed"
    return passed, ended


def compare(name: str, work: pathlib.Path, zonal: str) -> dict:
    suite, folder = SUITES[name], work / name
    folder.mkdir(parents=True, exist_ok=True)
    result = {"package": name, "requirement": suite.requirement, "arguments": " ".join(suite.tests)}
    try:
        python = install(suite, folder)
    except (subprocess.CalledProcessError, OSError) as error:
        return {**result, "error": (getattr(error, "output", None) or str(error)).strip().splitlines()[-1]}
    shim = folder / "shim"
    (shim / "healpy").mkdir(parents=True, exist_ok=True)
    (shim / "healpy/__init__.py").write_text(SHIM)
    theirs, ended = outcomes(python, suite, folder, "healpy", [])
    if not theirs:
        return {**result, "error": f"no test ran: {folder / 'healpy.log'}"}
    ours, ours_ended = outcomes(python, suite, folder, "zonal", [str(shim), zonal])
    if not (ended and ours_ended):  # then those that only one came to say nothing
        theirs = {test: good for test, good in theirs.items() if test in ours}
    good = [test for test, passed in theirs.items() if passed]
    lost = [test for test in good if not ours.get(test)]
    if ended and not ours_ended:
        lost.append(f"an end within {SECONDS_OF_SUITE} s, which it has with healpy")
    return {**result, "tests": len(theirs), "all_run": ended and ours_ended, "healpy": len(good),
            "zonal": sum(ours.get(test, False) for test in good), "lost": lost}


def main(work: str, zonal: str, *names: str) -> int:
    record = {"benchmark": "healpy_suites", "machine": describe(), "packages": [], "healpy": 0, "zonal": 0, "unexpected": []}
    for name in names or SUITES:
        result = compare(name, pathlib.Path(work).resolve(), str(pathlib.Path(zonal).resolve()))
        record["packages"].append(result)
        if "error" in result:
            print(f"left out {name}: {result['error']}", file=sys.stderr)
            continue
        unexpected = [test for test in result["lost"] if test not in EXPECTED]
        record["healpy"] += result["healpy"]
        record["zonal"] += result["zonal"]
        record["unexpected"] += unexpected
        print(f"{'not ok' if unexpected else 'ok'} {name}: {result['zonal']} of {result['healpy']}", *result["lost"],
              sep="\n  lost: ", file=sys.stderr)
    print(json.dumps(record, indent=1))
    return 1 if record["unexpected"] or not record["healpy"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
