"""Transforms over the ranks of an MPI job, beside one process and beside ducc0 with mpi4py. JSON on standard output.

    mpirun -n 2 --bind-to none python -m mpi4py bench/distributed.py --nside 1024 --spin 0 2 --threads 1 --runs 7 --output NAME.json

Every rank has --threads threads. In turn, all ranks transform together, rank 0 transforms alone with the threads of
all of them while the others sleep, and all ranks transform by ducc0's stages: the peer of the README of its users, with
orders dealt round robin, contiguous rings and a blocking Alltoallv. ducc0 should be built for the machine:
pip install --no-binary ducc0 ducc0
"""
import time

import ducc0
import numpy as np
from mpi4py import MPI

import machine
import skies
import zonal
import zonal.mpi

COMM = MPI.COMM_WORLD


def sleep_until_all_are_here():
    """A barrier that takes no CPU: others may be measuring."""
    request = COMM.Ibarrier()
    while not request.Test():
        time.sleep(1e-3)


class Peer:
    """A transform by ducc0's alm2leg, leg2map and their adjoints."""

    def __init__(self, nside, lmax, spin, threads):
        geometry = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
        theta, nphi, phi0 = geometry["theta"], geometry["nphi"], geometry["phi0"]
        n, me = COMM.size, COMM.rank
        # Rings in runs with about as many pixels each.
        share = np.minimum((np.cumsum(nphi) - nphi) * n // nphi.sum(), n - 1).astype(int)
        cuts = np.searchsorted(share, np.arange(n + 1))
        self.rings = [slice(cuts[rank], cuts[rank + 1]) for rank in range(n)]
        self.orders = [np.arange(rank, lmax + 1, n) for rank in range(n)]
        mine = self.orders[me]
        starts = np.concatenate([[me], me + np.cumsum(lmax + 1 - mine)])  # as where l = 0 would stand may not be negative
        self.n_alm, self.components = int(starts[-1]), 1 if spin == 0 else 2
        self.legendre = dict(lmax=lmax, spin=spin, mval=mine.astype(np.uint64), mstart=(starts[:-1] - mine).astype(np.uint64), theta=theta, nthreads=threads)
        here = self.rings[me]
        nphi_here = nphi[here]
        ringstart = (np.cumsum(nphi_here) - nphi_here).astype(np.uint64)
        self.fourier = dict(nphi=nphi_here, phi0=phi0[here], ringstart=ringstart, nthreads=threads)
        self.n_pixels = int(nphi_here.sum())
        self.first_pixel = int(nphi[:here.start].sum())
        self.indices = np.concatenate([m * (2 * lmax + 1 - m) // 2 + np.arange(m, lmax + 1) for m in mine])
        self.indices = np.concatenate([self.indices[:me], self.indices])
        self.lmax, self.n_rings = lmax, len(theta)
        rings_of = [s.stop - s.start for s in self.rings]
        by_orders = [self.components * rings * len(mine) for rings in rings_of]
        by_rings = [self.components * rings_of[me] * len(orders) for orders in self.orders]
        self.counts = by_orders, by_rings
        self.by_orders, self.by_rings = np.empty(sum(by_orders), complex), np.empty(sum(by_rings), complex)
        self.leg = np.empty((self.components, self.n_rings, len(mine)), complex)
        self.leg_here = np.empty((self.components, rings_of[me], lmax + 1), complex)

    def pieces(self):
        """Views of what goes to, or comes from, each rank: in the buffers, and in both arrays."""
        start = [0, 0]
        for rank, (rings, orders) in enumerate(zip(self.rings, self.orders)):
            both = []
            for side, buffer in enumerate((self.by_orders, self.by_rings)):
                count = self.counts[side][rank]
                both.append(buffer[start[side]:start[side] + count])
                start[side] += count
            yield (both[0].reshape(self.components, -1, len(self.orders[COMM.rank])), self.leg[:, rings],
                   both[1].reshape(self.components, -1, len(orders)), self.leg_here[:, :, orders[0]::COMM.size])

    def synthesize(self, alm, sky):
        ducc0.sht.alm2leg(alm=alm, leg=self.leg, **self.legendre)
        for buffer, leg, _, _ in self.pieces():
            buffer[...] = leg
        COMM.Alltoallv([self.by_orders, self.counts[0], MPI.C_DOUBLE_COMPLEX], [self.by_rings, self.counts[1], MPI.C_DOUBLE_COMPLEX])
        for _, _, buffer, leg in self.pieces():
            leg[...] = buffer
        ducc0.sht.leg2map(leg=self.leg_here, map=sky, **self.fourier)

    def adjoint(self, sky, alm):
        ducc0.sht.map2leg(map=sky, leg=self.leg_here, mmax=self.lmax, **self.fourier)
        for _, _, buffer, leg in self.pieces():
            buffer[...] = leg
        COMM.Alltoallv([self.by_rings, self.counts[1], MPI.C_DOUBLE_COMPLEX], [self.by_orders, self.counts[0], MPI.C_DOUBLE_COMPLEX])
        for buffer, leg, _, _ in self.pieces():
            leg[...] = buffer
        ducc0.sht.leg2alm(leg=self.leg, alm=alm, **self.legendre)


def in_turn(ways, runs):
    """Seconds of each of several functions, {name: [seconds]}, from when all ranks begin to when the last has ended."""
    seconds = {name: [] for name in ways}
    for run in range(runs + 1):
        for name, work in ways.items():
            sleep_until_all_are_here()
            COMM.Barrier()
            start = time.perf_counter()
            work()
            mine = time.perf_counter() - start
            sleep_until_all_are_here()
            if run > 0:
                seconds[name].append(COMM.allreduce(mine, MPI.MAX))
    return seconds


def compared(seconds, name, other):
    ratios = [b / a for a, b in zip(seconds[name], seconds[other])]
    return {"median": float(np.median(ratios)), "min": min(ratios), "max": max(ratios)}


def measure(nside, lmax, spin, threads, runs):
    components = 1 if spin == 0 else 2
    sht = zonal.mpi.SHT(COMM, nside, lmax, spin=spin, threads=threads)
    alm = np.ones((components, sht.n_alm), complex)
    whole = skies.white_alm(lmax, spin)  # the same on all ranks
    alm[...] = whole[:, sht.local_alm_indices]
    sky, back = np.empty((components, sht.n_pixels)), np.empty_like(alm)

    peer = Peer(nside, lmax, spin, threads)
    peer_alm = np.ascontiguousarray(whole[:, peer.indices])
    peer_sky, peer_back = np.empty((components, peer.n_pixels)), np.empty_like(peer_alm)

    root = COMM.rank == 0
    alone = zonal.SHT(zonal.Grid.healpix(nside), lmax, spin=spin, threads=threads * COMM.size) if root else None
    alone_sky = np.empty((components, 12 * nside**2)) if root else None
    alone_alm = np.empty_like(whole) if root else None
    if not root:
        del whole
    row = (lambda array: array if spin else array[0])

    def one_process(work):
        return (lambda: work()) if root else (lambda: None)

    result = {"nside": nside, "lmax": lmax, "spin": spin, "ranks": COMM.size, "threads_per_rank": threads, "runs": runs}
    stages = {
        "synthesis": {"zonal": lambda: sht.synthesize(row(alm), out=row(sky)),
                      "one process": one_process(lambda: alone.synthesize(row(whole), out=row(alone_sky))),
                      "ducc0": lambda: peer.synthesize(peer_alm, peer_sky)},
        "adjoint": {"zonal": lambda: sht.adjoint(row(sky), out=row(back)),
                    "one process": one_process(lambda: alone.adjoint(row(alone_sky), out=row(alone_alm))),
                    "ducc0": lambda: peer.adjoint(peer_sky, peer_back)}}
    for stage, ways in stages.items():
        seconds = in_turn(ways, runs)
        result[stage] = {"seconds": {name: min(times) for name, times in seconds.items()},
                         "speed_over_one_process": compared(seconds, "zonal", "one process"),
                         "speed_over_ducc0": compared(seconds, "zonal", "ducc0")}
    # What all of them found.
    found, found_alm = sht.gather_map(row(sky)), sht.gather_alm(row(back))
    starts = COMM.gather(peer.first_pixel)
    of_peer = COMM.gather(peer_sky)
    if root:
        result["bitwise_as_one_process"] = bool(np.array_equal(np.atleast_2d(found), alone_sky)
                                                and np.array_equal(np.atleast_2d(found_alm), alone_alm))
        theirs = np.concatenate([of_peer[k] for k in np.argsort(starts)], axis=1)
        result["largest_difference_from_ducc0_over_rms"] = float(np.abs(alone_sky - theirs).max() / alone_sky.std())
    shares = sht.shares
    result["balance"] = {name: max(work) / np.mean(work) for name in ("legendre_flops", "ring_flops")
                         for work in [[getattr(share, name) for share in shares]]}
    result["bytes_sent"] = sum(share.bytes_sent for share in shares)
    return result


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[1024])
    parser.add_argument("--spin", type=int, nargs="+", default=[0, 2])
    options, kept = machine.parse_options(parser)
    record = {"what": "transforms over MPI", "machine": machine.describe("ducc0", "mpi4py", "numpy"), "mpi": MPI.Get_library_version(),
              "options": kept,
              "results": [measure(nside, 2 * nside, spin, options.threads, options.runs) for nside in options.nside for spin in options.spin]}
    if COMM.rank == 0:
        machine.write(record, options.output)


if __name__ == "__main__":
    main()
