"""zonal smooth --method auto --reference continuous with a certified error, beside healpy.smoothing and beside the window on a
least-squares analysis that has converged to 1e-8, by ducc0, up to the same lmax. JSON on standard output.

    OMP_NUM_THREADS=2 python bench/certified_smoothing.py --threads 2 --runs 3 --output FILE

Skies of I, Q and U with C_l = 1/(l(l+1)) up to 2 nside, with and without white noise of half their rms. Seconds are those of planning and
convolution, from array to array: files are not read.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import healpy
import numpy as np

import attack_maps as attack
import machine
from certificate_attacks import ZONAL, least_squares, times_window


def make_sky(grid, noise, rng):
    lmax = 2 * grid.nside
    amplitude = lambda l: np.where(l > 1, 1 / np.sqrt(np.maximum(1.0, l * (l + 1.0))), 0)
    maps = [grid.synthesize(attack.random_alm(lmax, rng, amplitude), lmax)]
    e_and_b = np.concatenate([attack.random_alm(lmax, rng, amplitude) for _ in range(2)])
    maps.append(grid.synthesize(0.1 * e_and_b, lmax, 2))
    maps = np.concatenate(maps)
    if noise:
        maps += 0.5 * maps.std(axis=1)[:, None] * rng.normal(size=maps.shape)
    return maps


def converged(grid, maps, fwhm, lmax, spin):
    sigma = fwhm / np.sqrt(8 * np.log(2))
    window = attack.gaussian(np.arange(lmax + 1), sigma, spin)
    alm = least_squares(grid, maps, lmax, spin, tolerance=1e-8)
    return grid.synthesize(times_window(alm, [window] * len(maps), lmax), lmax, spin)


def run(folder, options):
    arguments = [ZONAL, "smooth", "map.fits", "out.fits", "--fwhm", options.fwhm, "--method", "auto", "--reference", "continuous",
                 "--error", str(options.error), "--threads", str(options.threads), "--json", "--overwrite"]
    result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    report = json.loads(result.stdout)
    return sum(part["plan_seconds"] + part["convolution_seconds"] for part in report["parts"]), report["parts"]


def measure(nside, noise, folder, options):
    grid = attack.Grid(nside, threads=options.threads)
    maps = make_sky(grid, noise, np.random.default_rng(nside))
    healpy.write_map(folder / "map.fits", list(maps), dtype=np.float64, overwrite=True,
                     column_names=["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"])
    fwhm = np.radians(float(options.fwhm.removesuffix("deg")))
    seconds, peer_seconds = [], []
    for _ in range(options.runs):
        own, parts = run(folder, options)
        start = time.perf_counter()
        healpy.smoothing(maps, fwhm=fwhm, iter=3)
        peer_seconds.append(time.perf_counter() - start)
        seconds.append(own)
    found = healpy.read_map(folder / "out.fits", field=None, dtype=np.float64)
    row = {"nside": nside, "noise": noise, "lmax": [part["lmax"] for part in parts],
           "iterations": [part["iterations"] for part in parts], "attempts": [part.get("attempts", 1) for part in parts],
           "certified_error": [part["certified_error"] for part in parts], "seconds": float(np.median(seconds)),
           "peer_seconds": float(np.median(peer_seconds)),
           "speed_over_peer": float(np.median(np.array(peer_seconds) / np.array(seconds))), "error": []}
    for part, rows, spin in zip(parts, (slice(0, 1), slice(1, 3)), (0, 2)):
        truth = converged(grid, maps[rows], fwhm, part["lmax"], spin)
        row["error"].append(float(np.sqrt(np.mean((found[rows] - truth) ** 2) / np.mean(truth**2))))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, nargs="+", default=[128, 256, 512, 1024])
    parser.add_argument("--fwhm", default="1deg")
    parser.add_argument("--error", type=float, default=1e-4)
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for nside in options.nside:
            for noise in (False, True):
                results.append(measure(nside, noise, pathlib.Path(folder), options))
    machine.write({"what": "smoothing with a certified error beside healpy", "machine": machine.describe("healpy", "ducc0", "numpy"),
                   **settings, "results": results}, options.output)


if __name__ == "__main__":
    main()
