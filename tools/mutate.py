#!/usr/bin/env python3
"""Puts one fault at a time into a copy of the sources, and says which of them no test notices.

mutate.py [--seed N] [--count N] [OPTION...] PATH...   # faults in src/io, python/zonal/plot.py ...
mutate.py --again RECORD.json [OPTION...]              # those that a record lists

Faults are drawn at random, of each kind as many as of any other (mutants.py has the kinds). The copy and its build are in --work, never in
the tree itself, and serve the next run, too. TESTS says which tests concern a folder. Prints each fault and a summary, and writes --record,
which lists those that were not noticed. A person must judge these: some change nothing that matters. Exits with 1 if there are any.

With --workers N, N faults are tried at once, each in a copy of the copy, which its commands find in the place of the first: builds know
their place. The system must allow that (`unshare --map-root-user --mount true`).
"""

import argparse
import collections
import concurrent.futures
import copy
import dataclasses
import json
import os
import pathlib
import queue
import random
import re
import shlex
import signal
import subprocess
import sys
import time

from mutants import Fault, chosen, faults_of
from tracked_files import tracked_files

ROOT = pathlib.Path(__file__).resolve().parent.parent


def python_tests(*names):
    """No unit tests, and these files of Python tests; then those of all functions, which take longest."""
    files = [file for name in (*names, "arguments", "keywords") for file in sorted((ROOT / "tests" / "python").glob(f"test_{name}.py"))]
    return [], [str(file.relative_to(ROOT)) for file in files]


# Folders of tests/unit and Python tests, by the longest of these names that a path begins with.
TESTS = {
    "src/core": (["core", "grids", "sht"], []),
    "src/core/complex_math.hpp": (["chebyshev", "gwrm"], []),
    "src/core/dense_matrix": (["chebyshev", "gwrm"], []),
    "src/fft": (["core", "sht"], []),
    "src/grids": (["grids"], ["tests/python/test_grid.py"]),
    "src/sht": (["sht", "sky", "planning"], []),
    "src/points": (["points", "beams"], ["tests/python/test_points.py", "tests/python/test_lensing.py", "tests/cli/test_lens.py"]),
    "src/beams": (["beams"], ["tests/python/test_beams.py"]),
    "src/distributed": (["distributed"], ["tests/python/test_mpi.py"]),
    "src/masks": (["masks"], ["tests/python/test_masks.py", "tests/python/test_healpy_masks.py"]),
    "src/spectra": (["spectra"], [*(f"tests/python/test_{name}.py" for name in ("spectra", "band_powers", "band_refusals", "band_errors", "covariance",
                                                                               "catalogues", "correlation", "purification")),
                                  "tests/oracle/test_coupling_mpmath.py"]),
    "src/sky": (["sky", "planning"], ["tests/python/test_map.py", "tests/python/test_skies.py"]),
    "src/radial": (["radial", "planning"], []),
    "src/split": (["split", "planning"], ["tests/python/test_split.py"]),
    "src/planning": (["planning", "split", "sky", "distributed"], ["tests/python/test_planning.py", "tests/python/test_smoothing.py"]),
    "src/planning/certificate": (["planning", "split"], ["tests/python/test_certificate_operators.py"]),
    "src/chebyshev": (["chebyshev", "gwrm"], ["tests/python/test_chebyshev.py"]),
    "src/gwrm": (["gwrm", "io"], ["tests/python/test_gwrm.py"]),
    "src/io": (["io"], ["tests/python/test_io.py", "tests/cli/test_packed_files.py", "tests/cli/test_tiled_images.py"]),
    "python/zonal": python_tests("map", "map_functions", "skies", "sht", "smoothing", "planning", "io", "grid", "integrals", "reports",
                                 "refusals", "package"),
    "python/zonal/_devices.py": python_tests("devices"),
    "python/zonal/_libraries.py": python_tests("devices", "torch*", "jax"),
    "python/zonal/beams.py": python_tests("beams"),
    "python/zonal/chebyshev": python_tests("chebyshev"),
    "python/zonal/ducc0": python_tests("ducc0_*"),
    "python/zonal/gwrm": python_tests("gwrm"),
    "python/zonal/healpy": python_tests("healpy_*"),
    **{f"python/zonal/healpy/{file}": python_tests(*(f"healpy_{name}" for name in names)) for files, names in (
        (("_norms", "_projview", "newvisufunc", "proj", "visufunc", "zoomtool"), ("plots", "views")),
        (("_alm", "_beams", "_skies", "_transforms"), ("harmonics", "weights", "masks", "arguments", "resolution")),
        (("_directions", "_interpolation", "_maps", "_pix", "_query_disc", "_sizes"),
         ("pixels", "regions", "single_pixels", "masks", "resolution", "arguments")),
        (("_rotations", "rotator"), ("rotator", "weights", "arguments")), (("_fits", "fitsfunc"), ("files",)),
        (("_harmonic_ud_grade", "_hotspots"), ("resolution", "weights"))) for file in files},
    "python/zonal/jax": python_tests("jax"),
    "python/zonal/lensing.py": python_tests("lensing*"),
    "python/zonal/masks.py": python_tests("masks", "healpy_masks"),
    "python/zonal/mpi": python_tests("mpi"),
    "python/zonal/plot": python_tests("plot", "healpy_plots", "healpy_views"),
    "python/zonal/points.py": python_tests("points*"),
    "python/zonal/rotation.py": python_tests("skies", "map_functions", "resampling", "healpy_rotator", "refusals"),
    "python/zonal/spectra": python_tests("spectra", "band_*", "covariance", "catalogues", "correlation", "purification"),
    "python/zonal/split.py": python_tests("split"),
    "python/zonal/torch": python_tests("torch*"),
}
TARGETS = {True: ["zonal_unit_tests"], False: ["zonal_unit_tests", "zonal_cli", "zonal-bench", "_core"]}  # only_cpp
# Programs need not be linked again when a library changes.
CMAKE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DZONAL_WITH_PYTHON=ON"]
MOST_MEMORY = 12 << 30  # of tests: a fault may make them ask for all there is


