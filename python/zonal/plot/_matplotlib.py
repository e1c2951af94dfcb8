"""matplotlib, which is imported when the first picture is drawn."""

import importlib
from typing import Any


def load(name: str) -> Any:
    """Returns the module matplotlib.<name>, or for "" matplotlib. Raises ImportError, which says what to install."""
    try:
        return importlib.import_module(f"matplotlib.{name}".rstrip("."))
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        raise ImportError("pictures need matplotlib: pip install 'zonal[plot]'") from error


def axes_of(ax: Any) -> Any:
    """Returns the given axes, or for None those of a new figure."""
    return load("pyplot").figure(figsize=(8, 5), layout="constrained").add_subplot() if ax is None else own_axes(ax)


def own_axes(ax: Any) -> Any:
    """Returns axes that a caller gave. Raises TypeError for what is none."""
    if not isinstance(ax, load("axes").Axes):
        raise TypeError(f"ax: must be matplotlib's axes, not {type(ax).__name__}")
    return ax
