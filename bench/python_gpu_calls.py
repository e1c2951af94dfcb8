#!/usr/bin/env python3
"""Times syntheses on a GPU from arrays of each library, waiting for the end of each: python_gpu_calls.py [NSIDE...]

lmax is 2 nside. `returns` is when the call comes back, `ends` when the map is there: medians, in microseconds. What the
same call takes in C++ is printed by the program sht_cuda.
"""

import sys
import time

import numpy as np


def timed(name, call, wait, n_calls):
    returns, ends = [], []
    for _ in range(5 + n_calls):
        wait()
        start = time.perf_counter()
        call()
        returns.append(time.perf_counter() - start)
        wait()
        ends.append(time.perf_counter() - start)
    print(f"  {name}: returns {1e6 * np.median(returns[5:]):.1f}, ends {1e6 * np.median(ends[5:]):.1f}", flush=True)


def main():
    import cupy
    import jax
    import torch

    import zonal.jax

    jax.config.update("jax_enable_x64", True)
    for nside in [int(text) for text in sys.argv[1:]] or [512, 2048]:
        sht = zonal.SHT(zonal.Grid.healpix(nside), 2 * nside, device="cuda")
        n_calls = 200 if nside <= 512 else 40
        print(f"nside {nside}, lmax {sht.lmax}, {zonal.devices()[1].model}, us:")
        wait = cupy.cuda.get_current_stream().synchronize
        alm, map = cupy.zeros(sht.n_alm, complex), cupy.empty(sht.grid.n_pixels)
        timed("CuPy, out", lambda: sht.synthesize(alm, out=map), wait, n_calls)
        timed("CuPy", lambda: sht.synthesize(alm), wait, n_calls)
        of_torch, target = torch.from_dlpack(alm), torch.from_dlpack(map)
        wait = torch.cuda.current_stream().synchronize
        timed("PyTorch, out", lambda: sht.synthesize(of_torch, out=target), wait, n_calls)
        timed("PyTorch", lambda: sht.synthesize(of_torch), wait, n_calls)
        batch, maps = of_torch.repeat(8, 1), target.repeat(8, 1)
        timed("PyTorch, a batch of 8, out", lambda: sht.synthesize(batch, out=maps), wait, n_calls // 4)
        of_jax = jax.device_put(np.zeros(sht.n_alm, complex), jax.devices("gpu")[0])
        timed("JAX", lambda: sht.synthesize(of_jax), lambda: None, n_calls)
        compiled = jax.jit(lambda a: zonal.jax.synthesize(a, sht))
        timed("zonal.jax, compiled, with the wait", lambda: compiled(of_jax).block_until_ready(), lambda: None, n_calls)


if __name__ == "__main__":
    main()
