"""Synthesis and adjoint beside ducc0, in one process, run in turn. JSON on standard output.

    python bench/sht.py --nside 1024 2048 --spin 0 2 --threads 1 2 --runs 7 --output bench/results/NAME.json
    python bench/sht.py --nside --gauss 512 1024 --fejer1 512 1024 --spin 0 2

HEALPix with lmax = 2 nside, and Gauss-Legendre and Fejer's rings of the first kind as few as lmax + 1, with 2 lmax + 2 pixels. Calls of
zonal.SHT take some microseconds more than the library alone, which `zonal-bench sht` measures, with the share of the multiply-adds'
peak. ducc0 should be built for the machine: pip install --no-binary ducc0 ducc0. For records without AVX-512 Zonal was built by
pip install -C cmake.define.ZONAL_ONLY_TARGET=HWY_AVX2 . and ducc0 kept it. --one-shot: a zonal.SHT is made inside each of our calls; the
first, which is not counted, fills the caches. --cpu-time: of one thread, on a machine with other work.
"""

import time

import ducc0
import numpy as np

import machine
import skies
import zonal


def healpix(nside):
    """What makes Zonal's grid, lmax, the shape of a map, and ducc0's synthesis and adjoint."""
    rings = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    return (lambda: zonal.Grid.healpix(nside), 2 * nside, (12 * nside**2,),
            lambda **options: ducc0.sht.synthesis(**rings, **options),
            lambda **options: ducc0.sht.adjoint_synthesis(**rings, **options))


def rings_of(make, geometry):
    def grid(n):
        return (lambda: make(n, 2 * n), n - 1, (n, 2 * n),
                lambda **options: ducc0.sht.synthesis_2d(geometry=geometry, **options),
                lambda **options: ducc0.sht.adjoint_synthesis_2d(geometry=geometry, **options))
    return grid


GRIDS = {"nside": healpix, "gauss": rings_of(zonal.Grid.gauss_legendre, "GL"), "fejer1": rings_of(zonal.Grid.fejer1, "F1")}


def measure(kind, size, spin, threads, options):
    make_grid, lmax, shape, synthesis, adjoint = GRIDS[kind](size)

    def make():
        return zonal.SHT(make_grid(), lmax, spin=spin, threads=threads)

    clock = time.process_time if options.cpu_time else time.perf_counter
    alm = skies.white_alm(lmax, spin)
    sht = make()
    get = make if options.one_shot else lambda: sht
    sky, peer_sky = (np.zeros((len(alm), int(np.prod(shape)))) for _ in range(2))
    shaped, peer_shaped = sky.reshape(-1, *shape), peer_sky.reshape(-1, *shape)
    back, peer_back = np.zeros_like(alm), np.zeros_like(alm)
    common = dict(lmax=lmax, spin=spin, nthreads=threads)
    result = {kind: size, "lmax": lmax, "spin": spin, "threads": threads, "one_shot": options.one_shot,
              "workspace_bytes": sht.workspace_bytes}
    result["synthesis"] = machine.paired(lambda: get().synthesize(alm, sky),
                                         lambda: synthesis(alm=alm, map=peer_shaped, **common), options.runs, clock)
    result["adjoint"] = machine.paired(lambda: get().adjoint(sky, back),
                                       lambda: adjoint(map=shaped, alm=peer_back, **common), options.runs, clock)
    result["largest_difference_over_rms"] = {"synthesis": float(np.abs(sky - peer_sky).max() / sky.std()),
                                             "adjoint": float(np.abs(back - peer_back).max() / np.abs(back).std())}
    return result


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="*", default=[1024])
    parser.add_argument("--gauss", type=int, nargs="*", default=[])
    parser.add_argument("--fejer1", type=int, nargs="*", default=[])
    parser.add_argument("--spin", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--one-shot", action="store_true")
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"what": "spherical harmonic transform beside ducc0", "machine": machine.describe("ducc0", "numpy"),
              "simd_target": machine.simd(), "clock": "CPU time" if options.cpu_time else "wall time",
              "results": [measure(kind, size, spin, threads, options) for kind in GRIDS for size in getattr(options, kind)
                          for spin in options.spin for threads in options.threads]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
