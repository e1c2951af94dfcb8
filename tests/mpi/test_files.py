"""`mpirun -n P zonal ...` writes the files that one process writes: every byte, as the command line in their headers is the same."""

import itertools
import json

import healpy
import numpy as np
import pytest

from jobs import BIN, call, mpirun

ZONAL = BIN / "zonal"
pytestmark = pytest.mark.skipif(not ZONAL.exists(), reason="this build has no tool")
LMAX = 47


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Spectra, maps in ring and nest order with pixels that are missing, a mask, alm."""
    folder = tmp_path_factory.mktemp("inputs")
    l = np.arange(LMAX + 1)
    tt = 1 / (1.0 + l) ** 2
    np.savetxt(folder / "cl.txt", np.stack([l, tt, tt / 10 * (l > 1), tt / 20 * (l > 1), tt / 5 * (l > 1)], axis=1),
               header="l TT EE BB TE")
    rng = np.random.default_rng(1)
    mask = (rng.uniform(size=12 * 16**2) > 0.2).astype(float)
    healpy.write_map(folder / "mask.fits", healpy.reorder(mask, r2n=True), nest=True, dtype=np.float64)
    for name, order, precision in (("ring", "ring", "float"), ("nest", "nest", "double")):
        run(folder, None, "synfast", "cl.txt", f"{name}.fits", "--nside", 16, "--seed", 1, "--order", order, "--precision", precision)
    map = healpy.read_map(folder / "ring.fits", field=None)
    map[:, rng.integers(0, map.shape[1], 100)] = healpy.UNSEEN
    healpy.write_map(folder / "holes.fits", map, column_names=["I_STOKES", "Q_STOKES", "U_STOKES"])
    run(folder, None, "map2alm", "ring.fits", "alm.fits", "--lmax", LMAX, "--weights", "ring")  # which are kept for later
    return folder


def run(folder, n_ranks, *arguments):
    """Returns what was printed. n_ranks: None for a process without mpirun."""
    launch = call if n_ranks is None else lambda *command, **options: mpirun(n_ranks, *command, **options)
    code, out, err = launch(ZONAL, *arguments, "--json", cwd=folder, XDG_CACHE_HOME=str(folder))
    assert code == 0, out + err
    return json.loads(out)


# Arguments, and the files that they write.
SAME_FILES = {
    "synfast": ("synfast cl.txt out.fits --nside 16 --seed 1 --fwhm 5deg --alm-out out2.fits --precision float", ["out.fits", "out2.fits"]),
    "synfast to nest order": ("synfast cl.txt out.fits --nside 32 --lmax 30 --mmax 20 --seed 7 --temperature-only --order nest", ["out.fits"]),
    "alm2map": ("alm2map alm.fits out.fits --nside 16 --lmax 20 --fwhm 10deg", ["out.fits"]),
    "map2alm": ("map2alm holes.fits out.fits --lmax 30", ["out.fits"]),
    "map2alm of nest order": ("map2alm nest.fits out.fits --mask mask.fits --remove-dipole --tolerance 1e-2 --weights ring", ["out.fits"]),
    "anafast": ("anafast holes.fits out.fits --mask mask.fits --remove-monopole --precision float", ["out.fits"]),
    "anafast of two maps": ("anafast ring.fits nest.fits out.fits --precision float", ["out.fits"]),
    "smooth": ("smooth holes.fits out.fits --fwhm 8deg", ["out.fits"]),
    "smooth around a mask": ("smooth nest.fits out.fits --fwhm 5deg --mask mask.fits --mask-mode renormalize --lmax 30", ["out.fits"]),
    "smooth one field": ("smooth ring.fits out.fits --field I --fwhm 5deg --weights ring --iter 1 --precision double", ["out.fits"]),
    "smooth by ring FFTs": ("smooth ring.fits out.fits --fwhm 20deg --method ring-fft --error 1e-3", ["out.fits"]),
    "smooth by sums around a mask": ("smooth holes.fits out.fits --field I --fwhm 12deg --method pixel-sum --error 1e-2 --mask mask.fits --mask-mode renormalize", ["out.fits"]),
    "smooth by a converged analysis": ("smooth ring.fits out.fits --fwhm 20deg --method auto --error 1e-4", ["out.fits"]),
    "smooth by a split": ("smooth ring.fits out.fits --fwhm 30deg --method split --error 1e-2 --theta-cut 60deg", ["out.fits"]),
    "smooth counts": ("smooth nest.fits out.fits --field I --fwhm 20deg --method ring-fft --normalize pixel --mask mask.fits", ["out.fits"]),
    "smooth alm": ("smooth alm.fits out.fits --fwhm 5deg --lmax 30", ["out.fits"]),
    "udgrade to coarse": ("udgrade holes.fits out.fits --nside 4 --pessimistic", ["out.fits"]),
    "udgrade to fine": ("udgrade nest.fits out.fits --nside 64 --combine sum", ["out.fits"]),
    "convert to nest order": ("convert holes.fits out.fits --order nest --precision double --set-coordsys G", ["out.fits"]),
    "convert to ring order": ("convert nest.fits out.fits --order ring --polcconv iau --precision float", ["out.fits"]),
    "convert alm": ("convert alm.fits out.fits --precision float", ["out.fits"]),
    "anafast of alm": ("anafast alm.fits out.fits --lmax 30 --precision float", ["out.fits"]),
}


FEW = ["synfast", "alm2map", "map2alm of nest order", "convert to nest order"]


def drop(report, keys):
    """What says nothing of the result, such as times."""
    for key in list(report):
        if any(key == one or key.endswith("_" + one) for one in keys):
            del report[key]
        elif isinstance(report[key], dict):
            drop(report[key], keys)
        elif isinstance(report[key], list):
            for one in report[key]:
                if isinstance(one, dict):
                    drop(one, keys)


@pytest.mark.parametrize("case, n_ranks", [("synfast", 1), *itertools.product(SAME_FILES, [3]), *itertools.product(FEW, [2, 4])])
def test_ranks_write_the_file_of_one_process(inputs, case, n_ranks):
    arguments, files = SAME_FILES[case]
    reports, contents = [], []
    for ranks in (None, n_ranks):
        for name in files:
            (inputs / name).unlink(missing_ok=True)
        reports.append(run(inputs, ranks, *arguments.split()))
        contents.append([(inputs / name).read_bytes() for name in files])
    assert contents[0] == contents[1]
    assert not list(inputs.glob(".zonal*"))
    assert [report.get("ranks") for report in reports] == [None, n_ranks if n_ranks > 1 else None]
    for report in reports:
        drop(report, ("seconds", "threads", "ranks", "costs", "memory_bytes"))
    assert reports[0] == reports[1]


def test_the_fastest_way_counts_messages_and_keeps_the_error(inputs):
    error = 1e-4
    arguments = ["smooth", "nest.fits", "--fwhm", "20deg", "--method", "auto", "--error", error, "--reference", "discrete", "--overwrite", "--explain"]
    alone = run(inputs, None, arguments[0], arguments[1], "alone.fits", *arguments[2:])
    report = run(inputs, 3, arguments[0], arguments[1], "ranks.fits", *arguments[2:])
    assert "shares" not in alone and [share["rank"] for share in report["shares"]] == [0, 1, 2]
    for part, of_one in zip(report["parts"], alone["parts"], strict=True):
        ways = [way for way in part["choices"] if "excluded" not in way]
        assert part["method"] == ways[0]["method"] and {"harmonic", "ring-fft"} <= {way["method"] for way in ways}
        assert all(0 < way["exchange_seconds"] < way["seconds"] for way in ways)
        assert [way["seconds"] for way in ways] == sorted(way["seconds"] for way in ways)
        assert not any("exchange_seconds" in way for way in of_one["choices"])
        assert part["certified_error"] <= error and of_one["certified_error"] <= error
    # Whichever way either took, it is that close to what both are certified from.
    maps = [healpy.read_map(inputs / name, field=None, dtype=np.float64) for name in ("alone.fits", "ranks.fits")]
    for rows in ([0], [1, 2]):
        rms = np.sqrt(np.sum(maps[0][rows] ** 2))
        assert np.sqrt(np.sum((maps[0][rows] - maps[1][rows]) ** 2)) <= 2 * error * rms


def test_shares_follow_measured_costs(inputs):
    arguments = [3, ZONAL, "alm2map", "alm.fits", "auto.fits", "--nside", 64, "--threads", 1, "--overwrite", "--explain", "--shares", "auto"]
    cache = inputs / "costs"
    cache.mkdir()
    code, _, err = mpirun(*arguments, cwd=inputs, XDG_CACHE_HOME=str(cache))
    assert code == 2 and "--shares auto: threads = 1, device = cpu: speeds follow from costs" in err and "zonal calibrate --threads 1" in err
    code, out, err = call(ZONAL, "calibrate", "--threads", 1, "--json", cwd=inputs, XDG_CACHE_HOME=str(cache))
    assert code == 0, err
    code, out, err = mpirun(*arguments, "--json", cwd=inputs, XDG_CACHE_HOME=str(cache))
    assert code == 0, err
    flops = [share["legendre_flops"] for share in json.loads(out)["shares"]]  # of one machine: all alike
    assert max(flops) < 1.1 * min(flops)
    assert json.loads(out)["costs"] != "default"


def test_shares_follow_the_numbers_given(inputs):
    arguments = ["alm2map", "alm.fits", "shares.fits", "--nside", 64, "--overwrite", "--explain"]
    even = run(inputs, 3, *arguments)
    uneven = run(inputs, 3, *arguments, "--shares", "1,1,4")
    assert even["ranks"] == uneven["ranks"] == 3
    for report in (even, uneven):
        assert [share["rank"] for share in report["shares"]] == [0, 1, 2]
        assert sum(share["pixels"] for share in report["shares"]) == 12 * 64**2
        assert sum(share["coefficients"] for share in report["shares"]) == (LMAX + 1) * (LMAX + 2) // 2
        assert all(share["bytes_sent"] > 0 and share["predicted_seconds"] > 0 for share in report["shares"])
    flops = [share["legendre_flops"] for share in uneven["shares"]]
    assert flops[2] > 2.5 * max(flops[:2])  # 4, less what one order more or less makes


@pytest.mark.parametrize("command", ["smooth holes.fits refused.fits --fwhm 5deg", "map2alm holes.fits refused.fits"])
def test_a_rank_counts_its_own_masked_pixels(inputs, command):
    code, out, err = mpirun(2, ZONAL, *command.split(), "--mask-mode", "error", cwd=inputs)
    assert code == 1 and out == ""
    assert "rank 0: holes.fits" in err and "pixels of this rank are UNSEEN or masked, the first is pixel" in err and "--mask-mode error" in err
