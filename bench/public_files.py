"""Reads every FITS file below a folder, such as the test files of other packages, with zonal.io.read_map. JSON on standard output.

    python bench/public_files.py FOLDER... [--output FILE]

A file is read, its pixels then being healpy's where healpy reads it, too, and else those that astropy finds in its image, if it
is one; or
it is refused with a message that begins with its name; or it holds no map. What is neither is listed as "wrong", and the exit code is 1.
"""
import pathlib
import sys
import warnings

import healpy
import numpy as np
from astropy.io import fits

import machine
import zonal.io


def pixels(values):
    """Rows of doubles, unseen pixels as NaN."""
    rows = np.array(np.atleast_2d(np.ma.getdata(values)), float)
    rows[np.abs(rows / healpy.UNSEEN - 1) < 1e-5] = np.nan
    return rows


def of_healpy(path):
    try:
        return pixels(healpy.read_map(path, field=None, dtype=np.float64))
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError):
        return None


def of_image(path):
    """The first image's planes, or None."""
    with fits.open(path) as file:
        images = [hdu.data for hdu in file if isinstance(hdu, (fits.PrimaryHDU, fits.ImageHDU, fits.CompImageHDU)) and hdu.data is not None]
    return pixels(images[0]).reshape(-1, *images[0].shape[-2:]) if images else None


def has_pixels(planes, found):
    """Whether each row has its plane's finite pixels, in whatever order."""
    known = [np.sort(row[np.isfinite(row)]) for row in found]
    wanted = [np.sort(plane[np.isfinite(plane)]) for plane in planes]
    return len(known) == len(wanted) and all(map(np.array_equal, known, wanted))


def is_right(path, found):
    peer = of_healpy(path)
    if peer is not None and peer.shape == found.shape:
        return "healpy", np.array_equal(peer, found, equal_nan=True)
    planes = of_image(path)
    if planes is None:
        return ("nobody", True) if peer is None else ("healpy", False)
    same_meridian = np.array_equal(planes[..., 0], planes[..., -1], equal_nan=True)  # in the first and the last column
    return "astropy", has_pixels(planes, found) or same_meridian and has_pixels(planes[..., :-1], found)


def read(path):
    """{"outcome": read, refused, no map or wrong, ...}."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pixels(zonal.io.read_map(path, nan_is_unseen=True))
    except OSError as error:
        message = str(error).removeprefix(str(path) + ": ")
        return {"outcome": "no map" if "holds no map" in message or "and so no map" in message else "refused", "message": message[:200]}
    peer, right = is_right(path, found)
    return {"outcome": "read" if right else "wrong", "shape": list(found.shape), "same_as": peer}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--output")
    options = parser.parse_args()
    files = {str(path.relative_to(folder.parent)): read(path)
             for folder in options.folders for path in sorted(folder.rglob("*.fits*")) if path.is_file()}
    outcomes = [file["outcome"] for file in files.values()]
    machine.write({"benchmark": "public_files", "machine": machine.describe("healpy", "astropy"),
                   "counts": {name: outcomes.count(name) for name in sorted(set(outcomes))}, "files": files}, options.output)
    sys.exit(1 if "wrong" in outcomes else 0)


if __name__ == "__main__":
    main()
