"""How many threads the calls of this process use."""

import os
from types import TracebackType

from . import _core
from ._arrays import integer

MOST = 4096  # more than any machine has CPUs
_chosen: int | None = None


class _Threads(int):
    """A number of threads. As a context manager it puts the number back that was before."""

    _before: int | None

    def __enter__(self) -> int:
        return int(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        global _chosen
        _chosen = self._before


def threads(n: int | None = None) -> _Threads:
    """Sets the number of threads of all calls from now on that are not given one, and returns it.

    n: 1 or more; 0 goes back to the default; None only asks. By default it is the environment variable
    ZONAL_NUM_THREADS, or else OMP_NUM_THREADS, or else as many CPUs as this process may use: those of its affinity
    and of the quota of its container.

    The number holds for the whole process. In a `with` statement it holds until its end:

    >>> with zonal.threads(1):
    ...     zonal.threads()
    1

    Raises ValueError for a negative number or one above 4096, and for environment variables that hold no number.
    """
    global _chosen
    before = _chosen
    if n is not None:
        n = integer("n", n)
        if not 0 <= n <= MOST:
            raise ValueError(f"n = {n}: must be from 0 (the default) to {MOST}")
        _chosen = n or None
    number = _Threads(_chosen or _from_environment() or _core.available_cpus())
    number._before = before
    return number


def resolve(n: int | None) -> int:
    """The number that an argument `threads` stands for: None and 0 are the process's."""
    if n is None or n == 0:
        return _chosen or _from_environment() or _core.available_cpus()
    n = integer("threads", n)
    if not 0 <= n <= MOST:
        raise ValueError(f"threads = {n}: must be from 0 (all CPUs) to {MOST}")
    return n


def is_chosen() -> bool:
    """Whether somebody has said how many threads calls use by default."""
    return bool(_chosen or _from_environment())


def _from_environment() -> int:
    for variable in ("ZONAL_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(variable, "").strip()
        if not text:
            continue
        # OpenMP takes a list, a number for each level of nesting.
        number = text.split(",")[0].strip()
        if not number.isdecimal() or int(number) < 1:
            raise ValueError(f"the environment variable {variable} = {text}: must be a positive number of threads")
        return int(number)
    return 0
