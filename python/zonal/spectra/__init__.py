"""Power spectra of masked skies: how masks mix degrees, bands, and how spectra scatter."""

from .bins import Bins
from .catalogue import CatalogueAlm, catalogue_counts, catalogue_field
from .correlation import CorrelationMatrices, correlation_matrices
from .coupling import coupling_matrices
from .covariance import (
    ChiSquared,
    CovarianceReport,
    chi_squared,
    covariance,
    hartlap_factor,
    mean_pseudo_spectra,
    sample_covariance,
    simulated_spectra,
)
from .estimate import estimate
from .fields import Field
from .purification import pure_alm, pure_coupling_matrices
from .result import BandPowers

__all__ = ["BandPowers", "Bins", "CatalogueAlm", "ChiSquared", "CorrelationMatrices", "CovarianceReport", "Field", "catalogue_counts",
           "catalogue_field", "chi_squared", "correlation_matrices", "coupling_matrices", "covariance", "estimate", "hartlap_factor",
           "mean_pseudo_spectra", "pure_alm", "pure_coupling_matrices", "sample_covariance", "simulated_spectra"]
