"""Coupling matrices of kinds 00, 02, ++ and -- of one mask beside ducc0's two functions for them, in turn. JSON on standard output.

    python bench/coupling.py --lmax 1000 3000 --threads 1 --output bench/results/NAME.json

ducc0 takes 00, 02 and 22 as three spectra, here of the same mask, and gives symmetric matrices without the factor 2 l' + 1.
--cpu-time: of one thread, on a machine with other work.
"""
import time

import ducc0
import numpy as np

import machine
import zonal


def measure(name, lmax, options):
    mask = 1 / (1 + np.arange(2 * lmax + 1.0)) ** 2
    masks = np.stack([mask] * 3)
    result = np.empty((4, lmax + 1, lmax + 1))
    peer = getattr(ducc0.misc.experimental, name)
    clock = time.process_time if options.cpu_time else time.perf_counter
    times = machine.paired(lambda: zonal.spectra.coupling_matrices(mask, lmax, threads=options.threads),
                           lambda: peer(masks, (0, 1, 4), result, nthreads=options.threads), options.runs, clock)
    found = zonal.spectra.coupling_matrices(mask, lmax, threads=options.threads)
    theirs = result * (2 * np.arange(lmax + 1) + 1)
    return {"peer": name, "lmax": lmax, **times,
            "difference_over_largest": [float(np.abs(a - b).max() / np.abs(a).max()) for a, b in zip(found, theirs)]}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--lmax", type=int, nargs="+", default=[1000, 3000])
    parser.add_argument("--cpu-time", action="store_true")
    options, settings = machine.parse_options(parser)
    results = [measure(name, lmax, options) for lmax in options.lmax for name in ("coupling_matrix_rect", "coupling_matrix_rect_new")]
    machine.write({"what": "coupling matrices beside ducc0", "machine": machine.describe("ducc0", "numpy"), "simd_target": machine.simd(),
                   **settings, "results": results}, options.output)


if __name__ == "__main__":
    main()
