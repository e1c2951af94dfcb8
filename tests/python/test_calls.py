"""Long calls: Ctrl-C, progress, threads and the GIL."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import zonal


@pytest.fixture(scope="module")
def long_call():
    """A call of some seconds, whose transform and arrays are made once."""
    sht = zonal.SHT(zonal.Grid.healpix(512), 1024)
    alm = np.zeros((40, sht.n_alm), complex)
    out = np.zeros((40, sht.grid.n_pixels))
    return lambda **options: sht.synthesize(alm, out, **options)


@pytest.fixture(autouse=True)
def heeded_sigint():
    """Python raises KeyboardInterrupt even where the tests run in a shell's background, which ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_after(seconds, call):
    """For how long the threads compute after the signal until `call` raises KeyboardInterrupt, whatever else the machine does."""
    sent = []

    def send():
        time.sleep(seconds)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        call()
        sender.join()
    answered = time.process_time()
    sender.join()
    return answered - sent[0]


def test_ctrl_c_is_answered_within_a_fifth_of_a_second(long_call):
    assert max(interrupt_after(delay, long_call) for delay in (0.1, 0.2, 0.3)) < 0.2 * int(zonal.threads())


def test_everything_is_usable_after_ctrl_c(random_alm):
    sht = zonal.SHT(zonal.Grid.healpix(256), 512)
    alm = random_alm(512, shape=(30,))
    expected = sht.synthesize(alm[0])
    interrupt_after(0.05, lambda: [sht.analyze(sht.synthesize(alm)) for _ in range(100)])
    np.testing.assert_array_equal(sht.synthesize(alm[0]), expected)


def test_what_a_signal_handler_raises_comes_through(long_call):
    def handler(*_):
        raise RuntimeError("time is up")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(RuntimeError, match="time is up"):
            for _ in range(100):  # one is done in less on many CPUs
                long_call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_progress_goes_from_0_to_1(long_call):
    shares = []
    long_call(progress=shares.append)
    assert shares[0] == 0 and shares[-1] == 1 and shares == sorted(shares)


def test_progress_that_returns_false_stops_the_call(long_call):
    with pytest.raises(zonal.Cancelled):
        long_call(progress=lambda done: False)


def test_what_progress_raises_comes_through(long_call):
    def fail(done):
        raise LookupError("no bar")

    with pytest.raises(LookupError, match="no bar"):
        long_call(progress=fail)


def test_progress_true_shows_a_bar(long_call, capsys):
    long_call(progress=True)
    shown = capsys.readouterr().err
    assert "synthesis: 100%" in shown


def test_other_threads_run_during_a_call(long_call, lets_others_run):
    assert lets_others_run(long_call)


def test_the_number_of_threads_is_that_of_the_process():
    grid = zonal.Grid.healpix(64)
    before = zonal.threads()
    with zonal.threads(3) as n:
        assert n == 3 == zonal.threads() == zonal.SHT(grid, 128).threads
        assert zonal.SHT(grid, 128, threads=2).threads == 2
    assert zonal.threads() == before
    with pytest.raises(ValueError, match="n = -1: must be from 0"):
        zonal.threads(-1)


@pytest.mark.parametrize(("environment", "expected"), [
    ({"ZONAL_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, "3"),
    ({"OMP_NUM_THREADS": "5,2"}, "5"),
    ({"ZONAL_NUM_THREADS": "many"}, "the environment variable ZONAL_NUM_THREADS = many: must be a positive number"),
])
def test_the_environment_sets_the_number_of_threads(environment, expected):
    rest = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", "import zonal; print(int(zonal.threads()))"], text=True,
                          capture_output=True, env={**rest, **environment})
    assert expected in done.stdout + done.stderr
