"""Attacks on --error: random maps, kernels, bounds and methods of zonal smooth, each compared with an independent
reference (transforms of ducc0, sums in NumPy). No exit status 0 may come with an error above --error, and no certified
error may be below the true one. JSON on standard output; the exit status is 1 where one is.

    python bench/certificate_attacks.py --cases 2000 --seed 1
    python bench/certificate_attacks.py --cases 200 --ordinary
    PYTHONPATH=python python bench/certificate_attacks.py --cases 3000 --singular

--ordinary draws skies that people smooth (white noise, CMB, foregrounds, photons) and Gaussians that leave more of
them than rounding: of these none should be refused, and few planned twice.
--singular attacks plans of the package zonal on small grids, HEALPix of nside 1 to 12 and others, by singular vectors of
what they do less the reference (attack_operators.py).

Needs NumPy, SciPy, ducc0, healpy and the program (ZONAL, or build/bin/zonal).
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import healpy
import numpy as np

import attack_maps as attack
import machine
from programs import ZONAL

# Methods and references, and how often they come up.
WAYS = (("auto", "discrete"), ("ring-fft", "discrete"), ("pixel-sum", "discrete"), ("split", "discrete"),
        ("auto", "continuous"), ("harmonic", "discrete"), ("harmonic", "continuous"))
SHARES = np.array([8, 6, 6, 3, 8, 0.5, 1])
# A pixel method need not do more products than this: 2,000 cases shall end.
MOST_PRODUCTS = 3e9
# Nor sum a kernel that never fades over all pairs of pixels.
MOST_RINGING_NSIDE = 64


def times_window(alm, windows, lmax):
    l = attack.degrees_of(lmax)
    return np.array([a * np.pad(w, (0, max(0, lmax + 1 - len(w))))[l] for a, w in zip(alm, windows)])


def sum_over_pixels(grid, maps, windows):
    """sum_p' w K f by the whole window: all its degrees, which pixels alias."""
    lmax = max(len(w) for w in windows) - 1
    spin = 2 if len(maps) == 2 else 0
    return grid.synthesize(times_window(grid.adjoint(maps * grid.weight, lmax, spin), windows, lmax), lmax, spin)


def sum_by_profile(grid, maps, profile):
    """The same by the distances of all pixels, with the interpolation that docs/guide/kernels.md defines."""
    from scipy.interpolate import PchipInterpolator
    theta, value = profile
    curve = PchipInterpolator(4 * np.sin(theta / 2) ** 2, value)
    vectors = np.array(healpy.pix2vec(grid.nside, np.arange(grid.npix))).T
    result = np.empty_like(maps)
    for first in range(0, grid.npix, 256):
        square = ((vectors[first:first + 256, None, :] - vectors[None]) ** 2).sum(axis=2)
        inside = square <= 4 * np.sin(theta[-1] / 2) ** 2
        weights = np.zeros_like(square)
        weights[inside] = curve(square[inside]) * grid.weight
        result[:, first:first + 256] = maps @ weights.T
    return result


def least_squares(grid, maps, lmax, spin, tolerance=1e-15):
    """alm with the least |f - S a|, by conjugate gradients to rounding."""
    twice = np.where(np.arange(len(attack.degrees_of(lmax))) > lmax, 2.0, 1.0)
    dot = lambda a, b: (twice * (a.conj() * b).real).sum()
    alm = np.zeros((len(maps), twice.size), complex)
    residual = grid.adjoint(maps * grid.weight, lmax, spin)
    step, square = residual.copy(), dot(residual, residual)
    start = square
    for _ in range(1000):
        if square <= tolerance**2 * start:
            break
        image = grid.adjoint(grid.synthesize(step, lmax, spin) * grid.weight, lmax, spin)
        length = square / dot(step, image)
        alm += length * step
        residual -= length * image
        square, before = dot(residual, residual), square
        step = residual + square / before * step
    return alm


def reference(case, grid, maps, windows, profile):
    if case["reference"] == "continuous":
        spin, lmax = (2 if len(maps) == 2 else 0), case["lmax"]
        return grid.synthesize(times_window(least_squares(grid, maps, lmax, spin), [w[:lmax + 1] for w in windows], lmax),
                               lmax, spin)
    return sum_by_profile(grid, maps, profile) if profile else sum_over_pixels(grid, maps, windows)


