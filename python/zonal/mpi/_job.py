"""The ranks of a communicator, which make the same calls together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from mpi4py import MPI

from .. import _core
from .._arrays import integer
from .._notes import warn
from .._progress import Progress, reporting
from .._threads import is_chosen, resolve

_LONGEST_MESSAGE = 2**30  # MPI counts in int


def job_of(comm: MPI.Intracomm) -> Job:
    if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
        raise TypeError(f"comm = {comm!r}: must be an mpi4py.MPI.Intracomm that is not COMM_NULL")
    return Job(comm)


class Job:
    """All ranks of the job, seen from this one. Making it is collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        own, self.share_of_cpus = _own_communicator(comm)
        self.rank, self.size = own.rank, own.size
        self.ranks = _core.Ranks(MPI, own, _LONGEST_MESSAGE, MPI.Query_thread() == MPI.THREAD_MULTIPLE)

    def threads(self, threads: int | None) -> int:
        """Those of this rank: by default its part of the CPUs, where nobody has said how many threads calls use."""
        return resolve(threads) if threads or is_chosen() else max(1, int(resolve(None) * self.share_of_cpus))

    @contextmanager
    def together(self, call: str, progress: Progress = False) -> Iterator[list[str]]:
        """Looks at the arguments of a call, and raises on all ranks what is wrong on one.

        It gives a list of what else the ranks must have in common.
        """
        about = [call]
        caught: BaseException | None = None
        kind = ""
        try:
            if not callable(progress) and not isinstance(progress, bool):
                raise TypeError(f"progress = {progress!r}: must be True, False or a callable")
            yield about
        except BaseException as error:
            caught = error
            kind = "argument" if isinstance(error, (TypeError, ValueError)) else \
                "other" if isinstance(error, Exception) else "cancelled"
        try:
            self.ranks.agree(" of ".join(about), kind, *_facts(caught))
        except (ValueError, RuntimeError) as agreed:
            if isinstance(caught, TypeError):
                raise TypeError(str(agreed)) from caught
            if caught is None or isinstance(caught, ValueError):
                raise agreed from None
            raise caught from None

    @contextmanager
    def reporting(self, progress: Progress, task: str) -> Iterator[Callable[[float], object] | None]:
        """One bar for all ranks, on the first."""
        with reporting(progress if callable(progress) else progress and self.rank == 0, task) as report:
            yield report

    def warn(self, notes: list[str]) -> None:
        """All ranks have the same notes."""
        if self.rank == 0:
            warn(notes)

    def root(self, root: int, about: list[str]) -> int:
        root = integer("root", root)
        if not 0 <= root < self.size:
            raise ValueError(f"root = {root}: must be from 0 to {self.size - 1}")
        about.append(f"root = {root}")
        return root


def _facts(error: Any) -> tuple[str, str | None, str]:
    """Argument, value and requirement of an error; its message is all of the requirement where it does not say them."""
    argument, origin = (getattr(error, name, None) for name in ("argument", "origin"))
    if argument and not origin:
        return argument, error.value, error.requirement
    return "", None, "" if error is None else str(error) or type(error).__name__


_Own = tuple[MPI.Intracomm, float]


@lru_cache
def _keyval() -> int:
    return MPI.Comm.Create_keyval(delete_fn=lambda _comm, _keyval, own: own[0].Free())


def _own_communicator(comm: MPI.Intracomm) -> _Own:
    """A duplicate of a communicator, the same for all plans, and this rank's share of the CPUs that it may use.

    Collective. MPI frees the duplicate with the original: when Python collects plans differs between ranks.
    """
    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise _core.CommunicationError("MPI has not been initialized, or has been finalized")
    own: Any = comm.Get_attr(_keyval())
    if own is None:
        duplicate = comm.Dup()
        duplicate.Set_errhandler(MPI.ERRORS_RETURN)
        node = duplicate.Split_type(MPI.COMM_TYPE_SHARED)
        mine = os.sched_getaffinity(0)
        all_cpus = node.allgather(mine)
        node.Free()
        own = duplicate, sum(1 / sum(cpu in other for other in all_cpus) for cpu in mine) / len(mine)
        comm.Set_attr(_keyval(), own)
    found: _Own = own
    return found
