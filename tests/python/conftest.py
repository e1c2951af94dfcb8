import threading
import time
import warnings

import numpy as np
import pytest

import zonal


@pytest.fixture(autouse=True)
def notes_that_no_test_expects_fail():
    with warnings.catch_warnings():
        warnings.simplefilter("error", zonal.ZonalWarning)
        yield


@pytest.fixture
def lets_others_run():
    """lets_others_run(call): whether another thread runs again and again during the call, as it cannot without the GIL.

    On a busy machine that thread may have to wait for a CPU: one of ten calls is enough.
    """

    def lets_others_run_once(call):
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.perf_counter() - start)
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        start = time.perf_counter()
        ticker.start()
        call()
        took = time.perf_counter() - start
        done.set()
        ticker.join()
        return len(ticks) > 10 and max(np.diff([*ticks, took])) < took / 2

    return lambda call: any(lets_others_run_once(call) for _ in range(10))


@pytest.fixture
def rng():
    return np.random.default_rng(20261124)


@pytest.fixture
def random_alm(rng):
    """alm of real fields: [*shape, alm_size(lmax, mmax)], white, with real a_l0."""

    def make(lmax, mmax=None, shape=(), dtype=np.complex128, spin=0):
        n = zonal.alm_size(lmax, mmax)
        alm = rng.standard_normal((*shape, n)) + 1j * rng.standard_normal((*shape, n))
        alm[..., : lmax + 1] = alm[..., : lmax + 1].real
        for l in range(spin):
            alm[..., [zonal.alm_index(lmax, l, m) for m in range(l + 1)]] = 0
        return alm.astype(dtype)

    return make
