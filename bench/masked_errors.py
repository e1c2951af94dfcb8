"""Error bars of band powers of masked skies beside those of simulated skies. JSON on standard output.

    python bench/masked_errors.py --nside 32 --skies 2000 --output bench/results/NAME.json

I, Q and U with noise behind an apodised mask with holes; bands from l = 2 on of TT, TE, EE and BB. The ratios are of the predicted error of
each band over that of the skies, whose own is sqrt(1 / 2 N). ks is the probability of p values as uneven as those found, for each spectrum
for all bands together, and for all but the lowest of each spectrum. That one has too few modes to be Gaussian, which its skewness shows.
With the covariance of the skies themselves in place of the predicted one, ks sees the same.
"""
import time

import numpy as np
from scipy import stats

import machine
import zonal
from zonal import spectra


def mask_with_holes(grid, n_holes, rng):
    theta, phi = grid.angles()
    mask = np.sin(np.pi / 2 * np.clip((np.cos(theta) + 0.3 + 0.2 * np.cos(2 * phi)) / 0.5, 0, 1)) ** 2
    for z, longitude in zip(rng.uniform(-0.2, 1, n_holes), rng.uniform(0, 2 * np.pi, n_holes)):
        mask[np.cos(theta) * z + np.sin(theta) * np.sqrt(1 - z * z) * np.cos(phi - longitude) > np.cos(0.05)] = 0
    return mask


def bands_of(edges, w, lmax):
    """K^-1 B of TT, TE, EE and BB."""
    m00, m02, plus, minus = spectra.coupling_matrices(w, lmax)
    zero = np.zeros_like(m00)
    whole = np.block([[m00, zero, zero, zero], [zero, m02, zero, zero], [zero, zero, plus, minus], [zero, zero, minus, plus]])
    b, u = np.zeros((len(edges), lmax + 1)), np.zeros((lmax + 1, len(edges)))
    for number, (first, last) in enumerate(edges):
        b[number, first:last + 1] = 1 / (last + 1 - first)
        u[first:last + 1, number] = 1
    b, u = np.kron(np.eye(4), b), np.kron(np.eye(4), u)
    return np.linalg.solve(b @ whole @ u, b).reshape(-1, 4, lmax + 1)


def _ks(found):
    return float(stats.kstest([one.p for one in found], "uniform").pvalue)


def measure(nside, n, exact_lmax, threads):
    lmax = 2 * nside
    grid, l = zonal.Grid.healpix(nside), np.arange(lmax + 1)
    mask = mask_with_holes(grid, 30, np.random.default_rng(1))
    c_l = np.zeros((3, 3, lmax + 1))
    c_l[0, 0], c_l[1, 1] = (l + 2.0) ** -2, 0.3 * (l + 3.0) ** -2
    c_l[2, 2] = 0.1 * c_l[1, 1]
    c_l[0, 1] = c_l[1, 0] = 0.4 * np.sqrt(c_l[0, 0] * c_l[1, 1])
    noise = np.full((2, grid.n_pixels), 0.02)
    w = zonal.alm2cl(zonal.SHT(grid, 2 * lmax).adjoint(mask * (4 * np.pi / grid.n_pixels)))
    edges = [(first, first + 5) for first in range(2, lmax - 8, 6)]
    pairs = [(0, 0), (0, 1), (1, 1), (2, 2)]
    values = bands_of(edges, w, lmax)
    common = {"noise": noise, "spectra": pairs, "values": values, "threads": threads}
    start = time.perf_counter()
    found, report = spectra.covariance(c_l, mask, lmax, (0, 2), exact_lmax=exact_lmax, return_report=True, **common)
    middle = time.perf_counter()
    samples = spectra.simulated_spectra(c_l, mask, lmax, n, (0, 2), **common)
    end = time.perf_counter()
    mean, scatter = spectra.sample_covariance(samples)
    means = spectra.mean_pseudo_spectra(c_l, mask, lmax, (0, 2), noise=noise)
    expected = np.einsum("vil,il->v", values, np.array([means[pair] for pair in pairs]))
    names, n_bands = ("TT", "TE", "EE", "BB"), len(edges)

    def chi_squared(part, centre=expected, matrix=found):
        return [spectra.chi_squared((sample - centre)[part], matrix[np.ix_(part, part)]) for sample in samples]

    everything = np.arange(4 * n_bands)
    of_spectra = {name: chi_squared(everything[k * n_bands:(k + 1) * n_bands]) for k, name in enumerate(names)}
    of_all = chi_squared(everything)
    upper = everything[everything % n_bands > 0]
    of_skies = {"centre": mean, "matrix": scatter}  # no hartlap_factor: these are the skies that the matrix is of
    skewness = stats.skew(samples, axis=0).reshape(4, -1)
    ratios = np.sqrt(found.diagonal() / scatter.diagonal()).reshape(4, -1)
    return {"exact_lmax": report.exact_lmax, "exact_sky_lmax": report.exact_sky_lmax, "lost_share": report.lost_share, "bands": n_bands,
            "ratios": {name: [round(float(one), 4) for one in row] for name, row in zip(names, ratios)},
            "least": float(ratios.min()), "largest": float(ratios.max()), "sampling": 1 / np.sqrt(2 * n),
            "largest_of_mean": float(np.abs((mean - expected) / np.sqrt(found.diagonal())).max() * np.sqrt(n)),
            "chi_squared": float(np.mean([one.value for one in of_all])), "ks": {name: _ks(chi) for name, chi in of_spectra.items()},
            "ks_of_all": _ks(of_all), "ks_without_lowest": _ks(chi_squared(upper)),
            "ks_of_all_with_covariance_of_skies": _ks(chi_squared(everything, **of_skies)),
            "ks_without_lowest_with_covariance_of_skies": _ks(chi_squared(upper, **of_skies)),
            "skewness": {"lowest": skewness[:, 0].tolist(), "largest_of_others": float(skewness[:, 1:].max())},
            "covariance_seconds": middle - start, "skies_seconds": end - middle}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=32)
    parser.add_argument("--skies", type=int, default=2000)
    parser.add_argument("--exact-lmax", type=int, nargs="+", default=[-1, 32])
    options, settings = machine.parse_options(parser)
    results = [measure(options.nside, options.skies, exact_lmax, options.threads) for exact_lmax in options.exact_lmax]
    machine.write({"what": "error bars of band powers beside simulated skies", "machine": machine.describe("numpy"), **settings, "results": results},
                  options.output)


if __name__ == "__main__":
    main()
