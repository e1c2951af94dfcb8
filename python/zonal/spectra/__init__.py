"""Power spectra of masked skies."""

from .coupling import coupling_matrices
from .purification import pure_alm, pure_coupling_matrices

__all__ = ["coupling_matrices", "pure_alm", "pure_coupling_matrices"]
