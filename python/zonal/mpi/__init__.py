"""Transforms over the ranks of an MPI job: each has a part of the map and a part of the alm. Needs mpi4py.

Every rank runs the same program and makes the same calls in the same order:

>>> from mpi4py import MPI
>>> import zonal.mpi
>>> plan = zonal.mpi.Plan(MPI.COMM_WORLD, 16, lmax=32)
>>> sky = plan.synfast(np.ones(33), seed=1)  # this rank's part
>>> sky.shape == plan.local_pixels.shape
True
>>> cl = plan.anafast(plan.smooth(sky, "10deg"))  # of the whole sky, on all ranks

Start it with `mpirun -n 4 python -m mpi4py sky.py`: so a rank that ends with an exception ends the others, too.
"""

from .._core import RankShare
from ._plan import Plan

for _class in (Plan, RankShare):
    _class.__module__ = "zonal.mpi"

__all__ = ["Plan", "RankShare"]
