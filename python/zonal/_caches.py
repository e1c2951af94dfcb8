"""What calls keep for the calls after them."""

from . import _core
from ._checked import Large, checked


def clear_caches() -> None:
    """Frees what calls keep: what transforms on the CPU of the last few grids have worked out, scratch memory, and rings."""
    _core.clear_caches()


@checked
def cache_limit(limit: Large | None = None) -> int:
    """Sets how many bytes are kept between calls at most, 0 for nothing (by default 256 MiB), and returns how many are.

    What was used longest ago goes first. Scratch memory above half of the limit is not kept.

    >>> zonal.cache_limit(2**28) <= 2**28
    True
    """
    if limit is not None:
        if limit < 0:
            raise ValueError(f"limit = {limit}: must be 0 or more")
        _core.set_cache_limit(limit)
    return _core.cached_bytes()
