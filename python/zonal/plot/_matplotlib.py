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
    return load("pyplot").figure().add_subplot() if ax is None else ax