def run(command, place, seconds=None, **environment):
    """Whether the command ends well in time, and what it prints."""
    process = subprocess.Popen(command, cwd=place, env={**os.environ, **environment}, text=True, errors="replace", start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        output = f"not done after {seconds:.0f} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode == 0, output


class Copy:
    """A copy of the tracked sources, its build and its tests."""

    def __init__(self, options):
        self.options, self.tree = options, options.work.resolve()
        self.store, self.built = self.tree, self.tree / "build"
        wanted = set(tracked_files(options.root))
        for path in wanted:
            self.write(path, (options.root / path).read_bytes())
        for path in set(tracked_files(self.tree)) - wanted if (self.tree / ".git").exists() else ():
            (self.tree / path).unlink()
        subprocess.run(["git", "init", "-q", self.tree], check=True)  # which knows what of it is ignored

    def of_worker(self, number):
        """A copy of this one, with all that was built."""
        other = copy.copy(self)
        other.store = self.tree.with_name(f"{self.tree.name}-{number}")
        subprocess.run(["rm", "-rf", other.store], check=True)
        subprocess.run(["cp", "-a", "--reflink=auto", self.tree, other.store], check=True)
        each = max(1, os.cpu_count() // self.options.workers)
        other.cpus = f"{number * each % os.cpu_count()}-{(number * each + each - 1) % os.cpu_count()}"
        can_run, output = other.run(["true"])
        if not can_run:
            raise SystemExit(f"--workers needs mounts of its own, which the system refuses:\n{output}")
        return other

    def run(self, command, seconds=None, **environment):
        if self.store != self.tree:
            command = ["taskset", "--cpu-list", self.cpus, "unshare", "--map-root-user", "--mount", "bash", "-c",
                       'mount --bind "$0" "$1" && cd "$1" && exec "${@:2}"', self.store, self.tree, *command]
        return run(command, self.tree, seconds, **environment)

    def write(self, path, content):
        """Where it differs, so that as little as may be is compiled."""
        file = self.store / path
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def build(self):
        commands = [["cmake", "--build", self.built, "-j", str(self.options.jobs), "--target", *TARGETS[self.options.only_cpp]]]
        if self.options.build is not None:
            commands = [["bash", "-c", self.options.build]]
        elif not (self.built / "build.ninja").exists():
            commands.insert(0, ["cmake", "-S", self.tree, "-B", self.built, *CMAKE, *shlex.split(self.options.cmake)])
        for command in commands:
            is_built, output = self.run(command)
            if not is_built:
                return False, output
        for module in self.built.glob("lib/_core*.so"):
            (self.store / "python/zonal" / module.name).unlink(missing_ok=True)
            (self.store / "python/zonal" / module.name).symlink_to(module)
        return True, ""

    def commands_of_tests(self, path):
        if self.options.test:
            return [["bash", "-c", self.options.test]]
        folders, files = TESTS[max((name for name in TESTS if path.startswith(name)), key=len)]
        commands = []
        for folder in folders:
            texts = [file.read_text() for file in (self.tree / "tests/unit" / folder).rglob("*.cpp")]
            suites = sorted(set(re.findall(r"^(?:TYPED_)?TEST(?:_F|_P|_SUITE)?\((\w+),", "\n".join(texts), re.M)))
            commands.append([self.built / "bin/zonal_unit_tests", "--gtest_fail_fast", "--gtest_brief=1",
                             "--gtest_filter=" + ":".join(f"{suite}.*:{suite}/*:*/{suite}.*" for suite in suites)])
        return commands + [[sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", *files]] * bool(files and not self.options.only_cpp)

    def test(self, path, seconds=float("inf")):
        """Whether all pass, and what the first that does not says."""
        end = time.monotonic() + seconds
        for command in self.commands_of_tests(path):
            left = max(1, end - time.monotonic()) if seconds < float("inf") else None
            has_passed, output = self.run(["prlimit", f"--as={MOST_MEMORY}", *command], left, PYTHONPATH=str(self.tree / "python"),
                                          PYTHONDONTWRITEBYTECODE="1", ZONAL=str(self.built / "bin/zonal"))
            if not has_passed:
                return False, output
        return True, ""

    def try_fault(self, fault, seconds):
        right = (self.store / fault.path).read_bytes()
        try:
            self.write(fault.path, fault.put_into(right.decode()).encode())
            if not fault.path.endswith(".py") and not self.build()[0]:
                return "not compiled"
            return "unnoticed" if self.test(fault.path, seconds)[0] else "noticed"
        finally:
            self.write(fault.path, right)

    def seconds_without_fault(self, path):
        begun = time.monotonic()
        has_passed, output = self.test(path)
        if not has_passed:
            raise SystemExit(f"the tests of {path} fail without a fault:\n{output}")
        return time.monotonic() - begun


def faults_wanted(options):
    if options.again:
        names = [field.name for field in dataclasses.fields(Fault)]
        return [Fault(*map(fault.get, names)) for fault in json.loads(options.again.read_text())["faults"]]
    rng = random.Random(options.seed)
    faults = []
    for path in tracked_files(options.root, *options.paths):
        # Only formulas of headers, as other headers compile half of the library; what needs a GPU is not run here.
        if path.endswith((".cpp", "_math.hpp", ".py")) and "cuda" not in path:
            faults += faults_of(path, (options.root / path).read_text(), rng)
    return chosen(faults, options.count, rng)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="PATH")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--only-cpp", action="store_true", help="run no Python tests, which take longer")
    parser.add_argument("--again", type=pathlib.Path, metavar="RECORD")
    parser.add_argument("--record", type=pathlib.Path, default=pathlib.Path("mutants.json"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the tree that is copied")
    parser.add_argument("--cmake", default="", help="more options for CMake, as of a compiler's cache")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="faults tried at once")
    parser.add_argument("--build", help="a command of the shell in place of CMake's")
    parser.add_argument("--test", help="a command of the shell in place of TESTS")
    options = parser.parse_args()
    if bool(options.paths) == bool(options.again):
        parser.error("give paths, or a record to try again")
    return options


def main():
    options = parse_arguments()
    faults, first = faults_wanted(options), Copy(options)
    is_built, output = first.build()
    if not is_built:
        raise SystemExit(f"does not build without a fault:\n{output}")
    copies = queue.SimpleQueue()
    if options.workers > 1:
        options.jobs = max(1, options.jobs // options.workers)
    for number in range(options.workers):
        copies.put(first.of_worker(number) if options.workers > 1 else first)

    def on_a_copy(work):
        free = copies.get()
        try:
            return work(free)
        finally:
            copies.put(free)

    at_once = concurrent.futures.ThreadPoolExecutor(options.workers)
    folders = sorted({os.path.dirname(fault.path) for fault in faults})
    seconds = at_once.map(lambda folder: on_a_copy(lambda free: free.seconds_without_fault(folder)), folders)
    limits = {folder: 4 * taken + 30 for folder, taken in zip(folders, seconds)}
    tried = {at_once.submit(on_a_copy, lambda free, fault=fault: free.try_fault(fault, limits[os.path.dirname(fault.path)])): fault
             for fault in faults}
    counts, unnoticed = collections.Counter(), []
    for ended in concurrent.futures.as_completed(tried):
        fault, verdict = tried[ended], ended.result()
        counts[verdict] += 1
        print(f"{verdict}: {fault.path}:{fault.line}: {fault.kind}\n{fault.diff()}", flush=True)
        if verdict == "unnoticed":
            unnoticed.append(dataclasses.asdict(fault) | {"diff": fault.diff()})
        options.record.write_text(json.dumps({"seed": options.seed, "paths": options.paths, **counts, "faults": unnoticed}, indent=1))
    print(f"{counts['noticed']} noticed, {counts['unnoticed']} unnoticed, {counts['not compiled']} not compiled; see {options.record}")
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()
