#!/usr/bin/env python3
"""How accurate the transforms are, with ducc0 beside them: prints one JSON object.

Single modes a_lm = 1 against mpmath, relative to the mode's largest value on the sphere: on some rings of HEALPix nside
4096, and in whole HEALPix maps, whose rings Zonal resamples in theta. And the round trip synthesis, analysis of white
a_lm on Gauss-Legendre rings, max |delta a| / rms(a).

    bench/accuracy.py [--degree 8000] [--map-nside 1024] [--round-trip-lmax 4095] [--threads 2] [--out FILE]
"""
import argparse
import fractions

import ducc0
import mpmath
import numpy as np

import exact_modes
import machine
import zonal_shim

NSIDE = 4096
# First of eight neighbouring rings each, as the transform computes rings in eights: near the pole, where the
# recurrence changes (sin theta = 0.05, spin 2: 0.1), between, where it changes again (cos theta = 0.02), and at the equator.
FIRST_RINGS = (1, 9, 20, 60, 200, 234, 242, 250, 258, 450, 490, 502, 560, 1000, 2000, 3000, 4090, 5000, 6000, 7000, 7700, 8000, 8050, 8060,
               8072, 8120, 8177, 8185)


def region(cosine, sine, spin):
    return "polar" if sine < (0.05 if spin == 0 else 0.1) else "equatorial" if cosine < 0.02 else "middle"


