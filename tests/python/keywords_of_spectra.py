"""Keywords of what makes band powers; other ways to the same number say what is right."""

import numpy as np
from mpi4py import MPI

import zonal
import zonal.mpi
from keywords_of_healpy import FULL, RNG
from keywords_of_zonal import HEALPIX, N, of, raises, to_ring
from zonal.spectra import Bins, Field, estimate, simulated_spectra

BINS = Bins.linear(4, lmax=13)
MASK = RNG.uniform(0.1, 1, size=N)
SEEN = np.where(np.arange(N) < N / 2, MASK, 0)
B_L = np.exp(-0.01 * np.arange(40.0))
FLAT = np.ones(40)
CAR_RINGS = zonal.Grid.fejer1(20, 40)
CAR = RNG.standard_normal(CAR_RINGS.n_pixels)
WEIGHTS = 1 + np.arange(20.0)


def bands(maps=FULL[0], bins=BINS, **options):
    """All bands of a map as one array. options: of Field, and those of estimate."""
    of_estimate = {key: options.pop(key) for key in ("lmax_sky", "low_degrees") if key in options}
    return np.concatenate(list(estimate(Field(maps, **options), bins, **of_estimate).values()))


def noiseless(level):
    """Bands without noise whose pseudo-spectrum is this number at all degrees."""
    found = estimate(Field(FULL[0]), BINS)
    return found["TT"] - found.decoupling["TT"] @ np.full(14, level)


def _of_bins():
    def averaged(lmin, lmax, width, dl=False, weights=None):
        l = np.arange(20.0)
        f = l * (l + 1) / (2 * np.pi) if dl else np.ones(20)
        w = np.ones(20) if weights is None else weights
        firsts = range(lmin, lmax - width + 2, width)
        return np.array([np.sum((w * f * np.cos(l))[a:a + width]) / w[a:a + width].sum() for a in firsts])

    def by(make):
        return lambda **k: make(**k).bin(np.cos(np.arange(20.0)))
    rows = np.zeros((3, 14))
    for b, first in enumerate((2, 6, 10)):
        rows[b, first:first + 4] = 1
    common = {"dl": (True, False, lambda: averaged(2, 13, 4, dl=True))}
    weighted = {"weights": (WEIGHTS, FLAT, lambda: averaged(2, 13, 4, weights=WEIGHTS))}
    return [
        of("spectra.Bins.linear", by(lambda **k: Bins.linear(4, 13, **k)), within=1e-14,
           lmin=(6, 2, lambda: averaged(6, 13, 4)), **common, **weighted),
        of("spectra.Bins.edges", by(lambda **k: Bins.edges([2, 6, 10, 14], **k)), within=1e-14, **common, **weighted),
        of("spectra.Bins.from_weights", by(lambda **k: Bins.from_weights(rows, **k)), within=1e-14, **common),
        of("spectra.Bins.logarithmic", by(lambda **k: Bins.logarithmic(2, 7, **k)), {"lmin": 1}, within=1e-14,
           dl=(True, False, lambda: Bins.edges([1, 3, 8], dl=True).bin(np.cos(np.arange(20.0)))),
           weights=(WEIGHTS, FLAT, lambda: Bins.edges([1, 3, 8], weights=WEIGHTS).bin(np.cos(np.arange(20.0))))),
        of("spectra.Bins.logarithmic", by(lambda **k: Bins.logarithmic(2, 7, **k)), within=1e-14,
           lmin=(1, 2, lambda: Bins.edges([1, 3, 8]).bin(np.cos(np.arange(20.0))))),
    ]


def _of_fields():
    pixel = 4 * np.pi / N
    windows = zonal.healpy.pixwin(HEALPIX.nside, pol=True)
    return [
        of("spectra.Field.__init__", lambda **k: bands(**k), within=1e-12,
           mask=(MASK, np.ones(N), lambda: bands(FULL[0] * MASK, mask=MASK, masked=True)),
           beam=("20deg", None, lambda: bands(beam=zonal.gaussian_window("20deg", 40))),
           pixel_window=(True, False, lambda: bands(pixel_window=windows)),
           variance=(2.0, 0.0, lambda: noiseless(pixel**2 * N * 2 / (4 * np.pi))),
           noise=(FLAT, 0 * FLAT, lambda: bands() - estimate(Field(FULL[0]), BINS).theory(FLAT)["TT"]), grid=(CAR_RINGS, HEALPIX, raises),
           nest=(True, False, lambda: bands(to_ring(FULL[0])))),
        of("spectra.Field.__init__", lambda **k: bands(**k), {"mask": MASK}, within=1e-12,
           masked=(True, False, lambda: bands(FULL[0] / MASK, mask=MASK)),
           nest=(True, False, lambda: bands(to_ring(FULL[0]), mask=to_ring(MASK)))),
    ]


def _of_estimates():
    powers, polarised = estimate(Field(FULL[0]), BINS), estimate(Field(FULL[1:]), BINS)

    def drawn(**options):
        ax = powers.plot(**options)
        return [len(ax.lines), ax.get_xscale() == "log"]

    return [
        of("spectra.estimate", lambda **k: np.round(estimate(Field(FULL[0], mask=SEEN), BINS, **k).windows["TT"][:, :2], 12),
           low_degrees=(False, True, lambda: np.round(_plain_windows(), 12))),
        of("spectra.estimate", lambda **k: estimate(Field(FULL[0]), BINS, **k).windows["TT"].shape, lmax_sky=(20, 16, lambda: (3, 21))),
        of("spectra.BandPowers.plot", lambda **k: len(polarised.plot(**k).get_legend().get_texts()),
           names=(["EE", "BB"], ["EE", "EB", "BB"], lambda: 2)),
        of("spectra.BandPowers.plot", drawn, c_l=(FLAT, None, lambda: [len(powers.plot().lines) + 1, False]),
           log_x=(True, False, lambda: [len(powers.plot().lines), True])),
        of("spectra.simulated_spectra", lambda **k: simulated_spectra(FLAT, MASK, 4, 1, **k)[0],
           seed=(2, 1, lambda: simulated_spectra(FLAT, MASK, 4, 2)[1])),
        *_of_ranks(),
        of("spectra.coupling_matrices", lambda **k: zonal.spectra.coupling_matrices([4 * np.pi], 4, **k),  # of a mask of ones
           kinds=("00", ("00", "02", "++", "--"), lambda: np.eye(5))),
    ]


def _of_ranks():
    """Those of simulated_spectra on one rank."""
    one = lambda **k: lambda: simulated_spectra(FLAT, MASK, 4, 2, **k)
    sums, rings = np.ones((1, 1, 5)), zonal.Grid.gauss_legendre(12, N // 12)
    return [of("mpi.simulated_spectra", lambda **k: zonal.mpi.simulated_spectra(MPI.COMM_SELF, FLAT, MASK, 4, 2, **k),
               seed=(2, 1, one(seed=2)), noise=(MASK, None, one(noise=MASK)), spectra=([(0, 0)], None, one(spectra=[(0, 0)])),
               values=(sums, None, one(values=sums)), grid=(rings, None, one(grid=rings)), spins=(2, 0, raises))]


def _plain_windows():
    found = estimate(Field(FULL[0], mask=SEEN), BINS)
    m = zonal.spectra.coupling_matrices(found.mask_spectra[0, 0], found.lmax_sky, "00")
    bm = BINS.weights @ m[:14]
    u = (BINS.weights > 0).T
    return np.linalg.solve(bm[:, :14] @ u, bm)[:, :2]


def cases():
    return [case for table in (_of_bins(), _of_fields(), _of_estimates()) for one in table for case in one]
