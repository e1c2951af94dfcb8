"""zonal.smooth within an error beside healpy.smoothing(iter=3) up to the same lmax, as users of Python call them, each in a
process of its own (OpenMP's threads keep their cores for a while after a call), in turn. JSON on standard output.

    OMP_NUM_THREADS=1 python bench/main_job.py --threads 1 --output FILE

The map is I of a CMB sky (the Planck 2018 spectrum up to 3 nside - 1). A time is the median of ten calls at nside 64 and
of one call above; the first calls, which fill the caches, are not counted. certified_over_asked is the certificate's use
of the error; error is measured against zonal.smooth within 1e-10.

    OMP_NUM_THREADS=1 python bench/main_job.py --threads 1 --calls alm2map map2alm smoothing --nside 8 16 32 64 128 --runs 15

compares functions of zonal.healpy with those of healpy instead, by default up to 3 nside - 1.
"""
import multiprocessing
import statistics
import time

import healpy
import numpy as np

import machine
import programs
import skies
import zonal
import zonal.healpy


def make_sky(nside):
    return zonal.synfast(healpy.read_cl(programs.PLANCK)[0][:3 * nside], nside, seed=nside)


def smooth(side, sky, lmax, error, options):
    """The smoothed map, and our report."""
    if side == "peer":
        return healpy.smoothing(sky, fwhm=np.radians(options.fwhm_arcmin / 60), lmax=lmax, iter=3), None
    smoothed, (report,) = zonal.smooth(sky, f"{options.fwhm_arcmin} arcmin", lmax=lmax, error=error, return_report=True)
    return smoothed, report


def smoothing_job(side, nside, lmax, error, options):
    sky = make_sky(nside)
    return lambda: smooth(side, sky, lmax, error, options)


def healpy_job(side, call, nside, options):
    """A call of a function that healpy and zonal.healpy have."""
    sky = make_sky(nside)
    alm = healpy.map2alm(sky, iter=0)
    functions = healpy if side == "peer" else zonal.healpy
    return {"alm2map": lambda: functions.alm2map(alm, nside), "map2alm": lambda: functions.map2alm(sky),
            "smoothing": lambda: functions.smoothing(sky, fwhm=np.radians(options.fwhm_arcmin / 60))}[call]


def serve(connection, make_job, arguments, threads):
    """One side's process: the median of some calls for each number of calls received; 0 ends it."""
    zonal.threads(threads)
    job = make_job(*arguments)
    while (calls := connection.recv()) > 0:
        time.sleep(0.02)  # until threads of the other side's last call sleep
        seconds = []
        for _ in range(calls):
            start = time.perf_counter()
            job()
            seconds.append(time.perf_counter() - start)
        connection.send(statistics.median(seconds))


def start(make_job, arguments, threads):
    """A function that returns the median seconds of a number of calls in a new process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there, make_job, arguments, threads), daemon=True)
    process.start()

    def median_of(calls):
        here.send(calls)
        if calls > 0:
            return here.recv()
        return process.join()
    return median_of


def in_turn(make_job, arguments, threads, calls, runs):
    """Medians of some calls of the two sides, in turn."""
    ours, peer = (start(make_job, (side, *arguments), threads) for side in ("ours", "peer"))
    ours(2), peer(2)
    pairs = [(ours(calls), peer(calls)) for _ in range(runs)]
    ours(0), peer(0)
    return pairs


def compare(call, nside, options):
    calls = max(3, 1600 // nside)
    return {"call": call, "nside": nside,
            **machine.of_pairs(in_turn(healpy_job, (call, nside, options), options.threads, calls, options.runs))}


def measure(nside, error, options):
    lmax = options.lmax_over_nside * nside
    calls = 10 if nside <= 64 else 1
    runs = options.runs if nside <= 512 else max(3, options.runs // 2)
    pairs = in_turn(smoothing_job, (nside, lmax, error, options), options.threads, calls, runs)
    sky = make_sky(nside)
    smoothed, report = smooth("ours", sky, lmax, error, options)
    of_peer = smooth("peer", sky, lmax, error, options)[0]
    exact = smooth("ours", sky, lmax, 1e-10, options)[0]
    return {"nside": nside, "lmax": lmax, "asked": error, **machine.of_pairs(pairs), "iterations": report.analysis.iterations,
            "certified_over_asked": report.certified_error / error,
            "error": skies.relative_rms(smoothed, exact),
            "error_of_peer": skies.relative_rms(of_peer, exact),
            "notes": list(report.notes)}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[64, 512, 1024])
    parser.add_argument("--error", type=float, nargs="+", default=[1e-3, 1e-5])
    parser.add_argument("--lmax-over-nside", type=int, default=2)
    parser.add_argument("--fwhm-arcmin", type=float, default=30)
    parser.add_argument("--calls", nargs="+", choices=["alm2map", "map2alm", "smoothing"])
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    zonal.threads(options.threads)
    if options.calls:
        what, results = "functions of healpy", [compare(call, nside, options) for call in options.calls for nside in options.nside]
    else:
        what, results = "the main job", [measure(nside, error, options) for nside in options.nside for error in options.error]
    record = {"what": f"{what} beside healpy", "machine": machine.describe("healpy", "numpy"), **settings, "results": results}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
