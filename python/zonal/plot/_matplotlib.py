"""matplotlib, which is imported when the first picture is drawn."""

import importlib
from typing import Any


def load(name: str) -> Any:
    """Returns the module matplotlib.<name>. Raises ImportError, which says what to install."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        raise ImportError("pictures need matplotlib: pip install 'zonal[plot]'") from error


def axes_of(ax: Any) -> Any:
    """Returns the given axes, or for None those of a new figure."""
    if ax is None:
        return load("pyplot").figure().add_subplot()
    if not isinstance(ax, load("axes").Axes):
        raise TypeError(f"ax: must be matplotlib's axes, not {type(ax).__name__}")
    return ax
