"""How the ring FFT's time grows with the kernel's support and the map's size. JSON on standard output.

    python bench/linear_cost.py --threads 2 --output FILE --plot docs/images/ring_fft_cost.svg

Gaussians that have faded to 1e-8 of their peak where they are cut (--widths 2.6: the support over the FWHM), in single
precision, from array to array with the plan made before. The FFTs of the map cost the same whatever the kernel, so what
is fitted, by least relative residuals, is a nside^2 + b nside^2 x rings of the support over all sizes, and a + b support
for each. `growth` is by how much the time grows from one support to the next, or from one size to the next, over what
the support, or nside^2 x rings, grows by: 1 would be linear, without the FFTs.
"""

import numpy as np

import machine
import pictures
import zonal


def rings_of_support(nside, support):
    """Mean over the rings of how many lie within the support, itself included."""
    theta = zonal.Grid.healpix(nside).theta
    return float((np.searchsorted(theta, theta + support) - np.searchsorted(theta, theta - support)).mean())


def measure(nside, support, widths, threads, runs):
    plan = zonal.PixelConvolution(zonal.Kernel.gaussian(support / widths).truncated(support), zonal.Grid.healpix(nside),
                                  precision="float32", accuracy=1e-7, threads=threads)
    sky = np.random.default_rng(1).normal(size=plan.grid.n_pixels).astype(np.float32)
    out = np.empty_like(sky)
    run = {"ring-fft": lambda: plan(sky, out)}
    first = min(machine.in_turn(run, runs)["ring-fft"])
    seconds = [first, *machine.in_turn(run, min(100, int(0.5 / first)))["ring-fft"]]  # more of short ones
    rings = rings_of_support(nside, support)
    return {"nside": nside, "support_arcmin": float(np.degrees(support) * 60), "rings_of_support": rings,
            "nside2_rings": nside**2 * rings, "seconds": min(seconds)}


def fit(rows, columns):
    """Coefficients of the columns' sum that seconds are, by relative residuals, and the largest of these."""
    seconds = np.array([row["seconds"] for row in rows])
    matrix = np.array([[column(row) for column in columns] for row in rows]) / seconds[:, None]
    coefficients = np.linalg.lstsq(matrix, np.ones(len(rows)), rcond=None)[0]
    return {"coefficients": list(map(float, coefficients)),
            "largest_relative_residual": float(abs(matrix @ coefficients - 1).max())}


def value(found, columns, row):
    return sum(c * column(row) for c, column in zip(found["coefficients"], columns))


def largest_growth(rows, key):
    """Of the seconds from one row to the next, over that of what the key says."""
    return max((b["seconds"] / a["seconds"] * a[key] / b[key] for a, b in zip(rows, rows[1:])), default=0)


SIZE = (lambda row: row["nside"]**2, lambda row: row["nside2_rings"])
SUPPORT = (lambda row: 1.0, lambda row: row["support_arcmin"])


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[256, 512, 1024, 2048])
    parser.add_argument("--supports-arcmin", type=float, nargs="+", default=[10, 20, 40, 75, 150, 300])
    parser.add_argument("--widths", type=float, default=2.6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output")
    parser.add_argument("--plot", help="SVG")
    options = parser.parse_args()
    rows = [measure(nside, np.radians(support / 60), options.widths, options.threads, options.runs)
            for nside in options.nside for support in options.supports_arcmin]
    by_nside = {nside: [row for row in rows if row["nside"] == nside] for nside in options.nside}
    by_support = [rows[k::len(options.supports_arcmin)] for k in range(len(options.supports_arcmin))]
    growth = {"in the support": max(largest_growth(of, "support_arcmin") for of in by_nside.values()),
              "in nside^2 rings": max(largest_growth(of, "nside2_rings") for of in by_support)}
    size = fit(rows, SIZE)
    supports = {nside: fit(of, SUPPORT) for nside, of in by_nside.items()}
    fits = {"a nside^2 + b nside^2 rings": size,
            **{f"a + b support_arcmin, nside {nside}": found for nside, found in supports.items()}}
    machine.write({"what": "time of the ring FFT over support and size", "machine": machine.describe("numpy"),
                   "simd_target": machine.simd(), "threads": options.threads, "runs": options.runs,
                   "precision": "float", "widths": options.widths, "growth": growth,
                   "fits": fits, "results": rows}, options.output)
    if options.plot:
        def curves(key, found_of, columns):
            return {f"nside {nside}": ([(row[key], row["seconds"]) for row in of],
                                       [(row[key], value(found_of(nside), columns, row)) for row in of])
                    for nside, of in by_nside.items()}

        pictures.write(options.plot, [
            ("a + b support", "support [arcmin]", "seconds", curves("support_arcmin", supports.get, SUPPORT)),
            ("a nside² + b nside² × rings of the support", "nside² × rings of the support", "seconds",
             curves("nside2_rings", lambda nside: size, SIZE))])


if __name__ == "__main__":
    main()
