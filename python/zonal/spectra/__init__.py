"""Power spectra of masked skies."""

from .coupling import coupling_matrices

__all__ = ["coupling_matrices"]
