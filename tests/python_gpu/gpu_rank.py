"""What the ranks of test_gpu_ranks.py do: mpirun -n N python -m mpi4py gpu_rank.py."""

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
    if COMM.rank == 0:
        print("ok", sht.exchange)


main()
