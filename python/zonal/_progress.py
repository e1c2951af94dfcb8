"""Reports of how far a call is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = bool | Callable[[float], object]
"""True shows a bar, False shows nothing. A callable gets the share that is done, from 0 to 1, and may return False
to stop the call."""


@contextmanager
def reporting(progress: Progress, task: str) -> Iterator[Callable[[float], object] | None]:
    """Gives what the extension calls: None, or a callable of the share that is done."""
    if callable(progress):
        yield progress
    elif not isinstance(progress, bool):
        raise TypeError(f"progress = {progress!r}: must be True, False or a callable")
    elif progress:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]

        with tqdm(total=100, desc=task, unit="%", bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}") as bar:
            yield lambda done: bar.update(100 * done - bar.n) and None
    else:
        yield None
