"""Distances to masked pixels beside healpy.dist2holes, in turn: the galactic plane and 400 discs masked. JSON on standard output.

    python bench/masks.py --nside 1024 2048 --threads 2 --output bench/results/NAME.json

--cpu-time: of all threads, on a machine with other work. healpy has no option for its threads: OMP_NUM_THREADS.
"""
import time

import healpy
import numpy as np

import machine
import zonal
import zonal.healpy


def holes(nside):
    """1 where masked, as healpy has it."""
    rng = np.random.default_rng(1)
    z = np.array(zonal.healpy.pix2vec(nside, np.arange(12 * nside**2)))[2]
    masked = np.abs(z) < 0.17
    for _ in range(400):
        middle = zonal.healpy.pix2vec(nside, rng.integers(masked.size))
        masked[zonal.healpy.query_disc(nside, middle, 0.03 * rng.random())] = True
    return masked.astype(np.float64)


def measure(nside, limit, options):
    masked = holes(nside)
    clock = time.process_time if options.cpu_time else time.perf_counter
    with zonal.threads(options.threads):
        times = machine.paired(lambda: zonal.healpy.dist2holes(masked, limit), lambda: healpy.dist2holes(masked, limit), options.runs, clock)
        difference = np.abs(zonal.healpy.dist2holes(masked, limit) - healpy.dist2holes(masked, limit)).max()
    return {"nside": nside, "maxdist_rad": limit, "masked": float(masked.mean()), **times, "largest_difference_rad": float(difference)}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[1024, 2048])
    parser.add_argument("--cpu-time", action="store_true")
    options, settings = machine.parse_options(parser)
    results = [measure(nside, limit, options) for nside in options.nside for limit in (np.pi, np.radians(2))]
    machine.write({"what": "distances to masked pixels beside healpy", "machine": machine.describe("healpy", "numpy"),
                   "simd_target": machine.simd(), **settings, "results": results}, options.output)


if __name__ == "__main__":
    main()
