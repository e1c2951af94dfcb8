"""Coefficients of white skies, and how far maps are from each other."""
import numpy as np

import zonal


def white_alm(lmax, spin=0, seed=1):
    """[component, coefficient] of C_l = 1: a field of spin 0, or E and B."""
    white = np.ones(lmax + 1)
    if spin == 0:
        return zonal.synalm(white, seed=seed)[None]
    return zonal.synalm({name: white * (np.arange(lmax + 1) >= spin) for name in ("TT", "EE", "BB")}, seed=seed)[1:]


def relative_rms(found, truth):
    """Of the difference over that of the truth."""
    return float(np.sqrt(np.mean(np.square(found - truth)) / np.mean(np.square(truth))))
