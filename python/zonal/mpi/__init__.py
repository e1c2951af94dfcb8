"""Transforms over the ranks of an MPI job: each has a part of the map and a part of the alm. Needs mpi4py.

Every rank runs the same program and makes the same calls in the same order:

>>> from mpi4py import MPI
>>> import zonal.mpi
>>> sht = zonal.mpi.SHT(MPI.COMM_WORLD, 16, lmax=32)
>>> sky = sht.synfast(np.ones(33), seed=1)  # this rank's part
>>> sky.shape == sht.local_pixels.shape
True
>>> cl = sht.anafast(sht.smooth(sky, "10deg"))  # of the whole sky, on all ranks

Start it with `mpirun -n 4 python -m mpi4py sky.py`: so a rank that ends with an exception ends the others, too.
"""

from .._core import RankShare
from ._sht import SHT

for _class in (RankShare, SHT):
    _class.__module__ = "zonal.mpi"

__all__ = ["SHT", "RankShare"]


def __dir__() -> list[str]:
    return sorted(__all__)
