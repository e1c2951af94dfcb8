"""Synthesis and adjoint on HEALPix beside ducc0, in one process, run in turn. JSON on standard output.

    python bench/sht.py --nside 1024 2048 --spin 0 2 --threads 1 2 --runs 7 --output bench/results/NAME.json
    python bench/sht.py --nside 512 1024 --one-shot

With --one-shot a zonal.SHT is made inside each of our calls; the first, which is not counted, fills the caches.

Calls of zonal.SHT take some microseconds more than the library alone, which `zonal-bench sht` measures, with the share of the
multiply-adds' peak. ducc0 should be built for the machine: pip install --no-binary ducc0 ducc0. For records without AVX-512 Zonal
was built by pip install -C cmake.define.ZONAL_ONLY_TARGET=HWY_AVX2 . and ducc0 kept it.
"""

import ducc0
import numpy as np

import machine
import skies
import zonal


def measure(nside, spin, threads, runs, one_shot):
    lmax = 2 * nside
    alm = skies.white_alm(lmax, spin)
    def make():
        return zonal.SHT(zonal.Grid.healpix(nside), lmax, spin=spin, threads=threads)

    sht = make()
    get = make if one_shot else lambda: sht
    sky, peer_sky = (np.zeros((len(alm), 12 * nside**2)) for _ in range(2))
    back, peer_back = np.zeros_like(alm), np.zeros_like(alm)
    common = dict(lmax=lmax, spin=spin, nthreads=threads, **ducc0.healpix.Healpix_Base(nside, "RING").sht_info())
    result = {"nside": nside, "lmax": lmax, "spin": spin, "threads": threads, "one_shot": one_shot,
              "workspace_bytes": sht.workspace_bytes}
    result["synthesis"] = machine.paired(lambda: get().synthesize(alm, sky),
                                         lambda: ducc0.sht.synthesis(alm=alm, map=peer_sky, **common), runs)
    result["adjoint"] = machine.paired(lambda: get().adjoint(sky, back),
                                       lambda: ducc0.sht.adjoint_synthesis(map=sky, alm=peer_back, **common), runs)
    result["largest_difference_over_rms"] = {"synthesis": float(np.abs(sky - peer_sky).max() / sky.std()),
                                             "adjoint": float(np.abs(back - peer_back).max() / np.abs(back).std())}
    return result


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[1024])
    parser.add_argument("--spin", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--one-shot", action="store_true")
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"what": "spherical harmonic transform beside ducc0", "machine": machine.describe("ducc0", "numpy"),
              "simd_target": machine.simd(),
              "results": [measure(nside, spin, threads, options.runs, options.one_shot) for nside in options.nside for spin in options.spin
                          for threads in options.threads]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