class ModeRings:
    """One pixel, at longitude 0, on each of eight neighbouring rings from each of the first ones, north and south.
    Compared are the first and the last of every eight."""

    def __init__(self, first_rings=FIRST_RINGS, nside=NSIDE):
        self.nside = nside
        cosine, sine = zonal_shim.Plan("healpix", nside, lmax=0).rings()
        rows = np.array([i - 1 for first in first_rings for i in range(first, first + 8)])
        mirrored = rows[rows != 2 * nside - 1]  # the equator has no mirror image
        self.cos = np.concatenate([cosine[rows], -cosine[mirrored]])
        self.sin = np.concatenate([sine[rows], sine[mirrored]])
        self.south_of = dict(zip(mirrored, rows.size + np.arange(mirrored.size)))
        self.rows = rows
        self.compared = [k for k in range(rows.size) if k % 8 in (0, 7)]
        self.exact = {k: exact_modes.Ring(nside, int(rows[k]) + 1) for k in self.compared}

    def zonal(self, lmax, mmax, spin, threads):
        rings = (self.cos, self.sin, np.zeros(self.cos.size), np.ones(self.cos.size, np.int64))
        plan = zonal_shim.Plan("rings", rings, lmax=lmax, mmax=mmax, spin=spin, threads=threads)
        return lambda alm: plan.synthesize(alm[None])[0]

    def ducc(self, lmax, mmax, spin, threads):
        ones = np.ones(self.cos.size, np.uint64)
        m = np.arange(mmax + 1)
        arguments = dict(theta=np.arctan2(self.sin, self.cos), nphi=ones, phi0=np.zeros(self.cos.size),
                         ringstart=np.arange(self.cos.size, dtype=np.uint64), lmax=lmax, spin=spin, nthreads=threads,
                         mstart=(m * (2 * lmax + 1 - m) // 2).astype(np.uint64))
        return lambda alm: ducc0.sht.synthesis(alm=alm, **arguments)

    def phase(self, ring, m):
        """cos(m phi) at the pixel of a ring that is compared."""
        return 1.0


class MapRings(ModeRings):
    """The first pixels of such rings in whole maps."""

    def __init__(self, first_rings, nside):
        super().__init__(first_rings, nside)
        southern = 4 * nside - 2 - self.rows[self.rows != 2 * nside - 1]
        self.map_rows = np.concatenate([self.rows, southern])
        i = np.arange(1, 4 * nside)
        i = np.minimum(i, 4 * nside - i)
        n_pixels = 4 * np.minimum(i, nside)
        self.first_pixels = (np.cumsum(n_pixels) - n_pixels)[self.map_rows]
        # Gorski et al. (2005), eqs. 5 and 9: phi of the first pixel over pi
        shift = np.where(i < nside, 1, (i - nside + 1) % 2)
        self.half_turns = [fractions.Fraction(int(shift[row]), 4 * int(min(i[row], nside))) for row in self.map_rows]

    def zonal(self, lmax, mmax, spin, threads):
        plan = zonal_shim.Plan("healpix", self.nside, lmax=lmax, mmax=mmax, spin=spin, threads=threads)
        return lambda alm: plan.synthesize(alm[None])[0][:, self.first_pixels]

    def ducc(self, lmax, mmax, spin, threads):
        geometry = ducc0.healpix.Healpix_Base(self.nside, "RING").sht_info()
        m = np.arange(mmax + 1)
        arguments = dict(geometry, lmax=lmax, spin=spin, nthreads=threads, mstart=(m * (2 * lmax + 1 - m) // 2).astype(np.uint64))
        return lambda alm: ducc0.sht.synthesis(alm=alm, **arguments)[:, self.first_pixels]

    def phase(self, ring, m):
        half_turns = m * self.half_turns[ring] % 2
        return float(mpmath.cospi(mpmath.mpf(half_turns.numerator) / half_turns.denominator))


def mode_errors(rings, transforms, l, orders, spin, threads=1):
    """Per transform and region: the largest error of the modes (l, m), relative to the mode's peak, and where."""
    worst = {name: {} for name in transforms}
    for group in ([m for m in orders if m <= 100], [m for m in orders if m > 100]):
        if not group:
            continue
        mmax = max(group)
        index = {m: m * (2 * l + 1 - m) // 2 + l for m in group}
        alm = np.zeros((1 if spin == 0 else 2, (mmax + 1) * (l + 1) - mmax * (mmax + 1) // 2), complex)
        made = {name: make(l, mmax, spin, threads) for name, make in transforms.items()}
        for m in group:
            peak = exact_modes.peak(l, m, spin)
            expected = {k: exact_modes.exact(ring, l, m, spin) for k, ring in rings.exact.items()}
            # E = 1 gives Q = -2 F+ at longitude 0, B = -i gives Q = -2 F- (nothing for m = 0).
            for part in range(1 if spin == 0 or m == 0 else 2):
                alm[part, index[m]] = 1 if part == 0 else -1j
                factor = (1 if m == 0 else 2) * (1 if spin == 0 else -1)
                for name, synthesize in made.items():
                    values = synthesize(alm)[0]
                    for k in rings.compared:
                        # ducc0 takes theta, which near pi has lost digits: its northern rings only.
                        south = rings.south_of.get(rings.rows[k]) if name != "ducc0" else None
                        for side in (k,) if south is None else (k, south):
                            mirror = 1 if side == k else (-1) ** (l + m + part)
                            error = float(abs(values[side] / factor - rings.phase(side, m) * mirror * expected[k][part])) / peak
                            here = region(abs(rings.cos[side]), rings.sin[side], spin)
                            if error >= worst[name].get(here, {"error": -1})["error"]:
                                worst[name][here] = {"error": error, "l": l, "m": m, "function": "F-" if part else "F+",
                                                     "nside": rings.nside, "row": int(rings.rows[k]) + 1,
                                                     "side": "north" if side == k else "south"}
                alm[part, index[m]] = 0
    return worst


def white_alm(lmax, components, spin, seed):
    rng = np.random.default_rng(seed)
    n = (lmax + 1) * (lmax + 2) // 2
    alm = rng.normal(size=(components, n)) + 1j * rng.normal(size=(components, n))
    alm[:, :lmax + 1] = np.sqrt(2) * alm[:, :lmax + 1].real
    for m in range(spin):
        first = m * (2 * lmax + 1 - m) // 2
        alm[:, first + m:first + spin] = 0
    return alm


def round_trip_errors(lmax, spin, threads=1):
    """max |delta a| / rms(a) on lmax + 1 Gauss-Legendre rings of 2 lmax + 2 pixels."""
    alm = white_alm(lmax, 1 if spin == 0 else 2, spin, 1)
    rms = np.sqrt((abs(alm) ** 2).mean())
    plan = zonal_shim.Plan("gauss", lmax + 1, 2 * lmax + 2, lmax=lmax, spin=spin, threads=threads)
    back = plan.adjoint(plan.synthesize(alm[None]), weighted=True)[0]
    errors = {"zonal": float(abs(back - alm).max() / rms)}
    del plan, back
    arguments = dict(spin=spin, lmax=lmax, geometry="GL", nthreads=threads)
    sky = ducc0.sht.synthesis_2d(alm=alm, ntheta=lmax + 1, nphi=2 * lmax + 2, **arguments)
    back = ducc0.sht.analysis_2d(map=sky, **arguments)
    errors["ducc0"] = float(abs(back - alm).max() / rms)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--degree", type=int, default=8000, help="l of the single modes; 0: none")
    parser.add_argument("--map-nside", type=int, default=1024, help="nside of whole maps, of l = 2 nside; 0: none")
    parser.add_argument("--round-trip-lmax", type=int, default=4095, help="0: none")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    record = {"what": "accuracy", "machine": machine.describe("ducc0", "mpmath", "numpy"),
              "simd": zonal_shim.simd_target(), "single_modes": {}, "modes_of_maps": {}, "round_trip": {}}
    l = arguments.degree
    for spin in (0, 2) if l else ():
        rings = ModeRings()
        record["single_modes"][f"spin {spin}"] = mode_errors(
            rings, {"zonal": rings.zonal, "ducc0": rings.ducc}, l, (0, 1, 2, 3, 4, 5, 6, 100, l // 2, l - 1, l), spin,
            arguments.threads)
    nside = arguments.map_nside
    for spin in (0, 2) if nside else ():
        rings = MapRings([1 + round(share * (2 * nside - 8)) for share in (0, 0.005, 0.02, 0.06, 0.1, 0.3, 0.5, 0.7, 0.98, 0.995, 1)], nside)
        l = 2 * nside
        record["modes_of_maps"][f"spin {spin}"] = dict(nside=nside, l=l, **mode_errors(
            rings, {"zonal": rings.zonal, "ducc0": rings.ducc}, l, (0, 1, 2, 3, 100, l // 4, l // 2, l - 1, l), spin,
            arguments.threads))
    for spin in (0, 2) if arguments.round_trip_lmax else ():
        record["round_trip"][f"spin {spin}"] = dict(lmax=arguments.round_trip_lmax,
                                                    **round_trip_errors(arguments.round_trip_lmax, spin, arguments.threads))
    machine.write(record, arguments.out)


if __name__ == "__main__":
    main()
