"""Series of Chebyshev polynomials on an interval, or on a box in two or three variables.

>>> from zonal.chebyshev import Series
>>> f = Series.from_function(lambda x: np.exp(-x) * np.cos(8 * x), (0, 2))
>>> f.degree < 40, f.roots().round(4).tolist()
(True, [0.1963, 0.589, 0.9817, 1.3744, 1.7671])
>>> bool(abs(f.derivative()(0.7) - np.exp(-0.7) * (-np.cos(5.6) - 8 * np.sin(5.6))) < 1e-12)
True
"""

from ._products import sum_of_products, sums_of_products
from ._series import Series

Series.__module__ = "zonal.chebyshev"  # where users find it

__all__ = ["Series", "sum_of_products", "sums_of_products"]


def __dir__() -> list[str]:
    return sorted(__all__)
