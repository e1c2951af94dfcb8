"""Files of FITS tables that astropy writes, which is imported at the first file."""

import contextlib
import importlib
import os
import tempfile
from collections.abc import Sequence
from typing import Any


def astropy_fits() -> Any:
    """Returns the module astropy.io.fits. Raises ImportError, which says what to install."""
    try:
        return importlib.import_module("astropy.io.fits")
    except ImportError as error:
        raise ImportError("the FITS files of zonal.healpy need astropy: install it, or zonal[all]; zonal.io works "
                          "without it") from error


def write_tables(path: str | os.PathLike[str], tables: Sequence[Any], overwrite: bool) -> None:
    """Writes a file of tables, complete or not at all. Raises OSError if the file exists and overwrite is False.

    An empty file, as tempfile makes them, is replaced, as astropy and so healpy do.
    """
    name = os.fspath(path)
    if os.path.exists(name) and os.path.getsize(name) > 0 and not overwrite:
        raise OSError(f"{name}: exists, and is kept unless overwrite = True")
    fits = astropy_fits()
    folder, base = os.path.split(name)
    # astropy compresses if the name ends in .gz
    handle, temporary = tempfile.mkstemp(".fits.gz" if base.endswith(".gz") else ".fits", f".{base}.", folder or ".")
    os.close(handle)
    try:
        mask = os.umask(0)
        os.umask(mask)
        fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(temporary, overwrite=True)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, name)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
