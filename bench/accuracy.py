#!/usr/bin/env python3
"""How accurate the transforms are, with ducc0 beside them: prints one JSON object.

Single modes a_lm = 1 against mpmath, relative to the mode's largest value on the sphere: on some rings of HEALPix nside
4096, and in whole HEALPix maps, whose rings Zonal resamples in theta. And the round trip synthesis, analysis of white
a_lm on Gauss-Legendre rings, max |delta a| / rms(a).

    bench/accuracy.py [--degree 8000] [--map-nside 1024] [--round-trip-lmax 4095] [--threads 2] [--out FILE]
"""
import fractions

import ducc0
import mpmath
import numpy as np

import exact_modes
import machine
import skies
import zonal

NSIDE = 4096
# First of eight neighbouring rings each, as the transform computes rings in eights: near the pole, where the
# recurrence changes (sin theta = 0.05, spin 2: 0.1), between, where it changes again (cos theta = 0.02), and at the equator.
FIRST_RINGS = (1, 9, 20, 60, 200, 234, 242, 250, 258, 450, 490, 502, 560, 1000, 2000, 3000, 4090, 5000, 6000, 7000, 7700, 8000, 8050, 8060,
               8072, 8120, 8177, 8185)


def region(theta, spin):
    sine, cosine = np.sin(theta), abs(np.cos(theta))
    return "polar" if sine < (0.05 if spin == 0 else 0.1) else "equatorial" if cosine < 0.02 else "middle"


class ModeRings:
    """One pixel, at longitude 0, on each of eight neighbouring rings from each of the first ones, all in the north: a colatitude
    near pi has lost digits. Compared are the first and the last of every eight."""

    def __init__(self, first_rings=FIRST_RINGS, nside=NSIDE):
        self.nside = nside
        self.rows = np.array([i - 1 for first in first_rings for i in range(first, first + 8)])
        self.theta = zonal.Grid.healpix(nside).theta[self.rows]
        self.compared = [k for k in range(self.rows.size) if k % 8 in (0, 7)]
        self.exact = {k: self.exact_ring(k) for k in self.compared}
        self.south_of = {}

    def exact_ring(self, k):
        return exact_modes.Ring.at(self.theta[k])

    def zonal(self, lmax, mmax, spin, threads):
        ones = np.ones(self.theta.size, np.int64)
        return zonal.SHT(zonal.Grid(self.theta, ones, ones), lmax, mmax, spin, threads).synthesize

    def ducc(self, lmax, mmax, spin, threads):
        ones = np.ones(self.theta.size, np.uint64)
        arguments = dict(theta=self.theta, nphi=ones, phi0=np.zeros(self.theta.size), ringstart=np.arange(self.theta.size, dtype=np.uint64),
                         lmax=lmax, spin=spin, nthreads=threads, mmax=mmax)
        return lambda alm: ducc0.sht.synthesis(alm=alm, **arguments)

    def phase(self, ring, m):
        """cos(m phi) at the pixel of a ring that is compared."""
        return 1.0


class MapRings(ModeRings):
    """The first pixels of such rings, north and south, in whole maps."""

    def __init__(self, first_rings, nside):
        super().__init__(first_rings, nside)
        mirrored = self.rows[self.rows != 2 * nside - 1]  # the equator has no mirror image
        self.south_of = dict(zip(mirrored, self.rows.size + np.arange(mirrored.size)))
        map_rows = np.concatenate([self.rows, 4 * nside - 2 - mirrored])
        grid = zonal.Grid.healpix(nside)
        self.theta, self.first_pixels = grid.theta[map_rows], grid.first_pixels[map_rows]
        i = np.minimum(map_rows + 1, 4 * nside - 1 - map_rows)
        # Gorski et al. (2005), eqs. 5 and 9: phi of the first pixel over pi
        shift = np.where(i < nside, 1, (i - nside + 1) % 2)
        self.half_turns = [fractions.Fraction(int(s), 4 * int(min(n, nside))) for s, n in zip(shift, i)]

    def exact_ring(self, k):
        return exact_modes.Ring(self.nside, int(self.rows[k]) + 1)

    def zonal(self, lmax, mmax, spin, threads):
        sht = zonal.SHT(zonal.Grid.healpix(self.nside), lmax, mmax, spin, threads)
        return lambda alm: sht.synthesize(alm)[:, self.first_pixels]

    def ducc(self, lmax, mmax, spin, threads):
        geometry = ducc0.healpix.Healpix_Base(self.nside, "RING").sht_info()
        arguments = dict(geometry, lmax=lmax, spin=spin, nthreads=threads, mmax=mmax)
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
        alm = np.zeros((1 if spin == 0 else 2, zonal.alm_size(l, mmax)), complex)
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
                            here = region(rings.theta[side], spin)
                            if error >= worst[name].get(here, {"error": -1})["error"]:
                                worst[name][here] = {"error": error, "l": l, "m": m, "function": "F-" if part else "F+",
                                                     "nside": rings.nside, "row": int(rings.rows[k]) + 1,
                                                     "side": "north" if side == k else "south"}
                alm[part, index[m]] = 0
    return worst


def round_trip_errors(lmax, spin, threads=1):
    """max |delta a| / rms(a) on lmax + 1 Gauss-Legendre rings of 2 lmax + 2 pixels."""
    alm = skies.white_alm(lmax, spin)
    rms = np.sqrt((abs(alm) ** 2).mean())
    sht = zonal.SHT(zonal.Grid.gauss_legendre(lmax + 1, 2 * lmax + 2), lmax, spin=spin, threads=threads)
    back = sht.analyze(sht.synthesize(alm), iterations=0)
    errors = {"zonal": float(abs(back - alm).max() / rms)}
    del sht, back
    arguments = dict(spin=spin, lmax=lmax, geometry="GL", nthreads=threads)
    sky = ducc0.sht.synthesis_2d(alm=alm, ntheta=lmax + 1, nphi=2 * lmax + 2, **arguments)
    back = ducc0.sht.analysis_2d(map=sky, **arguments)
    errors["ducc0"] = float(abs(back - alm).max() / rms)
    return errors


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--degree", type=int, default=8000, help="l of the single modes; 0: none")
    parser.add_argument("--map-nside", type=int, default=1024, help="nside of whole maps, of l = 2 nside; 0: none")
    parser.add_argument("--round-trip-lmax", type=int, default=4095, help="0: none")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    record = {"what": "accuracy", "machine": machine.describe("ducc0", "mpmath", "numpy"),
              "simd": machine.simd(), "single_modes": {}, "modes_of_maps": {}, "round_trip": {}}
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
