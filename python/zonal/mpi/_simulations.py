"""Random masked skies, shared out over the ranks of a job."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import integer
from .._checked import Seed, seed_of
from .._progress import Progress
from ..grid import Grid
from ..spectra import simulated_spectra as simulated_by_one
from ._job import job_of
from ._parts import hash_of

_AT_ONCE = 2**28  # bytes of all ranks' skies in one message


def simulated_spectra(comm: MPI.Intracomm, c_l: ArrayLike, masks: ArrayLike, lmax: int, n: int, spins: int | Sequence[int] = 0, *,
                      noise: ArrayLike | None = None, spectra: Sequence[tuple[int, int]] | None = None, values: ArrayLike | None = None,
                      seed: Seed = 1, grid: Grid | None = None, threads: int | None = None,
                      progress: Progress = False) -> NDArray[np.float64]:
    """Returns what `zonal.spectra.simulated_spectra` does, bit for bit, on all ranks; each has drawn its share of the skies.

    comm: an mpi4py.MPI.Intracomm, as of `zonal.mpi.SHT`, also for what is wrong on one rank. threads: of this rank, by default as of
    `zonal.mpi.SHT`. The other arguments are those of `zonal.spectra.simulated_spectra`, the same on all ranks; every rank holds the masks
    and the noise of the whole sky. `progress` shows the first rank's share.

    >>> from mpi4py import MPI
    >>> import zonal.mpi
    >>> zonal.mpi.simulated_spectra(MPI.COMM_WORLD, np.ones(9), np.ones(12 * 8**2), 8, 100).shape
    (100, 9)
    """
    job = job_of(comm)
    with job.together("simulated spectra", progress) as about:
        n, seed = integer("n", n), seed_of(seed)
        shares = [_core.share_of_skies(n, rank, job.size) for rank in range(job.size)]
        request = (c_l, masks, lmax, n, spins, noise, spectra, values, seed, grid)
        about.append(f"arguments of hash {hash_of(pickle.dumps(request))}")
    first, count = shares[job.rank]
    with job.together("simulated spectra"), job.reporting(progress, "skies") as report:
        # A rank without a share makes one sky all the same, which says how large they are.
        skies: Any = simulated_by_one(c_l, masks, lmax, max(count, 1), spins, noise=noise, spectra=spectra, values=values,
                                      seed=(seed + first) % 2**64, grid=grid,
                                      threads=job.threads(threads), progress=report or False)[:count]
    return _gathered(job.ranks, skies, [n_of_rank for _, n_of_rank in shares])


def _gathered(ranks: Any, mine: NDArray[np.float64], counts: list[int]) -> NDArray[np.float64]:
    """The skies of all ranks, in their order, in as many messages as their size needs."""
    found = np.empty((sum(counts), *mine.shape[1:]))
    starts = np.concatenate([[0], np.cumsum(counts)])
    step = max(1, _AT_ONCE // (8 * len(counts) * max(1, mine[:1].size)))
    for first in range(0, counts[0], step):
        for rank, part in enumerate(ranks.gather(mine[first:first + step].tobytes())):
            rows = np.frombuffer(part).reshape(-1, *mine.shape[1:])
            found[starts[rank] + first:starts[rank] + first + len(rows)] = rows
    return found
