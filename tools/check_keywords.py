#!/usr/bin/env python3
"""Runs the tests of tests/python/keywords_elsewhere.txt without the keywords that they stand for: each must then fail.

tools/check_keywords.py          checks the file
tools/check_keywords.py --find   prints lines for it: of keywords that have no case, a test that fails without them

Needs what the Python tests need, with the package on PYTHONPATH.
"""
import contextlib
import inspect
import json
import os
import sys
import tempfile
import time
from functools import wraps
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests" / "python"
LISTED = TESTS / "keywords_elsewhere.txt"
sys.path.insert(0, str(TESTS))

import numpy as np  # noqa: E402
import pytest  # noqa: E402

import keyword_names  # noqa: E402


def owners(name):
    """The public modules, or the class, that have a function by this name, and the attribute."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):  # a module may have the name of a function
        home = sys.modules.get(".".join(parts[:length]))
        if home is None:
            continue
        rest = parts[length:]
        if len(rest) > 1:
            return [getattr(home, rest[0])], rest[1]
        one = getattr(home, rest[0])
        return [m for n, m in list(sys.modules.items()) if n.startswith("zonal") and "._" not in n and vars(m).get(rest[0]) is one], rest[0]
    raise LookupError(name)


def wrapped(name, change):
    """Puts in place of a function one whose arguments, a BoundArguments, first go through `change`."""
    homes, attribute = owners(name)
    static = inspect.getattr_static(homes[0], attribute)
    function = static.__func__ if isinstance(static, (classmethod, staticmethod)) else static
    signature = inspect.signature(function)

    @wraps(function)
    def call(*given, **named):
        try:
            bound = signature.bind(*given, **named)
        except TypeError:
            return function(*given, **named)
        change(bound)
        return function(*bound.args, **bound.kwargs)

    for home in homes:
        setattr(home, attribute, type(static)(call) if isinstance(static, (classmethod, staticmethod)) else call)


class Outcomes:
    """What pytest tells: the tests that ran, how long they took, and which failed."""

    def __init__(self):
        self.now, self.seconds, self.failed = "", {}, []

    def pytest_runtest_logstart(self, nodeid):
        self.now, self.begin = nodeid, time.perf_counter()

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)


def in_child(work):
    """What work() returns, done in a process of its own, which may change the package."""
    handle, path = tempfile.mkstemp()
    os.close(handle)
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            Path(path).write_text(json.dumps(work()))
            status = 0
        os._exit(status)
    os.waitpid(child, 0)
    text = Path(path).read_text()
    os.remove(path)
    return json.loads(text) if text else None


def run(tests, *options):
    outcomes = Outcomes()
    pytest.main(["-q", "-p", "no:cacheprovider", "--timeout=100", f"--rootdir={TESTS}", *options, *tests],
                plugins=[outcomes])
    return outcomes


def failed_without(name, keyword, tests):
    """Those of the tests that fail where the keyword is ignored; the first alone."""
    def work():
        wrapped(name, lambda bound: bound.arguments.pop(keyword, None))
        return run([str(TESTS / test) for test in tests], "-x").failed
    return in_child(work)


def is_default(value, default):
    if value is default:
        return True
    with contextlib.suppress(Exception):
        return bool(np.all(value == default)) and np.shape(value) == np.shape(default)
    return False


def users(names):
    """By keyword, the tests that give it another value than its default, the quickest first."""
    def work():
        used, outcomes = {}, Outcomes()
        for name in names:
            defaults = {p.name: p.default for p in inspect.signature(keyword_names.FUNCTIONS[name]).parameters.values()}

            def note(bound, name=name, defaults=defaults):
                for keyword, value in bound.arguments.items():
                    if keyword in defaults and not is_default(value, defaults[keyword]):
                        used.setdefault(f"{name} {keyword}", []).append(outcomes.now)
            with contextlib.suppress(Exception):
                wrapped(name, note)
        files = [str(path) for path in sorted(TESTS.glob("test_*.py"))
                 if path.stem not in ("test_keywords", "test_mpi", "test_arguments", "test_types", "test_examples",
                                      "test_calls", "test_threads")]
        pytest.main(["-q", "-p", "no:cacheprovider", "--timeout=100", f"--rootdir={TESTS}", *files], plugins=[outcomes])
        return {key: sorted({t for t in tests if t}, key=lambda t: outcomes.seconds.get(t, 9)) for key,
                tests in used.items()}
    return in_child(work)


def main():
    if sys.argv[1:] == ["--find"]:
        import test_keywords
        missing = sorted(keyword_names.ALL - {(case.function, case.keyword) for case in test_keywords.CASES})
        used = users(sorted({name for name, _ in missing}))
        for name, keyword in missing:
            tests = used.get(f"{name} {keyword}", [])[:12]
            failed = failed_without(name, keyword, tests) if tests else []
            print(name, keyword, failed[0].partition("[")[0] if failed else f"# of {len(tests)} tests", flush=True)
        return 0
    unseen = 0
    for line in LISTED.read_text().splitlines():
        if not line.startswith("#"):
            name, keyword, test = line.split()
            if name.rpartition(".")[0] not in keyword_names.ABSENT and not failed_without(name, keyword, [test]):
                print(f"{test} does not fail without {keyword} of {name}")
                unseen += 1
    print(f"{unseen} keywords unseen")
    return unseen > 0


if __name__ == "__main__":
    sys.exit(main())
