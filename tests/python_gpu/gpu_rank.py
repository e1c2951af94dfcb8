"""What the ranks of test_gpu_ranks.py do: mpirun -n N python -m mpi4py gpu_rank.py."""

import importlib.util

import numpy as np
from mpi4py import MPI

import zonal
import zonal.mpi

COMM = MPI.COMM_WORLD
NSIDE, LMAX = 256, 512


def main():
    n_gpus = sum(device.usable for device in zonal.devices()) - 1  # without the CPU
    for spin in (0, 2):
        sht = zonal.mpi.SHT(COMM, NSIDE, LMAX, spin=spin, device="cuda", threads=1)
        assert sht.device == f"cuda:{COMM.rank % n_gpus}", sht.device
        if 1 < COMM.size <= n_gpus:
            assert sht.exchange == "NCCL", sht.exchange
        one = zonal.SHT(zonal.Grid.healpix(NSIDE), LMAX, spin=spin, threads=1)
        rng = np.random.default_rng(spin)
        lead = () if spin == 0 else (2,)
        alm = rng.standard_normal((*lead, zonal.alm_size(LMAX))) + 1j * rng.standard_normal((*lead, zonal.alm_size(LMAX)))
        alm[..., : LMAX + 1] = alm[..., : LMAX + 1].real
        for l in range(spin):
            alm[..., [zonal.alm_index(LMAX, l, m) for m in range(l + 1)]] = 0
        sky = one.synthesize(alm)
        here = sht.synthesize(alm[..., sht.local_alm_indices])
        # Rounding of either: that of the recurrences grows with lmax.
        assert np.abs(here - sky[..., sht.local_pixels]).max() < 1e-13 * LMAX * sky.std()
        back = one.adjoint(sky)
        found = sht.adjoint(np.ascontiguousarray(sky[..., sht.local_pixels]))
        assert np.abs(found - back[..., sht.local_alm_indices]).max() < 1e-13 * LMAX * np.abs(back).std()
    for rows in (sky[0], sky):  # Q alone is a map of spin 0
        here = np.ascontiguousarray(rows[..., sht.local_pixels])
        for method in ("harmonic", "ring-fft", "pixel-sum", "split"):
            how = {"method": method, "error": 1e-3, "reference": "discrete"}
            one = zonal.smooth(rows, "3deg", pol=rows.ndim == 2, device="cpu", threads=1, **how)[..., sht.local_pixels]
            found = sht.smooth(here, "3deg", **how)
            # Each is within its error, and the rms of a part of a sky is about that of all of it.
            assert np.abs(found - one).std() < 3 * 2e-3 * one.std(), (method, rows.shape)
    sums(sht, sky[:1])
    if COMM.rank == 0:
        print("ok", sht.exchange)


def sums(sht, maps):
    """Sums over pixels of maps in the memory of the host and, by each library that is installed, in that of the rank's GPU."""
    kernel, here = zonal.Kernel.gaussian("3deg"), np.ascontiguousarray(maps[:, sht.local_pixels])
    for method in ("ring-fft", "pixel-sum"):
        expected = zonal.PixelConvolution(kernel, sht.grid, method=method, threads=1)(maps)[:, sht.local_pixels]
        ranks = zonal.mpi.PixelConvolution(sht, kernel, method=method)
        for put, get in libraries(sht.device):
            for _ in range(2):  # the second with the memory of the first
                found = get(ranks(put(here)))
                # Both have kernels within 1e-12 of the largest value, and sum a few hundred pixels.
                assert np.abs(found - expected).max() < 1e-10 * np.abs(maps).max(), method


def libraries(device):
    """How arrays come to a GPU, and back."""
    yield np.asarray, np.asarray
    number = int(device.partition(":")[2])
    if importlib.util.find_spec("cupy"):
        import cupy
        with cupy.cuda.Device(number):
            yield cupy.asarray, cupy.asnumpy
    if importlib.util.find_spec("torch"):
        import torch
        yield (lambda values: torch.from_numpy(values).to(device)), (lambda array: array.cpu().numpy())


main()
