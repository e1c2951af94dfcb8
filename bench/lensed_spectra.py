"""Spectra of lensed skies beside the theory, by CAMB's correlation functions. JSON on standard output.

    python bench/lensed_spectra.py --lmax 1000 --skies 200 --output bench/results/NAME.json

T, E and B and a potential of a standard cosmology, up to lmax_sky, drawn again for each sky and lensed onto Gauss-Legendre rings whose
analysis is exact to 1.5 lmax_sky. What is compared with the theory, in bands, is the mean of the lensed spectra less those of the same sky
before lensing, which takes most of the skies' own scatter out. sigma is the scatter of the skies over the root of their number.
"""
import time

import camb
import numpy as np
from camb import correlations
from scipy import stats

import machine
import zonal

NAMES = ("TT", "EE", "BB", "TE")
COSMOLOGY = {"H0": 67.5, "ombh2": 0.022, "omch2": 0.122, "tau": 0.06, "As": 2e-9, "ns": 0.965}


def unlensed(lmax):
    """l(l+1)C_l/2pi as [l, TT EE BB TE], and [l(l+1)]^2 C_l/2pi of the potential; dimensionless, without what T and the potential share."""
    found = camb.get_results(camb.set_params(lmax=lmax + 500, lens_potential_accuracy=1, **COSMOLOGY)).get_cmb_power_spectra()
    return found["unlensed_scalar"][:lmax + 1], found["lens_potential"][:lmax + 1, 0]


def c_l_of(scaled, power=1):
    """C_l of l(l+1)C_l/2pi or of its square."""
    l = np.arange(len(scaled))
    return 2 * np.pi * scaled / np.maximum(l * (l + 1.0), 1) ** power


def lensed_less_unlensed(seed, c_l, c_phi, grid, lmax, options):
    """Of one sky: [TT EE BB TE, l]."""
    sky = zonal.synalm(c_l, seed=2 * seed)
    phi = zonal.synalm(c_phi, seed=2 * seed + 1)
    lensed = zonal.lens(sky, phi, grid, error=options.error, threads=options.threads)
    settings = {"lmax": lmax, "threads": options.threads}
    after = np.stack([zonal.SHT(grid, **settings).analyze(lensed[0]), *zonal.SHT(grid, spin=2, **settings).analyze(lensed[1:])])
    before = zonal.resize_alm(sky, lmax)
    return np.stack([zonal.alm2cl(after)[name] - zonal.alm2cl(before)[name] for name in NAMES])


def measure(options):
    lmax, lmax_sky = options.lmax, options.lmax + 200
    scaled, scaled_phi = unlensed(lmax_sky)
    c_l = {name: c_l_of(column) for name, column in zip(NAMES, scaled.T)}
    c_phi = c_l_of(scaled_phi, 2)
    lensed = correlations.lensed_cls(scaled, scaled_phi, lmax=lmax_sky, theta_max=None, sampling_factor=3)
    theory = np.stack([c_l_of((lensed - scaled)[:lmax + 1, column]) for column in range(4)])
    reach = 3 * lmax_sky // 2
    grid = zonal.Grid.gauss_legendre(reach + 1, 2 * reach + 2)
    start = time.process_time()
    skies = np.stack([lensed_less_unlensed(seed, c_l, c_phi, grid, lmax, options) for seed in range(options.skies)])
    bins = zonal.spectra.Bins.linear(50, lmin=2, lmax=lmax, dl=True)
    binned = np.array([[bins.bin(spectrum) for spectrum in sky] for sky in skies])
    expected = np.array([bins.bin(spectrum) for spectrum in theory])
    mean, sigma = binned.mean(0), binned.std(0, ddof=1) / np.sqrt(options.skies)
    z = (mean - expected) / sigma
    whole = np.array([bins.bin(c_l_of(lensed[:lmax + 1, column])) for column in range(4)])
    return {"lmax": lmax, "lmax_sky": lmax_sky, "bands": len(bins), "seconds": time.process_time() - start,
            "sigmas": {name: [round(float(value), 2) for value in row] for name, row in zip(NAMES, z)},
            "largest": float(np.abs(z).max()), "beyond_3": int((np.abs(z) > 3).sum()),
            "rms": float(np.sqrt(np.mean(z**2))), "p": float(stats.chi2.sf((z**2).sum(), z.size)),
            "ratio_less_1": {name: [float(f"{value:.2e}") for value in (row - theory_row) / of_whole]
                             for name, row, theory_row, of_whole in zip(NAMES, mean, expected, whole) if name != "TE"},
            "sigma_of_ratio": {name: [float(f"{value:.2e}") for value in row / of_whole]
                               for name, row, of_whole in zip(NAMES, sigma, whole) if name != "TE"}}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--lmax", type=int, default=1000)
    parser.add_argument("--skies", type=int, default=200)
    parser.add_argument("--error", type=float, default=1e-8)
    options, settings = machine.parse_options(parser)
    machine.write({"what": "spectra of lensed skies beside the theory", "machine": machine.describe("camb", "numpy"), **settings,
                   "results": measure(options)}, options.output)


if __name__ == "__main__":
    main()
