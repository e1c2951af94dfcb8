"""Transforms at a million points beside ducc0, in one process, run in turn. JSON on standard output.

    python bench/points.py --lmax 511 1023 --error 1e-6 1e-12 --spin 0 --threads 1 2 --cpu-time --output bench/results/NAME.json

The points are the centres of HEALPix pixels, in the order of rings and shuffled. ducc0 sorts them in every call: "outside" has Zonal's plan
made before, "inside" in each call. Each is asked for the same error, which ducc0's epsilon promises in its own way; what each reached
is there too, of 300 points beside direct sums (each a ring of one pixel), over the largest value. ducc0 should be built for the machine:
pip install --no-binary ducc0 ducc0. --cpu-time: of all threads together, on a machine with other work.
"""

import time

import ducc0
import numpy as np

import machine
import skies
import zonal


def measure(lmax, error, order, spin, threads, options):
    clock = time.process_time if options.cpu_time else time.perf_counter
    rng = np.random.default_rng(1)
    theta, phi = zonal.Grid.healpix(options.nside).angles()
    if order == "shuffled":
        turn = rng.permutation(theta.size)
        theta, phi = theta[turn], phi[turn]
    loc = np.stack([theta, phi], 1)
    alm = skies.white_alm(lmax, spin)
    given = alm if spin else alm[0]
    common = dict(spin=spin, lmax=lmax, loc=loc, epsilon=error, nthreads=threads)

    def make():
        return zonal.PointTransform(theta, phi, lmax, spin, error, threads=threads)

    def peer():
        return ducc0.sht.synthesis_general(alm=alm, **common)

    transform = make()
    values, peer_values = np.atleast_2d(transform.synthesize(given)), peer()
    sent = values if spin else values[0]
    result = {"lmax": lmax, "error": error, "order": order, "spin": spin, "threads": threads, "n_points": theta.size,
              "n_samples": transform.n_samples, "width": transform.width}
    for name, get in (("outside", lambda: transform), ("inside", make)):
        result[name] = {
            "synthesis": machine.paired(lambda: get().synthesize(given), peer, options.runs, clock),
            "adjoint": machine.paired(lambda: get().adjoint(sent), lambda: ducc0.sht.adjoint_synthesis_general(map=values, **common),
                                      options.runs, clock)}
    some = rng.choice(theta.size, 300, replace=False)
    truth = zonal.SHT(zonal.Grid(theta[some], np.ones(300, int), 1.0, phi[some]), lmax, spin=spin).synthesize(given)
    largest = abs(np.atleast_2d(values)).max()
    result["error_reached"] = {"zonal": float(abs(values[:, some] - truth).max() / largest),
                               "ducc0": float(abs(peer_values[:, some] - truth).max() / largest)}
    return result


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=289, help="of the HEALPix pixels whose centres are the points: a million")
    parser.add_argument("--lmax", type=int, nargs="+", default=[511, 1023])
    parser.add_argument("--error", type=float, nargs="+", default=[1e-6, 1e-12])
    parser.add_argument("--order", nargs="+", choices=["rings", "shuffled"], default=["rings", "shuffled"])
    parser.add_argument("--spin", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"what": "transforms at points beside ducc0", "machine": machine.describe("ducc0", "numpy"), "simd_target": machine.simd(),
              "clock": "CPU time" if options.cpu_time else "wall time",
              "results": [measure(lmax, error, order, spin, threads, options) for spin in options.spin for lmax in options.lmax
                          for error in options.error for order in options.order for threads in options.threads]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
