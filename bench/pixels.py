"""Functions of HEALPix pixels beside healpy's, in one process, run in turn. JSON on standard output.

    OMP_NUM_THREADS=1 python bench/pixels.py --nside 1024 --n 1000000 --threads 1 --runs 31 --output FILE

Queries find about n pixels and are timed as lists of pixels and as ranges.
"""
import argparse
import logging

import healpy
import numpy as np

import machine
import pixel_shim
import zonal_shim


def element_cases(nside, n, threads):
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
            yield (name, nest, lambda name=name, given=given, nest=nest:
                   getattr(pixel_shim, name)(*given, nest=nest, threads=threads),
                   lambda name=name, given=given, nest=nest: getattr(healpy, name)(*given, nest=nest))
    for name in ("ring2nest", "nest2ring"):
        yield (name, None, lambda name=name: getattr(pixel_shim, name)(nside, pixels, threads=threads),
               lambda name=name: getattr(healpy, name)(nside, pixels))


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
                    yield (name, keywords, lambda name=name, given=given, keywords=keywords:
                           getattr(pixel_shim, name)(nside, *given, **keywords),
                           lambda name=name, given=given, keywords=keywords:
                           getattr(healpy, name)(nside, *given, **keywords))


def largest_difference(ours, theirs):
    return float(max(np.abs(np.asarray(a) - np.asarray(b)).max() for a, b in zip(np.atleast_2d(ours), np.atleast_2d(theirs))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--n", type=int, default=10**6)
    logging.getLogger("healpy").setLevel(logging.ERROR)  # which advises against ranges in nest order
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    record = {"what": "functions of pixels beside healpy", "machine": machine.describe("healpy", "numpy"),
              "simd": zonal_shim.simd_target(), **settings, "elements": [], "regions": []}
    for name, nest, ours, theirs in element_cases(options.nside, options.n, options.threads):
        result = {"function": name, "nest": nest}
        if name != "get_interp_weights":  # healpy's order of the four pixels is another at the poles
            result["largest_difference"] = largest_difference(ours(), theirs())
        record["elements"].append({**result, **machine.paired(ours, theirs, options.runs)})
    for name, keywords, ours, theirs in region_cases(options.nside, options.n):
        found, theirs_found = ours(), theirs()
        result = {"function": name, **keywords}
        if not keywords["return_ranges"]:
            result.update(pixels=int(found.size), peer_pixels=int(theirs_found.size))
        record["regions"].append({**result, **machine.paired(ours, theirs, options.runs)})
    record["least_ratio_of_elements"] = min(r["speed_over_peer_median"] for r in record["elements"])
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
