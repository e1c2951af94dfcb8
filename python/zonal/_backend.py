"""Chooses the extension: that of the package zonal-cuda13, which has CUDA code, or else the package's own.

zonal-cuda13 is chosen where it is installed in the version of this package and can be loaded. `why_not_cuda` says what to
do where it is not.
"""

import ctypes
import importlib.util
import os
import sys

_FOLDER = "zonal_cuda13"
_PACKAGE = "zonal-cuda13"
_CUFFT = os.path.join("cu13", "lib", "libcufft.so.12")

why_not_cuda = ""
"""Why calls cannot use a GPU, as far as the packages are the reason; empty if they can."""


def _load() -> str:
    """Makes zonal-cuda13's extension zonal._core, or returns why not."""
    spec = importlib.util.find_spec(_FOLDER)
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    paths = [path for folder in folders for path in [os.path.join(folder, "_core.abi3.so")] if os.path.exists(path)]
    if not paths:
        return f"the package zonal has no CUDA code: pip install {_PACKAGE}"
    own, other = _version("zonal"), _version(_PACKAGE)
    if own is None or own != other:
        return (f"{_PACKAGE} {other} does not go with zonal {own or '(a copy that is not installed)'}: install both in "
                f"the same version: pip install --upgrade zonal {_PACKAGE}")
    try:
        _load_extension(paths[0])
    except ImportError as error:
        if not _load_cufft():
            return f"{_PACKAGE} cannot be loaded: {error}; pip install nvidia-cufft brings cuFFT"
        try:
            _load_extension(paths[0])
        except ImportError as second:
            return f"{_PACKAGE} cannot be loaded: {second}"
    return ""


def _version(package: str) -> str | None:
    from importlib import metadata  # which takes as long to import as the rest of the package

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _load_extension(path: str) -> None:
    name = f"{__package__}._core"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: is no extension")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    sys.modules[__package__]._core = module  # type: ignore[attr-defined]


def _load_cufft() -> bool:
    """Loads NVIDIA's cuFFT from another folder of packages than that of zonal-cuda13, where the extension looks."""
    spec = importlib.util.find_spec("nvidia")
    for folder in [] if spec is None else spec.submodule_search_locations or []:
        path = os.path.join(folder, _CUFFT)
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            return True
        except OSError:  # it is not there, or broken
            pass
    return False


why_not_cuda = _load()
