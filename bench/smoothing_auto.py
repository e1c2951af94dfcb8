"""The planner's choice beside healpy.smoothing on one HEALPix map, in one process, run in turn. JSON on standard output.

    OMP_NUM_THREADS=2 python bench/smoothing_auto.py --nside 1024 --threads 2 --runs 7 --output FILE

Both are timed from array to array, in double precision, as `zonal smooth --method auto` and healpy.smoothing work: ours
with all planning (the costs of the machine are measured once, before), with conversions to single precision and back
where that was chosen; files are not read. The map's C_l is 1/(l(l+1)) up to lmax = 2 nside. errors: from the reference
in force, the sum over pixels with the whole Gaussian or its window on the very alm that the map is made of.
"""
import argparse

import healpy
import numpy as np

import machine
import radial_shim
import zonal_shim


def random_alm(c_l, rng):
    lmax = c_l.size - 1
    alm = (rng.normal(size=healpy.Alm.getsize(lmax)) + 1j * rng.normal(size=healpy.Alm.getsize(lmax))) / np.sqrt(2)
    alm[:lmax + 1] = np.sqrt(2) * alm[:lmax + 1].real
    return healpy.almxfl(alm, np.sqrt(c_l))


def references(sky, alm, nside, fwhm, lmax, threads):
    """The sum over pixels takes degrees up to where the Gaussian has faded to 1e-9 of its power, or 6 nside."""
    def synthesize(alm, lmax):
        plan = zonal_shim.Plan("healpix", nside, lmax=lmax, threads=threads)
        return plan.synthesize(np.ascontiguousarray(alm)[None, None])[0, 0]

    sigma = fwhm / np.sqrt(8 * np.log(2))
    high = min(6 * nside, max(3 * nside, int(6.5 / sigma)))
    found = zonal_shim.Plan("healpix", nside, lmax=high, threads=threads).adjoint(sky[None, None])[0, 0]
    found = healpy.almxfl(found * (4 * np.pi / sky.size), healpy.gauss_beam(fwhm, high))
    return {"discrete": synthesize(found, high),
            "continuous": synthesize(healpy.almxfl(alm, healpy.gauss_beam(fwhm, lmax)), lmax)}


def measure(reference, sky, expected, costs, lmax, fwhm, options):
    results, choice, out = [None, None], {}, np.empty_like(sky)

    def ours():
        chosen = radial_shim.Chosen(costs, options.nside, fwhm=fwhm, lmax=lmax, error=options.error,
                                    continuous=reference == "continuous", threads=options.threads)
        results[0] = chosen.convolve(sky, out)
        for name in ("method", "precision", "iterations"):
            choice[name] = getattr(chosen, name)
        choice["predicted_seconds"], choice["predicted_error"] = chosen.seconds, chosen.error

    def theirs():
        results[1] = healpy.smoothing(sky, fwhm=fwhm, lmax=lmax, iter=3)

    timed = machine.paired(ours, theirs, options.runs)
    ready = radial_shim.Chosen(costs, options.nside, fwhm=fwhm, lmax=lmax, error=options.error,
                               continuous=reference == "continuous", threads=options.threads)
    alone = machine.in_turn({"convolution": lambda: ready.convolve(sky, out)}, options.runs)["convolution"]
    error, peer_error = (float((result - expected).std() / expected.std()) for result in results)
    return {"reference": reference, "choice": choice, "smoothing": timed, "seconds_without_planning": min(alone),
            "error": error, "error_over_wanted": error / options.error, "peer_error": peer_error}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--fwhm-arcmin", type=float, default=10)
    parser.add_argument("--error", type=float, default=1e-5)
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    lmax, fwhm = 2 * options.nside, np.radians(options.fwhm_arcmin / 60)
    c_l = np.append(0, 1 / (np.arange(1.0, lmax + 1) * np.arange(2.0, lmax + 2)))
    alm = random_alm(c_l, np.random.default_rng(1))
    sky = zonal_shim.Plan("healpix", options.nside, lmax=lmax, threads=options.threads).synthesize(alm[None, None])[0, 0]
    expected = references(sky, alm, options.nside, fwhm, lmax, options.threads)
    costs = radial_shim.Costs(options.threads)
    record = {"what": "the planner's choice beside healpy", "machine": machine.describe("healpy", "numpy"),
              "simd_target": zonal_shim.simd_target(), "lmax": lmax, "peer_iterations": 3,
              **settings}
    record["results"] = [measure(reference, sky, right, costs, lmax, fwhm, options)
                         for reference, right in expected.items()]
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
