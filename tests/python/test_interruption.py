"""Ctrl-C in every public call that can take a second."""

import signal
import time

import pytest

import zonal
from long_calls import LONG
from public_calls import public_calls
from quick_calls import QUICK

# People notice a fifth of a second. It is measured as CPU time of this process in one thread, which does not grow with
# what else the machine does.
LIMIT = 0.2
DELAY = 0.15  # by when each call is at its work


@pytest.fixture(autouse=True)
def one_thread_and_nothing_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with zonal.threads(1):
        yield


def wait_for_abandoned_work():
    """Decompositions go on for a while in threads of their own, and would count for the next call."""
    used = -1.0
    while time.process_time() - used > 0.01:
        used = time.process_time()
        time.sleep(0.1)


def seconds_after_ctrl_c(call):
    """CPU time from the signal to the end of the call, 0 or less if it ended before; None if the call swallowed the signal."""
    came = []

    def stop(signal_number, frame):
        came.append(signal_number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, stop)
    swallowed = False
    try:
        # A timer of the system sends the signal, as no other thread of Python can in a call that keeps the GIL. It comes up to
        # a tick of the system's clock late. Python's handler raises what that of SIGINT raises.
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, DELAY)
        try:
            call()
            swallowed = len(came) > 0
            signal.setitimer(signal.ITIMER_PROF, 0)
        except KeyboardInterrupt:
            pass
        waited = time.process_time() - start - DELAY if came else 0.0  # a fast machine may have ended before
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        wait_for_abandoned_work()
    return None if swallowed else waited


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_is_answered_within_a_fifth_of_a_second(name):
    # A virtual machine whose host is busy charges a process for pages that it must find: what is late at each call is late
    # by itself.
    for _ in range(3):
        waited = seconds_after_ctrl_c(LONG[name]())
        assert waited is not None, "the call swallowed the signal"
        if waited < LIMIT:
            return
    pytest.fail(f"answered after {waited:.2f} s of CPU time, three times above {LIMIT} s")


def test_every_public_function_is_listed():
    """A new function belongs in long_calls.py, or in quick_calls.py with the reason why no call of it takes long."""
    listed = {name for names in [*LONG, *QUICK.values()] for name in names.partition(":")[0].split()}
    assert sorted({call.name for call in public_calls()} - listed) == []
