"""zonal.healpy's functions of HEALPix pixels beside healpy's, in one process, run in turn. JSON on standard output.

    OMP_NUM_THREADS=1 python bench/pixels.py --nside 1024 --n 1000000 --threads 1 --runs 31 --output FILE

Queries find about n pixels and are timed as lists of pixels and as ranges. Calls of single numbers are timed many at a time. All
times are CPU times of the process, so take one thread.
"""
import logging
import time

import healpy
import numpy as np

import machine
import zonal
import zonal.healpy


def element_cases(nside, n):
    """(name, nest, ours, theirs) of functions of n directions or pixels; both return what is compared."""
    random = np.random.default_rng(1)
    theta, phi = np.arccos(random.uniform(-1, 1, n)), random.uniform(0, 2 * np.pi, n)
    vectors = tuple(np.ascontiguousarray(component) for component in healpy.ang2vec(theta, phi).T)
    pixels, sky = random.integers(0, 12 * nside**2, n), random.normal(size=12 * nside**2)
    arguments = {"ang2pix": (nside, theta, phi), "pix2ang": (nside, pixels), "vec2pix": (nside, *vectors),
                 "pix2vec": (nside, pixels), "get_interp_val": (sky, theta, phi),
                 "get_interp_weights": (nside, theta, phi), "get_all_neighbours": (nside, pixels)}
    for name, given in arguments.items():
        for nest in (False, True):
            yield name, nest, *both(name, *given, nest=nest)
    for name in ("ring2nest", "nest2ring"):
        yield name, None, *both(name, nside, pixels)


def both(name, *given, **keywords):
    """The call of zonal.healpy and that of healpy."""
    return [lambda module=module: getattr(module, name)(*given, **keywords) for module in (zonal.healpy, healpy)]


def single_cases():
    """(name, arguments) of calls with single numbers, nside 64."""
    vector, sky = np.array([0.3, 0.4, 0.5]), np.random.default_rng(1).normal(size=12 * 64**2)
    yield from [("ang2pix", (64, 0.3, 0.4)), ("pix2ang", (64, 500)), ("vec2pix", (64, 0.3, 0.4, 0.5)), ("pix2vec", (64, 500)),
                ("nest2ring", (64, 500)), ("ring2nest", (64, 500)), ("get_interp_val", (sky, 0.3, 0.4)),
                ("get_interp_weights", (64, 0.3, 0.4)), ("get_all_neighbours", (64, 500)), ("query_disc", (64, vector, 0.03)),
                ("query_disc", (64, vector, 0.03, True)), ("pix2xyf", (64, 500)), ("xyf2pix", (64, 5, 6, 3)),
                ("ang2vec", (0.3, 0.4)), ("vec2ang", (vector,)), ("boundaries", (64, 500)), ("nside2npix", (64,)),
                ("npix2nside", (49152,)), ("nside2resol", (64,)), ("nside2pixarea", (64,)), ("isnsideok", (64,)),
                ("nside2order", (64,))]


def repeated(name, arguments, calls):
    """Functions that make the calls, of zonal.healpy and of healpy."""
    def work(module):
        function = getattr(module, name)
        for _ in range(calls):
            function(*arguments)
    return [lambda module=module: work(module) for module in (zonal.healpy, healpy)]


def region_cases(nside, n):
    """(name, keywords, ours, theirs) of queries of about n pixels."""
    radius = np.arccos(1 - 2 * n / (12 * nside**2))
    width = 2 * n / (12 * nside**2)
    side = 2 * np.sqrt(n * np.pi / (3 * nside**2)) / np.sqrt(2)
    # Turned a little, so that no row of centres lies on a side.
    square = np.array([[1, 0.1 + y - 0.1 * z, 0.2 + z + 0.1 * y] for y, z in ((0, 0), (side, 0), (side, side), (0, side))])
    arguments = {"query_disc": ([0.3, 0.4, 0.5], radius), "query_strip": (1.0, np.arccos(np.cos(1) - width)),
                 "query_polygon": (square,)}
    for name, given in arguments.items():
        for nest in (False, True):
            for inclusive in (False, True):
                for ranges in (False, True):
                    keywords = {"nest": nest, "inclusive": inclusive, "return_ranges": ranges}
                    yield name, keywords, *both(name, nside, *given, **keywords)


def largest_difference(ours, theirs):
    return float(max(np.abs(np.asarray(a) - np.asarray(b)).max() for a, b in zip(np.atleast_2d(ours), np.atleast_2d(theirs))))


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--n", type=int, default=10**6)
    logging.getLogger("healpy").setLevel(logging.ERROR)  # which advises against ranges in nest order
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    record = {"what": "functions of pixels beside healpy", "machine": machine.describe("healpy", "numpy"),
              **settings, "clock": "process_time", "elements": [], "regions": [], "single": []}
    zonal.threads(options.threads)
    for name, nest, ours, theirs in element_cases(options.nside, options.n):
        result = {"function": name, "nest": nest}
        if name != "get_interp_weights":  # healpy's order of the four pixels is another at the poles
            result["largest_difference"] = largest_difference(ours(), theirs())
        record["elements"].append({**result, **machine.paired(ours, theirs, options.runs, time.process_time)})
    for name, keywords, ours, theirs in region_cases(options.nside, options.n):
        found, theirs_found = ours(), theirs()
        result = {"function": name, **keywords}
        if not keywords["return_ranges"]:
            result.update(pixels=int(found.size), peer_pixels=int(theirs_found.size))
        record["regions"].append({**result, **machine.paired(ours, theirs, options.runs, time.process_time)})
    for name, arguments in single_cases():
        calls = 2000
        result = machine.paired(*repeated(name, arguments, calls), options.runs, time.process_time)
        for key in ("seconds", "peer_seconds"):
            result[key] /= calls
        record["single"].append({"function": name, "inclusive": name == "query_disc" and len(arguments) == 4, "calls": calls,
                                 **result})
    record["least_ratio_of_elements"] = min(r["speed_over_peer_median"] for r in record["elements"])
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
