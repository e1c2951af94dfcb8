#!/usr/bin/env python3
"""Lists the assertions of the tests that allow far more than is reached: more than RATIO times, 50 if not said.

tolerances.py build FOLDER          builds the C++ tests in FOLDER so that they record limits and what was reached
tolerances.py run FILE COMMAND...   runs a command, with FILE as the record; pytest, too, records with the options below
tolerances.py show [RATIO] FILE...  prints limit / largest reached, both, and the comment beside the assertion or its CONSTANTS

A record holds the closest call of each EXPECT_LE, EXPECT_LT and EXPECT_NEAR (tolerances/gtest/gtest.h), or with
"PYTHONPATH=tools python -m pytest -p tolerances -o enable_assertion_pass_hook=true" of each assert_allclose, allclose,
approx, and "assert a < b" of floats. Nothing else is recorded, and no call that reached 0.
"""

import ast
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
closest = {}  # "tests/file:line" -> (limit / reached, limit, reached) of the closest call


def note(place, limit, reached):
    """Notes one call of an assertion, which may be named by a path from anywhere."""
    place = place[place.rindex("tests/"):]
    ratio = limit / reached if reached > 0 else math.inf
    if ratio < closest.get(place, (math.inf,))[0]:
        closest[place] = ratio, limit, reached


def build(folder):
    """The tests, but not the libraries, with the header that records in place of GoogleTest's."""
    make = ["cmake", "--build", folder, "--target"]
    subprocess.run(["cmake", "--preset", "release", "-B", folder, "-DZONAL_WITH_TESTS=ON"], cwd=ROOT, check=True)
    subprocess.run([*make, "zonal_cli"], cwd=ROOT, check=True)
    environment = os.environ | {"CPLUS_INCLUDE_PATH": str(ROOT / "tools" / "tolerances")}
    subprocess.run([*make, "zonal_unit_tests", "zonal_property_tests"], cwd=ROOT, check=True, env=environment)


def said_beside(lines, i, mark):
    """What is written behind line i or in the lines of comment just above it."""
    found = []
    for text in reversed(lines[:i]):
        if not text.strip().startswith(mark):
            break
        found.insert(0, text.strip(" /#"))
    _, _, behind = lines[i].partition(f"  {mark} ")
    return " ".join([*found, behind]).strip()


def comment(place):
    """What is written beside the assertion, else beside the CONSTANTS of its file that are its limit."""
    name, line = place.rsplit(":", 1)
    lines, i = (ROOT / name).read_text().splitlines(), int(line) - 1
    mark = "#" if name.endswith(".py") else "//"
    end = next((j for j in range(i + 1, len(lines)) if "".join(lines[i:j]).count("(") <= "".join(lines[i:j]).count(")")), len(lines))
    constants = re.findall(r"\b[A-Z][A-Z_]{2,}\b", " ".join(lines[i:end]))
    homes = [j for constant in constants for j, text in enumerate(lines) if text.startswith(f"{constant} = ")]
    return said_beside(lines, i, mark) or " ".join(said_beside(lines, j, mark) for j in homes).strip()


def show(paths, ratio):
    """The rows and how many have no comment."""
    for path in paths:
        for row in pathlib.Path(path).read_text().splitlines():
            place, limit, reached = row.split()[:3]
            note(place, float(limit), float(reached))
    loose = sorted((row for row in closest.items() if row[1][0] > ratio), key=lambda row: -row[1][0])
    for place, (times, limit, reached) in loose:
        print(f"{times:9.3g} {limit:9.3g} {reached:9.3g} {place}  {comment(place)}")
    bare = sum(not comment(place) for place, _ in loose)
    print(f"{len(closest)} assertions, {len(loose)} allow more than {ratio:g} times what is reached, {bare} without a comment")


# What pytest calls with "-p tolerances".


def note_caller(limit, reached):
    """Notes a call that a test made, itself and not by the package."""
    frame = sys._getframe(2)
    while frame and not frame.f_code.co_filename.startswith((str(ROOT / "tests"), str(ROOT / "python"))):
        frame = frame.f_back
    if frame and frame.f_code.co_filename.startswith(str(ROOT / "tests")):
        note(f"{frame.f_code.co_filename}:{frame.f_lineno}", limit, reached)


def pytest_configure():
    """Puts functions that record in the place of numpy's and pytest's."""
    import _pytest.python_api
    import numpy as np

    def recording(function, rtol, atol):
        def call(found, expected, *args, **options):
            result = function(found, expected, *args, **options)
            relative, absolute = ([*args, None, None][i] or options.get(name, value)
                                  for i, (name, value) in enumerate([("rtol", rtol), ("atol", atol)]))
            a, b = np.broadcast_arrays(np.asarray(found), np.asarray(expected))
            if a.dtype.kind == "b" or b.dtype.kind == "b":
                return result
            limit, error = np.broadcast_to(absolute + relative * np.abs(b), b.shape).ravel(), np.abs(a - b).ravel()
            with np.errstate(all="ignore"):
                parts = error / limit
            if parts.size and np.isfinite(parts).any():
                worst = np.nanargmax(np.where(np.isfinite(parts), parts, -1))
                note_caller(float(limit[worst]), float(error[worst]))
            return result
        return call

    np.testing.assert_allclose = recording(np.testing.assert_allclose, 1e-7, 0)
    np.allclose = recording(np.allclose, 1e-5, 1e-8)
    compare = _pytest.python_api.ApproxScalar.__eq__

    def equal(self, actual):
        equals = compare(self, actual)
        if equals and isinstance(self.expected, (float, int)):
            note_caller(float(self.tolerance), float(np.abs(np.asarray(actual) - self.expected).max()))
        return equals

    _pytest.python_api.ApproxScalar.__eq__ = equal


def pytest_assertion_pass(item, lineno, orig, expl):
    """An assert that holds: its first line of explanation has the values."""
    import numpy as np

    try:
        compared = ast.parse(expl.splitlines()[0], mode="eval").body
        sides = [eval(ast.unparse(side), {"np": np}) for side in (compared.left, *compared.comparators)]
    except Exception:  # an explanation is no code, as a rule
        return
    for operator, reached, limit in zip(compared.ops, sides, sides[1:]):
        if isinstance(operator, (ast.Lt, ast.LtE)) and isinstance(reached, float) and isinstance(limit, (float, int)):
            note(f"{item.path}:{lineno}", float(limit), float(reached))


def pytest_sessionfinish():
    """Appends what was noted to the record."""
    with pathlib.Path(os.environ["ZONAL_TOLERANCES"]).open("a") as file:
        file.writelines(f"{place} {limit!r} {reached!r}\n" for place, (_, limit, reached) in closest.items())


if __name__ == "__main__":
    command, *rest = sys.argv[1:] or ["help"]
    if command == "build" and len(rest) == 1:
        build(rest[0])
    elif command == "run" and len(rest) > 1:
        sys.exit(subprocess.run(rest[1:], env=os.environ | {"ZONAL_TOLERANCES": os.path.abspath(rest[0])}, check=False).returncode)
    elif command == "show" and rest:
        show(rest[rest[0].isdecimal():], float(rest[0]) if rest[0].isdecimal() else 50.0)
    else:
        sys.exit(__doc__)
