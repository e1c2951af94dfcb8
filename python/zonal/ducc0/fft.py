"""What packages use of ducc0.fft to choose the sizes of grids. Zonal offers no FFTs of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._checked import checked, invalid
from .._names import no_attribute


@checked
def good_size(n: int, real: bool = False) -> int:
    """Returns the smallest length >= n whose transforms are quick: without prime factors above 11, or above 5 for real ones.

    >>> zonal.ducc0.fft.good_size(13), zonal.ducc0.fft.good_size(13, True)
    (14, 15)
    """
    if n < 1:
        raise invalid("n", n, "must be 1 or more")
    primes = (2, 3, 5) if real else (2, 3, 5, 7, 11)
    size = n
    while _rest(size, primes) > 1:
        size += 1
    return size


def _rest(size: int, primes: tuple[int, ...]) -> int:
    for prime in primes:
        while size % prime == 0:
            size //= prime
    return size


__all__ = ["good_size"]

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        raise no_attribute("zonal.ducc0.fft", name, __all__, "Zonal has no FFTs of arrays; numpy.fft and scipy.fft have")
