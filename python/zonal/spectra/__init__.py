"""Power spectra of masked skies: how masks mix degrees, and how spectra scatter."""

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

__all__ = ["CatalogueAlm", "ChiSquared", "CorrelationMatrices", "CovarianceReport", "catalogue_counts", "catalogue_field", "chi_squared",
           "correlation_matrices", "coupling_matrices", "covariance", "hartlap_factor", "mean_pseudo_spectra", "sample_covariance",
           "simulated_spectra"]
