"""Random option strings: no crash, no hang, exit code 0, 1 or 2, one line for a failure, nothing left behind."""

import os
import random

import pytest
from conftest import call
from test_common import SUBCOMMANDS

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


def option_names(name):
    import re

    return re.findall(r"(--[a-z][a-z-]*)", call(name, "--help").out) + ["--nonsense", "-q", "-h1", "--lmax=", "--json=3"]


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


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_random_options(sky, tmp_path, name):
    (tmp_path / "cl.txt").write_text("# l TT\n" + "".join(f"{l} 1.0\n" for l in range(60)))
    (tmp_path / "out.fits").write_text("precious")
    inputs = sorted(path.name for path in tmp_path.iterdir())
    rng = random_of(name)
    options = option_names(name)
    # A calibration would take a minute: it is refused, as its cache folder cannot be made.
    cache = tmp_path / ("cl.txt" if name == "calibrate" else "cache")
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache))
    for _ in range(RUNS):
        arguments = random_arguments(rng, name, options)
        encoded = [a.encode("utf-8", "surrogateescape") for a in arguments]
        encoded = [os.fsdecode(a) for a in encoded]
        result = call(*encoded, cwd=tmp_path, env=environment, timeout=120)
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
