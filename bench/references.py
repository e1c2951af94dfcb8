"""How far apart the two references of zonal smooth are, and healpy.smoothing from both: real and simulated skies smoothed with
Gaussians as a sum over pixels (discrete) and as the window on the alm of least squares up to lmax (continuous). JSON on standard output.

    OMP_NUM_THREADS=1 python bench/references.py --nside 64 128 --threads 1 --output FILE

Each result has rms(difference) / rms(second) of
    discrete, healpy          from continuous[lmax / nside]
    continuous                from that of the largest lmax
    healpy_from_discrete      healpy with 3 iterations up to 3 nside - 1, as everywhere
    healpy_from_iter_10       the same with 10 iterations
and of maps without negative values `least`, the result's least value over its greatest, and `sum_changed`, by which part of itself
the sum over all pixels has changed. Transforms are ducc0's. Needs NumPy, SciPy, ducc0, healpy and Astropy.
"""

import healpy
import numpy as np
from astropy.io import fits

import attack_maps as attack
import machine
from certificate_attacks import least_squares, sum_over_pixels, times_window
from programs import PLANCK, ROOT
from skies import relative_rms

WMAP = ROOT / "data/wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits"
PHOTONS = ROOT / "data/fermi/fermi_2fhl_events_selected.fits.gz"
LMAX_OVER_NSIDE = (1.5, 2, 2.4)
FWHM_PIXELS = (1.5, 3, 6, 20, 100)
# uK in a pixel of I, and of Q, U: Planck's 143 GHz in its own pixels of 1.7'.
NOISE = np.array([20, 40, 40])[:, None]


def foreground(nside):
    """The exponential of a field of C_l ~ l^-2.5 with the standard deviation 1, averaged over pixels."""
    fine = 2 * nside
    power = np.maximum(np.arange(3.0 * fine), 1) ** -2.5
    field = healpy.synfast(power, fine)
    return healpy.ud_grade(np.exp(field / field.std()), nside)


def photons(nside):
    with fits.open(PHOTONS) as file:
        events = file["EVENTS"].data
        pixels = healpy.ang2pix(nside, events["L"].astype(float), events["B"].astype(float), lonlat=True)
    return np.bincount(pixels, minlength=12 * nside**2).astype(float)


def skies(nside):
    """Name and maps of each: I, or I, Q, U."""
    np.random.seed(nside)
    shape = (3, 12 * nside**2)
    with fits.open(PLANCK) as file:
        spectra = [file[1].data[name] for name in ("TEMPERATURE", "GRADIENT", "CURL", "TG")]
    cmb = np.array(healpy.synfast(spectra, nside, lmax=2 * nside, new=True))
    yield "constant", np.ones(shape)[:1]
    yield "WMAP W", np.array(healpy.ud_grade(healpy.read_map(WMAP, field=None, dtype=np.float64), nside))
    yield "CMB", cmb
    yield "CMB and noise", cmb + NOISE * np.random.normal(size=shape)
    yield "foreground", foreground(nside)[None]
    yield "photons", photons(nside)[None]
    yield "white", np.random.normal(size=shape)


def digits(value):
    return float(f"{value:.3g}")


def distance(found, truth):
    return digits(relative_rms(found, truth))


def healpy_alm(maps, iterations):
    lmax = 3 * healpy.get_nside(maps[0]) - 1
    # healpy takes Q and U with an I beside them.
    stokes = maps[0] if len(maps) == 1 else [np.zeros_like(maps[0]), *maps]
    return np.atleast_2d(healpy.map2alm(stokes, lmax=lmax, iter=iterations))


def healpy_smoothing(alm, nside, fwhm):
    """As healpy.smoothing, which would repeat the analysis for each kernel."""
    smooth = healpy.smoothalm(alm if len(alm) == 3 else alm[0], fwhm=fwhm, pol=True, inplace=False)
    maps = np.atleast_2d(healpy.alm2map(smooth if len(alm) == 1 else list(smooth), nside))
    return maps[-2:] if len(maps) == 3 else maps


def measure(grid, maps):
    """Results of I, or of Q and U, for all kernels."""
    spin = 2 if len(maps) == 2 else 0
    alm = {str(ratio): least_squares(grid, maps, int(ratio * grid.nside), spin) for ratio in LMAX_OVER_NSIDE}
    by_healpy = {iterations: healpy_alm(maps, iterations) for iterations in (3, 10)}
    for width in FWHM_PIXELS:
        fwhm = width * np.sqrt(grid.weight)
        scale = fwhm / np.sqrt(8 * np.log(2))
        window = attack.gaussian(np.arange(max(8, int(7.5 / scale)) + 1), scale, spin)  # to 1e-12
        windows = [window] * len(maps)
        found = {"discrete": sum_over_pixels(grid, maps, windows)}
        healpy_3, healpy_10 = (healpy_smoothing(by_healpy[iterations], grid.nside, fwhm) for iterations in (3, 10))
        continuous = {}
        for ratio, a in alm.items():
            lmax = int(float(ratio) * grid.nside)
            continuous[ratio] = grid.synthesize(times_window(a, [w[:lmax + 1] for w in windows], lmax), lmax, spin)
        found |= {"healpy": healpy_3, "continuous": continuous[str(LMAX_OVER_NSIDE[-1])]}
        result = {"fwhm_pixels": width, "output_over_input": digits(np.sqrt(np.mean(healpy_3**2) / np.mean(maps**2)))}
        for name in ("discrete", "healpy"):
            result[name] = {ratio: distance(found[name], truth) for ratio, truth in continuous.items()}
        result["continuous"] = {ratio: distance(continuous[ratio], found["continuous"]) for ratio in list(continuous)[:-1]}
        result["healpy_from_discrete"] = distance(healpy_3, found["discrete"])
        result["healpy_from_iter_10"] = distance(healpy_3, healpy_10)
        if maps.min() >= 0:
            result["least"] = {name: digits(values.min() / values.max()) for name, values in found.items()}
            result["sum_changed"] = {name: digits(values.sum() / maps.sum() - 1) for name, values in found.items()}
        yield result


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[32, 64, 128, 256, 512])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output")
    options = parser.parse_args()
    results = []
    about = machine.describe("numpy", "ducc0", "healpy")
    for nside in options.nside:
        grid = attack.Grid(nside, options.threads)
        for name, maps in skies(nside):
            for fields, part in (("I", maps[:1]), ("QU", maps[1:])):
                if len(part):
                    results += [{"nside": nside, "map": name, "fields": fields} | row for row in measure(grid, part)]
    machine.write({"what": "the two references of smoothing, and healpy", "machine": about,
                   "options": {"nside": options.nside, "threads": options.threads}, "results": results}, options.output)


if __name__ == "__main__":
    main()
