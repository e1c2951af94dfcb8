"""What synthesis and quadrature do on HEALPix: the tables in src/planning/certificate/healpix_spectrum.hpp.

With S the synthesis and W the weights, G = S^T W S. Prints, for spin 0 and 2, as JSON:
  eigenvalues: the smallest and largest eigenvalue of G up to lmax = ratio nside, [nside][ratio];
  couplings: the norms of the blocks of 1 - G between bands of degrees, [nside][band][band]; a band ends at its edge times nside.

    python bench/healpix_spectrum.py --first 1 --last 31
    python bench/healpix_spectrum.py --first 64 --last 64 --spins 0 --threads 2

Needs NumPy, SciPy and ducc0.
"""
import json
import sys

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

import attack_maps as attack
import machine

RATIOS = (1, 1.5, 2, 2.25, 2.4, 2.7, 2.99, 3.4, 3.75, 4, 4.5, 5, 5.5, 6)
EDGES = (0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4)
# From here on the smallest eigenvalue falls to 0 with growing nside.
INVERTIBLE = 2.4
TOLERANCE = 1e-3


class Alm:
    """Real orthonormal coordinates of alm with degrees from `first` to `last`."""

    def __init__(self, grid, first, last, spin):
        self.grid, self.lmax, self.spin, self.rows = grid, max(last, spin), spin, 2 if spin else 1
        l = attack.degrees_of(self.lmax)
        order = np.concatenate([np.full(self.lmax + 1 - m, m) for m in range(self.lmax + 1)])
        taken = (l >= max(first, spin)) & (l <= last)
        self.zonal, self.others, self.n = np.flatnonzero(taken & (order == 0)), np.flatnonzero(taken & (order > 0)), l.size
        self.size = self.rows * (self.zonal.size + 2 * self.others.size)

    def map_of(self, vector):
        alm, rows = np.zeros((self.rows, self.n), complex), vector.reshape(self.rows, -1)
        alm[:, self.zonal] = rows[:, :self.zonal.size]
        alm[:, self.others] = np.ascontiguousarray(rows[:, self.zonal.size:]).view(complex) / np.sqrt(2)
        return self.grid.synthesize(alm, self.lmax, self.spin) * np.sqrt(self.grid.weight)

    def of_map(self, maps):
        alm = self.grid.adjoint(maps * np.sqrt(self.grid.weight), self.lmax, self.spin)
        others = np.ascontiguousarray(alm[:, self.others]).view(float) * np.sqrt(2)
        return np.concatenate([alm[:, self.zonal].real, others], axis=1).ravel()


def extreme(apply, size, which="LM"):
    if size < 8:
        return np.linalg.eigvalsh(np.array([apply(row) for row in np.eye(size)])) if size else np.zeros(1)
    start = np.random.default_rng(1).normal(size=size)
    return eigsh(LinearOperator((size, size), matvec=lambda v: apply(np.ravel(v)), dtype=float), 1, which=which, tol=TOLERANCE, v0=start,
                 return_eigenvectors=False)


def eigenvalues(grid, lmax, spin, invertible):
    alm = Alm(grid, 0, lmax, spin)
    apply = lambda v: alm.of_map(alm.map_of(v))
    largest = extreme(apply, alm.size, "LA")[-1]
    return [float(extreme(apply, alm.size, "SA")[0]) if invertible and alm.size else 0.0, float(largest)]


def coupling(grid, one, other, same):
    """The norm of the block of 1 - G between two bands."""
    a, b = Alm(grid, *one, grid.spin), Alm(grid, *other, grid.spin)
    if not a.size or not b.size:
        return 0.0
    if same:
        return float(np.abs(extreme(lambda v: v - a.of_map(a.map_of(v)), a.size)).max())
    small, large = (a, b) if a.size < b.size else (b, a)
    square = extreme(lambda v: small.of_map(large.map_of(large.of_map(small.map_of(v)))), small.size)
    return float(np.sqrt(np.abs(square).max()))


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=31)
    parser.add_argument("--spins", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--only", choices=("eigenvalues", "couplings"))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for nside in range(options.first, options.last + 1):
        grid = attack.Grid(nside, options.threads)
        for spin in options.spins:
            grid.spin, record = spin, {"nside": nside, "spin": spin}
            if options.only != "eigenvalues":
                ends = [int(edge * nside + 1e-9) for edge in EDGES]
                bands = list(zip([0] + [end + 1 for end in ends], ends))
                record["couplings"] = [[coupling(grid, one, other, i == j) for j, other in enumerate(bands[:i + 1])]
                                       for i, one in enumerate(bands)]
            if options.only != "couplings":
                record["eigenvalues"] = [eigenvalues(grid, int(ratio * nside + 1e-9), spin, ratio <= INVERTIBLE) for ratio in RATIOS]
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    sys.exit(main())
