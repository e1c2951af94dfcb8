"""Power spectra of masked skies."""

from .bins import Bins
from .coupling import coupling_matrices
from .estimate import estimate
from .fields import Field
from .result import BandPowers

__all__ = ["BandPowers", "Bins", "Field", "coupling_matrices", "estimate"]
