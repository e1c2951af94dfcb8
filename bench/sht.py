"""Synthesis and adjoint on HEALPix beside ducc0, in one process, run in turn. JSON on standard output.

    python bench/sht.py --nside 1024 2048 --spin 0 2 --threads 1 2 --runs 7 --output bench/results/NAME.json

ducc0 should be built for the machine: pip install --no-binary ducc0 ducc0
"""
import argparse

import ducc0
import numpy as np

import machine
import zonal_shim


def random_alm(maps, components, lmax, spin, rng):
    n_alm = (lmax + 1) * (lmax + 2) // 2
    alm = rng.normal(size=(maps, components, n_alm)) + 1j * rng.normal(size=(maps, components, n_alm))
    alm[..., :lmax + 1] = alm[..., :lmax + 1].real
    offset = 0
    for m in range(spin + 1):  # nothing below l = spin
        alm[..., offset:offset + max(0, spin - m)] = 0
        offset += lmax + 1 - m
    return alm


def measure(nside, spin, threads, runs):
    lmax, components = 2 * nside, 1 if spin == 0 else 2
    rng = np.random.default_rng(1)
    alm = random_alm(1, components, lmax, spin, rng)
    geometry = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    plan = zonal_shim.Plan("healpix", nside, lmax=lmax, spin=spin, threads=threads)
    sky, peer_sky = np.zeros((1, components, 12 * nside**2)), np.zeros((components, 12 * nside**2))
    back, peer_back = np.zeros_like(alm), np.zeros_like(alm[0])
    common = dict(lmax=lmax, spin=spin, nthreads=threads, **geometry)
    result = {"nside": nside, "lmax": lmax, "spin": spin, "threads": threads,
              "legendre_flops": plan.legendre_flops, "workspace_bytes": plan.workspace_bytes}
    result["synthesis"] = machine.paired(
        lambda: plan.synthesize(alm, sky),
        lambda: ducc0.sht.synthesis(alm=alm[0], map=peer_sky, **common), runs)
    result["adjoint"] = machine.paired(
        lambda: plan.adjoint(sky, back),
        lambda: ducc0.sht.adjoint_synthesis(map=sky[0], alm=peer_back, **common), runs)
    result["largest_difference_over_rms"] = {
        "synthesis": float(np.abs(sky[0] - peer_sky).max() / sky.std()),
        "adjoint": float(np.abs(back[0] - peer_back).max() / np.abs(back).std())}
    stages = {"synthesis": lambda: plan.synthesize(alm, sky), "adjoint": lambda: plan.adjoint(sky, back)}
    peaks = [zonal_shim.fma_flops(threads)]
    for stage, run in stages.items():
        result[stage]["legendre_seconds"] = min((run(), plan.legendre_seconds())[1] for _ in range(3))
        peaks.append(zonal_shim.fma_flops(threads))
    result["fma_peak_flops"] = max(peaks)  # as others may have had a CPU for a while
    for stage in stages:
        result[stage]["legendre_share_of_fma_peak"] = (
            plan.legendre_flops / result[stage]["legendre_seconds"] / result["fma_peak_flops"])
    return result


def measure_batch(nside, maps, threads, runs):
    lmax = 2 * nside
    alm = random_alm(maps, 1, lmax, 0, np.random.default_rng(1))
    plan = zonal_shim.Plan("healpix", nside, lmax=lmax, threads=threads)
    sky, back = np.zeros((maps, 1, 12 * nside**2)), np.zeros_like(alm)
    one_by_one = [slice(i, i + 1) for i in range(maps)]
    return {"nside": nside, "lmax": lmax, "maps": maps, "threads": threads, "peer": "one map at a time",
            "synthesis": machine.paired(lambda: plan.synthesize(alm, sky),
                                        lambda: [plan.synthesize(alm[i], sky[i]) for i in one_by_one], runs),
            "adjoint": machine.paired(lambda: plan.adjoint(sky, back),
                                      lambda: [plan.adjoint(sky[i], back[i]) for i in one_by_one], runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nside", type=int, nargs="+", default=[1024])
    parser.add_argument("--spin", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--batch-nside", type=int, nargs="*", default=[])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--avx2", action="store_true", help="Zonal without AVX-512; ducc0 keeps it")
    parser.add_argument("--output")
    options = parser.parse_args()
    if options.avx2:
        zonal_shim.leave_out_avx512()
    record = {"what": "spherical harmonic transform beside ducc0", "machine": machine.describe("ducc0", "numpy"),
              "simd_target": zonal_shim.simd_target(), "results": [], "batches": []}
    for nside in options.nside:
        for spin in options.spin:
            for threads in options.threads:
                record["results"].append(measure(nside, spin, threads, options.runs))
    for nside in options.batch_nside:
        for threads in options.threads:
            record["batches"].append(measure_batch(nside, options.batch, threads, options.runs))
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
