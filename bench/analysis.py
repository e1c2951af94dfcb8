"""Exact analysis on equidistant rings beside ducc0's analysis_2d, in one process, run in turn. JSON on standard output.

    python bench/analysis.py --lmax 255 511 1023 --spin 0 2 --threads 1 2 --runs 7 --output bench/results/NAME.json

As many rings as lmax takes, of 2 lmax + 2 pixels. ducc0 should be built for the machine: pip install --no-binary ducc0 ducc0.
"""

import ducc0
import numpy as np

import machine
import skies
import zonal

GRIDS = {"CC": (zonal.Grid.clenshaw_curtis, 2), "F1": (zonal.Grid.fejer1, 1)}


def measure(kind, lmax, spin, threads, runs):
    factory, more = GRIDS[kind]
    rings, n_phi = lmax + more, 2 * lmax + 2
    sht = zonal.SHT(factory(rings, n_phi), lmax, spin=spin, threads=threads)
    alm = skies.white_alm(lmax, spin)
    sky = sht.synthesize(alm).reshape(len(alm), -1)
    common = dict(map=sky.reshape(len(sky), rings, n_phi), lmax=lmax, spin=spin, geometry=kind, nthreads=threads)
    back, peer_back = np.zeros_like(alm), np.zeros_like(alm)
    result = {"grid": kind, "lmax": lmax, "spin": spin, "threads": threads}
    given, returned = (sky, back) if spin else (sky[0], back[0])
    result["analysis"] = machine.paired(lambda: sht.analyze(given, returned),
                                        lambda: ducc0.sht.analysis_2d(alm=peer_back, **common), runs)
    result["largest_error"] = {"zonal": float(abs(back - alm).max()), "ducc0": float(abs(peer_back - alm).max())}
    return result


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--lmax", type=int, nargs="+", default=[255, 511, 1023])
    parser.add_argument("--spin", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"what": "exact analysis on equidistant rings beside ducc0", "machine": machine.describe("ducc0", "numpy"),
              "simd_target": machine.simd(),
              "results": [measure(kind, lmax, spin, threads, options.runs) for kind in GRIDS for lmax in options.lmax
                          for spin in options.spin for threads in options.threads]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
