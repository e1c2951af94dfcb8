"""zonal.healpy beside healpy: the same calls in one process, run in turn. JSON on standard output.

    OMP_NUM_THREADS=2 python bench/healpy_functions.py --nside 1024 --threads 2 --runs 7 --output FILE

At nside 1024 it takes a quarter of an hour for 3 runs on two cores. Each result is compared with healpy's. The small nside are
those of alm2map alone, whose calls are timed many at a time.
"""
import argparse
import logging

import healpy
import numpy as np

import machine
import zonal
import zonal.healpy


def whole_sky_cases(nside):
    """(name, function of one of the two modules) at lmax = 2 nside."""
    lmax = 2 * nside
    random = np.random.default_rng(1)
    alm = np.array([zonal.synalm(np.ones(lmax + 1) / (1 + np.arange(lmax + 1)) ** 2, seed=seed) for seed in (1, 2, 3)])
    alm[1:, [zonal.alm_index(lmax, l, m) for l in (0, 1) for m in range(l + 1)]] = 0
    maps = healpy.alm2map(alm, nside) + random.normal(size=(3, 12 * nside**2))
    fwhm = np.radians(1)
    yield "alm2map", lambda module: module.alm2map(alm[0], nside)
    yield "alm2map IQU", lambda module: module.alm2map(alm, nside)
    yield "map2alm", lambda module: module.map2alm(maps[0], lmax=lmax)
    yield "map2alm IQU", lambda module: module.map2alm(maps, lmax=lmax)
    yield "anafast", lambda module: module.anafast(maps[0], lmax=lmax)
    yield "anafast IQU", lambda module: module.anafast(maps, lmax=lmax)
    yield "smoothing", lambda module: module.smoothing(maps[0], fwhm=fwhm, lmax=lmax)
    yield "smoothing IQU", lambda module: module.smoothing(maps, fwhm=fwhm, lmax=lmax)
    yield "alm2map_der1", lambda module: module.alm2map_der1(alm[0], nside)
    yield "alm2cl IQU", lambda module: module.alm2cl(alm)


def small_cases():
    """(name, calls, function of one of the two modules) of alm2map with the default lmax of a map.

    The calls take long beside the milliseconds for which healpy's threads keep their CPUs after a call.
    """
    for nside in (1, 2, 4, 8, 16, 32, 64):
        alm = zonal.synalm(np.ones(3 * nside), seed=1)
        yield f"alm2map nside {nside}", max(200, 20000 // (nside * nside + 10)), \
            lambda module, alm=alm, nside=nside: module.alm2map(alm, nside)


def repeated(work, n):
    for _ in range(n):
        work()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--only", nargs="*", help="names of cases, such as alm2map 'smoothing IQU'; by default all")
    options, kept = machine.parse_options(parser, peer_by_openmp=True)
    logging.disable(logging.WARNING)
    zonal.threads(options.threads)
    record = {"benchmark": "healpy_functions", "options": kept, "machine": machine.describe("numpy", "healpy"),
              "results": []}
    for name, call in whole_sky_cases(options.nside):
        if options.only and name not in options.only:
            continue
        ours, theirs = np.asarray(call(zonal.healpy)), np.asarray(call(healpy))
        difference = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        record["results"].append({"name": name, "nside": options.nside, "difference": difference, **machine.paired(
            lambda: call(zonal.healpy), lambda: call(healpy), options.runs)})
    for name, n, call in small_cases():
        if options.only and name not in options.only:
            continue
        record["results"].append({"name": name, "calls": n, **machine.paired(
            lambda: repeated(lambda: call(zonal.healpy), n), lambda: repeated(lambda: call(healpy), n), options.runs)})
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
