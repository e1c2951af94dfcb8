"""Transforms and random skies over the ranks of an MPI job. Needs mpi4py.

Each rank has a part of the map and a part of the alm of an `SHT`.

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
from ._convolution import PixelConvolution
from ._points import PointTransform
from ._sht import SHT
from ._simulations import simulated_spectra

for _public in (RankShare, PixelConvolution, PointTransform, SHT, simulated_spectra):
    _public.__module__ = "zonal.mpi"

__all__ = ["SHT", "PixelConvolution", "PointTransform", "RankShare", "simulated_spectra"]


def __dir__() -> list[str]:
    return sorted(__all__)