def draw(seed, largest_nside, ordinary=False):
    rng = np.random.default_rng(seed)
    nsides = [n for n in (16, 16, 32, 32, 64, 64, 128, 256) if n <= largest_nside]
    way, reference = WAYS[rng.choice(len(WAYS), p=SHARES / SHARES.sum())]
    spin = 2 if rng.random() < 0.35 else 0
    if ordinary:
        way, reference = (("auto", "discrete"), ("ring-fft", "discrete"), ("pixel-sum", "discrete"), ("auto", "continuous"))[rng.integers(4)]
    case = {"seed": seed, "nside": int(rng.choice(nsides)), "fields": "QU" if spin else "I",
            "kernel": "gaussian" if ordinary else str(rng.choice(attack.KERNELS)),
            "maps": [str(rng.choice(attack.ORDINARY if ordinary else attack.MAPS)) for _ in range(1 + spin // 2)],
            "error": float(10 ** rng.uniform(-8, -2)), "way": way, "reference": reference,
            "mask": bool(rng.random() < 0.1)}
    if case["kernel"] == "profile":
        if spin or case["reference"] == "continuous" or way in ("harmonic", "split"):
            case["kernel"] = "gaussian"
        else:
            case["nside"] = 16
    # From 2.45 nside on an analysis need not converge: only where the reference itself can.
    degrees = rng.uniform(0.6, 2.95 if case["nside"] == 16 and not ordinary else 2.35)
    case["lmax"] = int(degrees * case["nside"]) if case["reference"] == "continuous" else 3 * case["nside"] - 1
    return case, rng


def run(case, rng, folder):
    """Adds to the case what came of it."""
    grid, spin = attack.Grid(case["nside"]), 2 if case["fields"] == "QU" else 0
    options, windows, profile, scale = attack.kernel(case["kernel"], case["nside"], spin, rng, folder)
    case["width_pixels"] = scale / np.sqrt(np.pi / 3) * case["nside"]
    if case["way"] == "pixel-sum" and min(2, 6 * scale) ** 2 / 4 * grid.npix**2 > MOST_PRODUCTS:
        case["way"] = "ring-fft"
    if case["kernel"] == "ringing beam" and case["nside"] > MOST_RINGING_NSIDE and case["way"] in ("pixel-sum", "ring-fft"):
        case["way"] = "auto"
    maps = np.array([attack.field(kind, grid, scale, rng) for kind in case["maps"]])
    mask = np.where(rng.random(grid.npix) < 0.3, 0.0, 1.0) if case["mask"] else None
    names = ["Q_POLARISATION", "U_POLARISATION"] if spin else ["TEMPERATURE"]
    healpy.write_map(folder / "map.fits", list(maps), dtype=np.float64, column_names=names, overwrite=True)
    arguments = ["smooth", "map.fits", "out.fits", *options, "--method", case["way"], "--reference", case["reference"],
                 "--error", repr(case["error"]), "--json", "--threads", "1", "--overwrite"]
    if case["reference"] == "continuous":
        arguments += ["--lmax", str(case["lmax"])]
    if mask is not None:
        healpy.write_map(folder / "mask.fits", mask, dtype=np.float64, overwrite=True)
        arguments += ["--mask", "mask.fits", "--fill-masked"]
    home = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    process = subprocess.run([ZONAL, *map(str, arguments)], cwd=folder, capture_output=True, text=True, env=home, timeout=600)
    case["exit"] = process.returncode
    if process.returncode != 0:
        case["message"] = process.stderr.strip()[:300]
        return case
    report = json.loads(process.stdout)
    case["attempts"] = report.get("attempts", 1)
    for key in ("certified_error", "method"):
        if key in report:
            case[key if key != "method" else "taken"] = report[key]
    found = np.atleast_2d(healpy.read_map(folder / "out.fits", field=None, dtype=np.float64))
    known = maps if mask is None else maps * mask
    judge(case, found, reference(case, grid, known, windows, profile), maps)
    if not case.get("certified", True) and not spin and not profile and case["reference"] == "discrete":
        case["in_extended_precision"] = True  # the reference may have rounded more than zonal
        judge(case, found, grid.sum_in_extended_precision(known[0], windows[0])[None], maps, rounding_of_truth=1e-15)
    return case


def judge(case, found, truth, maps, rounding_of_truth=3e-13):
    """rounding_of_truth: of double precision and transforms, over the rms of the input."""
    rms = lambda values: float(np.sqrt(np.mean(np.square(values))))
    rounding = rounding_of_truth * rms(maps)
    case["true_error"] = max(0.0, rms(found - truth) - rounding) / max(rms(truth), 1e-300)
    case["output_over_input"] = rms(truth) / rms(maps)
    case["kept"] = bool(case["true_error"] <= case["error"])
    if "certified_error" in case:
        case["certified"] = bool(case["true_error"] <= case["certified_error"])


def attack_once(seed, largest_nside=256, ordinary=False):
    case, rng = draw(seed, largest_nside, ordinary)
    with tempfile.TemporaryDirectory() as folder:
        try:
            return run(case, rng, pathlib.Path(folder))
        except subprocess.TimeoutExpired:
            return {**case, "exit": None, "message": "took more than 600 s"}


def summary(cases):
    done = [case for case in cases if case["exit"] == 0]
    missed = [case for case in done if not case["kept"]]
    certified = [case for case in done if "certified" in case]
    slack = [case["certified_error"] / case["true_error"] for case in certified if case["true_error"] > 1e-12]
    return {"cases": len(cases), "exit_0": len(done), "exit_1": sum(case["exit"] == 1 for case in cases),
            "refused": sum(case["exit"] not in (0, 1) for case in cases), "missed": len(missed), "twice": sum(case["attempts"] > 1 for case in done),
            "certified": len(certified), "false_certificates": sum(not case["certified"] for case in certified),
            "slack_median": float(np.median(slack)) if slack else None,
            "missed_by_way": {way: sum(f"{case['way']} {case['reference']}" == way for case in missed)
                              for way in sorted({f"{case['way']} {case['reference']}" for case in missed})},
            "worst": sorted(missed, key=lambda case: -case["true_error"] / case["error"])[:5]}


def summary_of_singular(cases):
    """bound_used: the largest share of each part's bound that an error has used, where the part is most of the bound."""
    compared = [case for case in cases if "refused" not in case]
    used = {}
    for case in compared:
        parts = case.get("parts", {})
        part = max(parts, key=parts.get, default=None)
        if part and parts[part] > 0.7 * sum(parts.values()):
            name = f"{case['taken']}, {part}" + (" of float maps" if case["float32"] else "")
            used.setdefault(name, []).append(case["worst"])
    false = [case for case in compared if not case["certified"]]
    count = lambda key: {name: sum(case[key] == name for case in compared) for name in sorted({case[key] for case in compared})}
    return {"cases": len(cases), "compared": len(compared), "refused": len(cases) - len(compared), "missed": 0,
            "false_certificates": len(false), "by_method": count("taken"), "by_kernel": count("kernel"),
            "healpix": sum(case["grid"].startswith("healpix") for case in compared),
            "bound_used": {name: {"cases": len(values), "largest": max(values)} for name, values in sorted(used.items())},
            "worst": sorted(false, key=lambda case: -case["worst"])[:5]}


def singular_attacks(seeds, workers):
    import attack_operators
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        return list(pool.map(attack_operators.singular_case, seeds))


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nside", type=int, default=256, help="largest")
    parser.add_argument("--ordinary", action="store_true")
    parser.add_argument("--singular", action="store_true")
    parser.add_argument("--list", action="store_true", help="all cases, not only their summary")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    seeds = [options.seed * 1_000_000 + i for i in range(options.cases)]
    if options.singular:
        cases = singular_attacks(seeds, options.workers)
        result = summary_of_singular(cases)
    else:
        with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
            cases = list(pool.map(attack_once, seeds, [options.nside] * len(seeds),
                                  [options.ordinary] * len(seeds)))
        result = summary(cases)
    record = {"machine": machine.describe("numpy", "ducc0", "healpy"), "options": vars(options), "summary": result}
    json.dump({**record, "cases": cases} if options.list else record, sys.stdout, indent=1)
    return 1 if result["missed"] or result["false_certificates"] else 0


if __name__ == "__main__":
    sys.exit(main())
