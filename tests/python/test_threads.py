"""Plans, grids and kernels may be used by many Python threads at once."""
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import zonal
import zonal.healpy

N_THREADS = 8
RNG = np.random.default_rng(2)
GRID = zonal.Grid.healpix(32)
SHT = zonal.SHT(GRID, 64, threads=1)
ALM = RNG.normal(size=SHT.n_alm) + 0j
SKY = SHT.synthesize(ALM)
PLAN = zonal.plan(zonal.Kernel.gaussian("10deg"), GRID, error=1e-6, threads=1)
KERNEL = zonal.Kernel.gaussian("5deg")
SPLIT = zonal.Split(zonal.gaussian_window("10deg", 95), "20deg", l_cut=30, threads=1)


@pytest.mark.parametrize("work", [
    lambda: SHT.synthesize(ALM), lambda: SHT.adjoint(SKY), lambda: SHT.analyze(SKY), lambda: PLAN(SKY),
    lambda: KERNEL.window(200), lambda: KERNEL.profile(np.linspace(0, 0.1, 50)), lambda: SPLIT.convolve(SKY, threads=1),
    lambda: zonal.smooth(SKY, "10deg", lmax=76, error=1e-3, threads=2), lambda: zonal.synfast(np.ones(65), 32, seed=3),
    lambda: zonal.healpy.query_disc(32, (1, 0, 0), 0.3), lambda: GRID.angles()[0],
], ids=["synthesize", "adjoint", "analyze", "plan", "window", "profile", "split", "smooth", "synfast", "query_disc", "angles"])
def test_many_threads_get_what_one_gets(work):
    """Bit for bit, twenty times each: a race on what they share would show in some of them."""
    expected = np.asarray(work())
    with ThreadPoolExecutor(N_THREADS) as pool:
        for found in pool.map(lambda _: work(), range(20 * N_THREADS)):
            assert np.array_equal(found, expected)


def test_errors_in_one_thread_leave_the_others_alone():
    def work(k):
        if k % 3 == 0:
            with pytest.raises(ValueError, match="alm"):
                SHT.synthesize(ALM[:-1])
            return None
        return SHT.synthesize(ALM)

    with ThreadPoolExecutor(N_THREADS) as pool:
        results = [found for found in pool.map(work, range(90)) if found is not None]
    assert len(results) == 60 and all(np.array_equal(found, SKY) for found in results)


def run(code, end=""):
    """Runs a program of its own, which must end by itself."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code) + end], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("end, status", [
    ("print('at the end')", 0),
    # Calls sleep(1) at exit, with the status as its argument: a second without an interpreter.
    ("import ctypes, sys; c = ctypes.CDLL(None); c.on_exit(c.sleep, None); print('at the end'); sys.exit(1)", 1),
])
def test_threads_that_still_work_do_not_keep_python_from_ending(end, status):
    ended = run("""
        import threading, time
        import numpy as np, zonal
        sht = zonal.SHT(zonal.Grid.healpix(256), 512, threads=2)
        alm = np.ones(sht.n_alm, complex)
        def work():
            while True:
                sht.synthesize(alm, progress=lambda done: True)
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
    """, end)
    assert (ended.returncode, ended.stdout, ended.stderr) == (status, "at the end\n", "")


def test_processes_forked_after_threads_were_used_work():
    ended = run("""
        import multiprocessing
        import numpy as np, zonal
        sht = zonal.SHT(zonal.Grid.healpix(64), 128, threads=2)
        alm = np.ones(sht.n_alm, complex)
        def work(_):
            return sht.synthesize(alm)
        expected = work(0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(all(np.array_equal(found, expected) for found in pool.map(work, range(4))))
    """)
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
