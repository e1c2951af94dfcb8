"""Ctrl-C in every public call that can take a second."""

import signal
import time

import pytest

import zonal
from long_calls import LONG
from quick_calls import QUICK
from public_calls import public_calls

# People notice a fifth of a second. It is measured as CPU time of this process in one thread, which does not grow with
# what else the machine does.
LIMIT = 0.2
DELAY = 0.15  # by when each call is at its work


def stop(signal_number, frame):
    raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def one_thread_and_nothing_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with zonal.threads(1):
        yield


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_is_answered_within_a_fifth_of_a_second(name):
    call = LONG[name]()
    before = signal.signal(signal.SIGPROF, stop)
    try:
        # A timer of the system sends the signal, as no other thread of Python can in a call that keeps the GIL. Python's
        # handler raises what that of SIGINT raises.
        signal.setitimer(signal.ITIMER_PROF, DELAY)
        start, interrupted = time.process_time(), False
        try:
            call()
        except KeyboardInterrupt:
            interrupted = True
        waited = time.process_time() - start - DELAY
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert interrupted or waited < 0  # a fast machine may have ended before
    assert waited < LIMIT


def test_every_public_function_is_listed():
    """A new function belongs in long_calls.py, or in quick_calls.py with the reason why no call of it takes long."""
    listed = {name for names in [*LONG, *QUICK.values()] for name in names.partition(":")[0].split()}
    assert sorted({call.name for call in public_calls()} - listed) == []
