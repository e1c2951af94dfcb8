"""Transforms at points by ranks are those of one process: mpirun -n N python -m mpi4py mpi_points.py."""

import numpy as np
from mpi4py import MPI

import zonal
import zonal.mpi
from rank_checks import raised, same

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
LMAX, MMAX, ERROR = 64, 50, 1e-9


def main():
    last = RANK == SIZE - 1
    rng = np.random.default_rng(4)
    theta, phi = np.sort(np.arccos(rng.uniform(-1, 1, 1000))), rng.uniform(-9, 9, 1000)
    # The first rank has no points where there are several.
    ends = np.linspace(0, 1000, SIZE).astype(int) if SIZE > 1 else np.array([1000])
    mine = slice(0 if RANK == 0 else ends[RANK - 1], ends[RANK])
    sht = zonal.mpi.SHT(COMM, 32, LMAX, MMAX, spin=2, speeds=[1 + rank for rank in range(SIZE)], threads=1)
    for spin, rows in ((None, (2,)), (0, ()), (2, (3, 2)), (0, (2,))):
        used = 2 if spin is None else spin
        one = zonal.PointTransform(theta, phi, LMAX, used, ERROR, mmax=MMAX)
        ranks = zonal.mpi.PointTransform(sht, theta[mine], phi[mine], spin, ERROR)
        assert ranks.sht is sht and ranks.spin == used and ranks.n_points == len(theta[mine]) and f"rank {RANK} of {SIZE}" in repr(ranks)
        assert (ranks.bound, ranks.n_samples, ranks.width) == (one.bound, one.n_samples, one.width)
        alm = rng.standard_normal((*rows, one.n_alm)) + 1j * rng.standard_normal((*rows, one.n_alm))
        alm[..., :LMAX + 1] = alm[..., :LMAX + 1].real
        here = np.ascontiguousarray(alm[..., sht.local_alm_indices])
        for dtype, most in ((complex, ERROR / 100), (np.complex64, 1e-6)):
            values = one.synthesize(alm.astype(dtype))
            found = ranks.synthesize(here.astype(dtype))
            assert found.dtype == values.dtype and found.shape == values[..., mine].shape
            assert np.abs(found - values[..., mine]).max(initial=0) <= most * np.abs(values).max()
            back = one.adjoint(values)
            part = ranks.adjoint(np.ascontiguousarray(values[..., mine]))
            assert part.dtype == dtype and np.abs(part - back[..., sht.local_alm_indices]).max(initial=0) <= most * np.abs(back).max()
            space, alm_space = np.zeros_like(found), np.zeros_like(part)
            assert ranks.synthesize(here.astype(dtype), out=space) is space
            same(space, found)
            assert ranks.adjoint(np.ascontiguousarray(values[..., mine]), out=alm_space) is alm_space
            same(alm_space, part)
    number = f"rank {SIZE - 1}: "
    make = zonal.mpi.PointTransform
    for call, kind, text in (
            (lambda: make(sht, [4.0] if last else [1.0], [0.0]), "ValueError", "theta"),
            (lambda: make(sht, [1.0, 2.0] if last else [1.0], [0.0]), "ValueError", "phi"),
            (lambda: make(sht, [[1.0]] if last else [1.0], [0.0]), "ValueError", "theta: has shape (1, 1)"),
            (lambda: make(sht, [1.0], [0.0], spin=-1 if last else 0), "ValueError", "spin = -1"),
            (lambda: make(sht, [1.0], [0.0], error=1 if last else 0.01), "ValueError", "error"),
            (lambda: make(sht, [1.0], [0.0], error="small" if last else 0.01), "TypeError", "error = 'small'"),
            (lambda: ranks.synthesize(here[..., 1:] if last else here), "ValueError", number + "alm: has shape"),
            *[(lambda: ranks.synthesize(here[:1] if last else here), "ValueError", "")] * (SIZE > 1)):
        error = raised(call)
        same_kind = error is not None and (error[0] == kind or not last and kind == "TypeError" and error[0] == "ValueError")
        assert same_kind and text in error[1], (RANK, error, kind, text)
        same(ranks.synthesize(here.astype(np.complex64)), found)
    assert raised(lambda: make(theta, sht, phi)) == ("TypeError", "sht: must be a zonal.mpi.SHT, not ndarray")


main()
print("done", flush=True)
