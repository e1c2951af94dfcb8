"""Lensed I, Q and U on HEALPix beside lenspyx, in one process, run in turn. JSON on standard output.

    python bench/lensing.py --nside 512 1024 --error 1e-6 --threads 1 --cpu-time --output bench/results/NAME.json
    python bench/lensing.py --nside 2048 --error 1e-5 --threads 16 --device cuda --output bench/results/NAME.json

lmax is 2 nside, of the sky and of the potential; the deflections have an rms of 2.7 arcmin. Each starts from alm and makes deflections,
displaced points and maps: zonal.lens and lenspyx.alm2lenmap, which makes T with one call and Q and U with another, and is given the error as
its epsilon. --cpu-time: of all threads together, on a machine with other work. What each reached is there, too, of 300 pixels beside
direct sums (each a ring of one pixel, at the points that geodesics lead to), over the largest value. ducc0, on which lenspyx works, should be
built for the machine: pip install --no-binary ducc0 ducc0.

With --device cuda, Zonal computes on a GPU from arrays of the host, and lenspyx on the threads beside it; "on_the_gpu" has the seconds of
zonal.Lensing's calls on CuPy arrays, each the least of the runs.
"""

import time
import warnings

import lenspyx
import numpy as np

import machine
import skies
import zonal


def potential(lmax):
    """phi_lm whose deflections have an rms of 2.7 arcmin and a red spectrum."""
    l = np.arange(lmax + 1.0)
    c_l = np.where(l > 0, np.maximum(l * (l + 1), 1) ** -2.8, 0)
    power = (c_l * (2 * l + 1) * l * (l + 1)).sum() / (4 * np.pi)
    return zonal.synalm(c_l * np.radians(2.7 / 60) ** 2 / power, seed=7)


def direct(sky, phi, lmax, nside, some):
    grid = zonal.Grid.healpix(nside)
    theta, lon, gamma = zonal.displace(*(part[some] for part in grid.angles()), zonal.gradient(phi, grid)[:, some])
    rings = zonal.Grid(theta, np.ones(some.size, int), 1.0, lon)
    q, u = zonal.SHT(rings, lmax, spin=2).synthesize(sky[1:])
    p = np.exp(2j * gamma) * (q + 1j * u)
    return np.stack([zonal.SHT(rings, lmax).synthesize(sky[0]), p.real, p.imag])


def measure(nside, error, threads, options):
    clock = time.process_time if options.cpu_time else time.perf_counter
    lmax = 2 * nside
    sky = np.concatenate([skies.white_alm(lmax, 0), skies.white_alm(lmax, 2)])
    phi = potential(lmax)
    l = np.arange(lmax + 1.0)
    dlm = zonal.almxfl(phi, np.sqrt(l * (l + 1)))
    run = lambda: zonal.lens(sky, phi, nside, error=error, threads=threads, device=options.device)
    peer = lambda: lenspyx.alm2lenmap(list(sky), dlm, geometry=("healpix", {"nside": nside}), epsilon=error, nthreads=threads)
    some = np.random.default_rng(1).choice(12 * nside**2, 300, replace=False)
    truth = direct(sky, phi, lmax, nside, some)
    reached = [float(abs(np.stack(make())[:, some] - truth).max() / abs(truth).max()) for make in (run, peer)]
    result = {"nside": nside, "lmax": lmax, "error": error, "threads": threads, "lensing": machine.paired(run, peer, options.runs, clock),
              "error_reached": {"zonal": reached[0], "lenspyx": reached[1]}}
    if options.device != "cpu":
        result["on_the_gpu"] = on_the_gpu(sky, phi, lmax, nside, error, options)
    return result


def on_the_gpu(sky, phi, lmax, nside, error, options):
    import cupy

    there = cupy.asarray(sky)
    made = lambda: zonal.Lensing(phi, nside, lmax, fields="TEB", error=error, device=options.device)
    lensing = made()
    values = lensing.lens(there)
    of_t = zonal.Lensing(phi, nside, lmax, fields="T", error=error, device=options.device)
    ways = {"plan": made, "lens": lambda: lensing.lens(there), "lens_of_T": lambda: of_t.lens(there[0]),
            "adjoint": lambda: lensing.adjoint(values), "differentiate": lambda: lensing.differentiate(there, values)}
    return {name: min(seconds) for name, seconds in machine.in_turn(ways, options.runs).items()}


def main():
    warnings.simplefilter("ignore")
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[512, 1024])
    parser.add_argument("--error", type=float, nargs="+", default=[1e-6])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--cpu-time", action="store_true", help="time of all threads together instead of wall time")
    parser.add_argument("--device", default="cpu", help="where Zonal computes")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"what": "lensed I, Q and U beside lenspyx", "machine": machine.describe("ducc0", "lenspyx", "numpy"), "simd_target": machine.simd(),
              "clock": "CPU time" if options.cpu_time else "wall time",
              "device": machine.model_of(options.device),
              "results": [measure(nside, error, threads, options) for nside in options.nside for error in options.error
                          for threads in options.threads]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
