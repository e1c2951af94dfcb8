"""Random option strings: no crash, no hang, exit code 0, 1 or 2, one line for a failure, nothing left behind."""

import copy
import json
import os
import random

import pytest

from conftest import call, write_costs
from test_common import COMMANDS

# Another in each run, shown with each failure; ZONAL_FUZZ_SEED repeats it.
SEED = os.environ.get("ZONAL_FUZZ_SEED") or str(random.SystemRandom().randrange(2**32))
RUNS = int(os.environ.get("ZONAL_FUZZ_RUNS", "25"))  # for each subcommand

VALUES = ["0", "1", "-1", "3", "16", "1e9", "99999999999999999999", "nan", "inf", "-inf", "1e-320", "10deg", "-5arcmin",
          "0rad", "deg", "sky.fits", "cl.txt", "missing.fits", "out.fits", "new.fits", "new.png", "", " ", "\n", "\x1b[0m", "é",
          "\udcff", "I,Q,U", ",", "a,,b", "0,1,2", "G", "mars", "ring", "zero", "renormalize", "--", "-", "-x", "++", "=", "%s",
          "'", "'; rm -rf x", "x" * 5000, "/dev/null", "/", ".", "10degx", "0x10", "1_000", "1,5"]


def random_of(name):
    """Random numbers of one test; pytest shows what is printed here with its failure."""
    print(f"repeat with ZONAL_FUZZ_SEED={SEED}")
    return random.Random(f"{SEED} {name}")


def option_names(program, name):
    import re

    return re.findall(r"(--[a-z][a-z-]*)", call(name, "--help", program=program).out) + ["--nonsense", "-q", "-h1", "--lmax=", "--json=3"]


def random_arguments(rng, name, options):
    arguments = [name]
    for _ in range(rng.randint(0, 8)):
        kind = rng.random()
        if kind < 0.35:
            arguments.append(rng.choice(VALUES))
        elif kind < 0.7:
            arguments += [rng.choice(options), rng.choice(VALUES)]
        elif kind < 0.85:
            arguments.append(rng.choice(options) + "=" + rng.choice(VALUES))
        else:
            arguments.append(rng.choice(options))
    # Sizes that the machine cannot hold must be refused, sizes that take long are not what is tested.
    return [a for a in arguments if a not in ("--help", "--overwrite")]


@pytest.mark.parametrize("program, name", COMMANDS)
def test_random_options(sky, tmp_path, program, name):
    (tmp_path / "cl.txt").write_text("# l TT\n" + "".join(f"{l} 1.0\n" for l in range(60)))
    (tmp_path / "out.fits").write_text("precious")
    inputs = sorted(path.name for path in tmp_path.iterdir())
    rng = random_of(f"{os.path.basename(program)} {name}")
    options = option_names(program, name)
    # A calibration would take long: it is refused, as its cache folder cannot be made.
    cache = tmp_path / ("cl.txt" if name == "calibrate" else "cache")
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache))
    for _ in range(RUNS):
        arguments = random_arguments(rng, name, options)
        encoded = [a.encode("utf-8", "surrogateescape") for a in arguments]
        encoded = [os.fsdecode(a) for a in encoded]
        result = call(*encoded, program=program, cwd=tmp_path, env=environment)
        assert result.code in (0, 1, 2), (arguments, result.code, result.err)
        if result.code != 0:
            assert len(result.err.splitlines()) == 1, (arguments, result.err)
        assert (tmp_path / "out.fits").read_text() == "precious"
        new = {path.name for path in tmp_path.iterdir()} - set(inputs) - {"cache"}
        if result.code != 0:
            assert not new, (arguments, new)
        for path in new:
            if (tmp_path / path).is_file():
                (tmp_path / path).unlink()


JSON_VALUES = [None, True, False, 0, -0.0, 1, -1, 0.5, 2**63, -(2**63), 1e308, 1e-320, float("nan"), float("inf"), "", "cpu", "cuda:7",
               "\x00", "x" * 5000, [], [0], [1, 2, 3], [[]], {}, {"": 0}, list(range(3000))]


def places(value, path=()):
    """Where a JSON document has values."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def mutate_value(rng, document):
    """Another value, no value, or one under another name, anywhere in the document."""
    *path, last = rng.choice([place for place in places(document) if place])
    parent = document
    for key in path:
        parent = parent[key]
    kind = rng.random()
    if kind < 0.7:
        parent[last] = copy.deepcopy(rng.choice(JSON_VALUES))
    elif kind < 0.85:
        del parent[last]
    elif isinstance(parent, dict):
        parent[rng.choice(["", "unknown", *parent])] = parent.pop(last)


def mutate_text(rng, text):
    """Bytes changed, left out, repeated, or cut off."""
    data = bytearray(text.encode())
    at = rng.randrange(len(data))
    end = min(len(data), at + rng.randrange(1, 60))
    kind = rng.randrange(4)
    if kind == 0:
        data[at] = rng.randrange(256)
    elif kind == 1:
        del data[at:end]
    elif kind == 2:
        data[at:at] = data[at:end] * rng.choice([1, 1000])
    else:
        del data[at:]
    return bytes(data)


def mutated(rng, text):
    if rng.random() < 0.4:
        return mutate_text(rng, text)
    document = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        mutate_value(rng, document)
    return json.dumps(document).encode()


def expect_answer(arguments, path, folder):
    """Exit code 0, or 1 or 2 with one line of why; nothing half-written."""
    result = call(*arguments, cwd=folder)
    content = path.read_bytes()[:2000]
    assert result.code in (0, 1, 2), (result.code, result.err, content)
    if result.code != 0:
        assert len(result.err.splitlines()) == 1 and result.out == "", (result.err, content)
    assert (folder / "out.fits").exists() == (result.code == 0 and "out.fits" in arguments), content
    (folder / "out.fits").unlink(missing_ok=True)


def test_random_costs(tmp_path):
    rng = random_of("costs")
    write_costs(tmp_path / "costs.json")
    text = (tmp_path / "costs.json").read_text()
    path = tmp_path / "bad.json"
    for _ in range(RUNS):
        path.write_bytes(mutated(rng, text))
        expect_answer(("plan", "--nside", 8, "--fwhm", "30deg", "--costs", path), path, tmp_path)
