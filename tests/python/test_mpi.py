"""Runs mpi_rank.py under mpirun, and fails for jobs that hang."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import zonal

pytest.importorskip("mpi4py")
if shutil.which("mpirun") is None:
    pytest.skip("mpirun is not installed", allow_module_level=True)
sys.path.append(str(Path(__file__).parents[1] / "mpi"))
from jobs import FLAGS, MPIRUN, finish, start


def start_case(n_ranks, case, script="mpi_rank.py"):
    return start(MPIRUN, *FLAGS, "-n", n_ranks, sys.executable, "-B", "-m", "mpi4py", Path(__file__).with_name(script), case)


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("case", ["results", "skies", "files", "faults", "simulations"])
def test_ranks(case, n_ranks):
    code, out, err = finish(start_case(n_ranks, case))
    assert code == 0 and out.count("done") == n_ranks, out + err


@pytest.mark.parametrize("case, n_ranks", [("pieces", 3), ("without_threads", 3), ("alone", 3), ("requests", 1), ("requests", 2), ("example", 3), ("interrupted", 1), ("interrupted", 3)])
def test_ranks_in_other_ways(case, n_ranks):
    test_ranks(case, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_sums_over_pixels_are_those_of_one_process(n_ranks):
    code, out, err = finish(start_case(n_ranks, "", "mpi_sums.py"))
    assert code == 0 and out.count("done") == n_ranks, out + err


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_transforms_at_points_are_those_of_one_process(n_ranks):
    code, out, err = finish(start_case(n_ranks, "", "mpi_points.py"))
    assert code == 0 and out.count("done") == n_ranks, out + err


class Broken:
    """Stands for a communicator of two ranks whose call fails."""

    rank, size = 0, 2
    BYTE = INT64_T = None

    def __init__(self, call, error):
        self.call, self.error = call, error
        self.Request = SimpleNamespace(Testall=lambda requests: self.fail("Testall"))

    def fail(self, call):
        if call == self.call:
            raise self.error("is gone")
        return True

    def __getattr__(self, name):
        return lambda *arguments: self.fail(name)


@pytest.mark.parametrize("with_thread", [False, True])
@pytest.mark.parametrize("call", ["Allgather", "Allgatherv", "Isend", "Testall"])
def test_what_a_communicator_raises_is_a_communication_error(call, with_thread):
    for error, kind, text in ((RuntimeError, zonal.CommunicationError, "^RuntimeError: is gone$"),
                              (KeyboardInterrupt, KeyboardInterrupt, None)):
        broken = Broken(call, error)
        ranks = zonal._core.Ranks(broken, broken, 100, with_thread)
        with pytest.raises(kind, match=text):
            if "gather" in call:
                ranks.gather(b"bytes")
            else:
                ranks.send(np.zeros(1000, np.uint8), 1)


def test_a_rank_that_ends_with_an_exception_ends_all():
    code, out, err = finish(start_case(3, "leaves"))
    assert code != 0 and "done" not in out
    assert err.count("RuntimeError: this rank gives up") == 1


def test_ctrl_c_ends_ranks_that_wait():
    job = start_case(2, "waits")
    assert job.stdout.readline() == "ready\n"
    time.sleep(0.5)
    os.kill(job.pid, signal.SIGINT)
    code, out, _ = finish(job)
    assert code != 0 and "done" not in out


def test_a_rank_alone_has_the_threads_of_the_process():
    from mpi4py import MPI

    from zonal import mpi
    assert mpi.SHT(MPI.COMM_SELF, 4, 8).threads == int(zonal.threads())
    with zonal.threads(3):
        assert mpi.SHT(MPI.COMM_SELF, 4, 8).threads == 3
