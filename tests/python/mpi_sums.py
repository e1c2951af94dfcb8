"""Sums over pixels by ranks are those of one process: mpirun -n N python -m mpi4py mpi_sums.py."""

import numpy as np
from mpi4py import MPI

import zonal
import zonal.mpi
from rank_checks import raised, same

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size


def main():
    grid, last = zonal.Grid.healpix(32), RANK == SIZE - 1
    kernel = zonal.Kernel.gaussian("5deg")
    sht = zonal.mpi.SHT(COMM, grid, 64, spin=2, speeds=[1 + rank for rank in range(SIZE)], threads=1)
    maps = np.random.default_rng(4).standard_normal((3, grid.n_pixels))
    here = np.ascontiguousarray(maps[:, sht.local_pixels])
    for method in ("ring-fft", "pixel-sum"):
        one = zonal.PixelConvolution(kernel, grid, method=method, threads=1)
        ranks = zonal.mpi.PixelConvolution(sht, kernel, method=method)
        assert ranks.sht is sht and ranks.kernel is kernel and f"rank {RANK} of {SIZE}" in repr(ranks)
        for dtype in (np.float64, np.float32):
            expected = one(maps.astype(dtype))[:, sht.local_pixels]
            # Sums over discs may be made in another order: of fewer than 1,000 terms, which add up to the largest pixel at most.
            most = 0 if method == "ring-fft" else 1000 * np.finfo(dtype).eps * np.abs(maps).max()
            found, space = ranks(here.astype(dtype)), np.zeros_like(here, dtype)
            assert found.dtype == dtype and found.shape == here.shape and np.abs(found - expected).max() <= most
            assert ranks(here.astype(dtype), out=space) is space
            same(space, found)
            same(ranks(here[1].astype(dtype)), found[1])
    number = f"rank {SIZE - 1}: "
    for call, kind, text in (
            (lambda: ranks(here[:, 1:] if last else here), "ValueError", number + "maps: has shape"),
            (lambda: ranks("five" if last else here), "TypeError", number + "maps = 'five'"),
            (lambda: ranks(here, out=here if last else None), "ValueError", number + "out: must not share memory"),
            (lambda: ranks(here, progress=(lambda done: False) if last else False), "Cancelled", None),
            (lambda: zonal.mpi.PixelConvolution(sht, kernel, method="harmonic" if last else "ring-fft"), "ValueError", number + "method = 'harmonic'"),
            (lambda: zonal.mpi.PixelConvolution(sht, 3 if last else kernel), "TypeError", number + "kernel: must be a zonal.Kernel"),
            (lambda: zonal.mpi.PixelConvolution(sht, kernel, accuracy=-1 if last else 0), "ValueError", None),
            *[(lambda: ranks(here[0] if last else here), "ValueError", "all must make the same calls")] * (SIZE > 1)):
        error = raised(call)
        same_kind = error is not None and (error[0] == kind or not last and kind == "TypeError" and error[0] == "ValueError")
        assert same_kind and (text is None or text in error[1]), (RANK, error, kind, text)
        same(ranks(here.astype(np.float32)), found)
    assert raised(lambda: zonal.mpi.PixelConvolution(kernel, sht)) == ("TypeError", "sht: must be a zonal.mpi.SHT, not Kernel")


main()
print("done", flush=True)
