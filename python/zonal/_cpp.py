"""Where C++ programs find the library that this package brings."""

import os

from ._core import Error

_HERE = os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """The folder of the C++ headers, for the compiler's option -I; the libraries are in lib/ beside it.

    ``c++ -std=c++20 program.cpp $(pkg-config --cflags --libs zonal_io)`` has both where PKG_CONFIG_PATH is
    ``lib/pkgconfig`` there; in CMake see `zonal.cmake_dir`.

    Raises zonal.Error if this copy of the package has none.
    """
    return _folder("include", "zonal")


def cmake_dir() -> str:
    """The folder of the CMake package, for ``find_package(zonal CONFIG PATHS ...)`` or ``cmake -Dzonal_DIR=...``.

    Its targets are ``zonal::zonal`` and, with the component io, ``zonal::io``, which reads and writes files.

    Raises zonal.Error if this copy of the package has none.
    """
    return _folder(os.path.join("lib", "cmake", "zonal"), "zonalConfig.cmake")


def _folder(name: str, content: str) -> str:
    folder = os.path.join(_HERE, name)
    if not os.path.exists(os.path.join(folder, content)):
        raise Error(f"{folder}: is not there, as this copy of zonal is not installed: run pip install . in its source")
    return folder
