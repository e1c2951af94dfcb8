"""Single harmonics at high degrees to 30 digits and more, on the exact rings of a HEALPix grid, by mpmath."""
import functools

import mpmath
import numpy as np

mpmath.mp.dps = 50  # the recurrence near a pole loses up to 2 log10(l) digits, the way from spin 0 to 2 as many


class Ring:
    """Northern ring number i = 1..2 nside of HEALPix: exact cosine and sine of its colatitude."""

    def __init__(self, nside, i):
        # Gorski et al. (2005), eqs. 4 and 8
        z = 1 - mpmath.mpf(i * i) / (3 * nside * nside) if i < nside else mpmath.mpf(4 * nside - 2 * i) / (3 * nside)
        self.cos, self.sin = z, mpmath.sqrt((1 - z) * (1 + z))

    @classmethod
    def at(cls, theta):
        """The ring at this very number as its colatitude."""
        ring = cls.__new__(cls)
        ring.cos, ring.sin = mpmath.cos(mpmath.mpf(float(theta))), mpmath.sin(mpmath.mpf(float(theta)))
        return ring


@functools.lru_cache(maxsize=4)
def epsilons(m, lmax):
    """eps_lm = sqrt((l^2 - m^2) / (4 l^2 - 1)), l = m..lmax."""
    return [mpmath.sqrt(mpmath.mpf(l * l - m * m) / (4 * l * l - 1)) for l in range(m, lmax + 1)]


def scalar(ring, m, lmax):
    """lambda_lm for l = m..lmax: lambda_{l+1} = (cos theta lambda_l - eps_l lambda_{l-1}) / eps_{l+1}."""
    eps = epsilons(m, lmax)
    norm = mpmath.sqrt((2 * m + 1) * mpmath.binomial(2 * m, m) / (4 * mpmath.pi * mpmath.mpf(4) ** m))
    values = [(-1) ** m * norm * ring.sin ** m]
    before = mpmath.mpf(0)
    for k in range(lmax - m):
        values.append((ring.cos * values[k] - eps[k] * before) / eps[k + 1])
        before = values[k]
    return values


def spin_2(l, m, eps, lam, sin):
    """F+ and F- from lambda at degrees l-2..l+2 (docs/how-it-works/methods.md, "Spin 1 and 2 through scalars").

    eps, lam: functions of the degree. Works on numbers and arrays."""
    norm = 2 / ((l + 2) * (l + 1) * l * (l - 1)) ** type(sin.flat[0] if hasattr(sin, "flat") else sin)(0.5)
    e0, e1 = eps(l), eps(l + 1)
    plus = (l * (l - 1) * e1 * eps(l + 2) * lam(l + 2) / 2
            + (m * m - l - l * (l - 1) * (1 - e0 * e0 - e1 * e1) / 2 + (2 * l + 1) * e0 * e0) * lam(l)
            + (l + 1) * (l + 2) * e0 * eps(l - 1) * lam(l - 2) / 2)
    minus = -m * ((l - 1) * e1 * lam(l + 1) - (l + 2) * e0 * lam(l - 1))
    return norm * plus / (sin * sin), norm * minus / (sin * sin)


def exact(ring, l, m, spin):
    """(lambda_lm,) for spin 0, (F+, F-) for spin 2."""
    lam = scalar(ring, m, l + (2 if spin == 2 else 0))
    if spin == 0:
        return (lam[-1],)
    eps = epsilons(m, l + 2)
    return spin_2(l, m, lambda k: eps[k - m] if k >= m else mpmath.mpf(0),
                  lambda k: lam[k - m] if k >= m else mpmath.mpf(0), ring.sin)


def peak(l, m, spin, n_theta=6000):
    """Largest value of the mode over the sphere, to a few percent (from below), by long double on many colatitudes,
    denser near the pole, where modes of small m oscillate fastest and peak."""
    real = np.longdouble
    theta = real(np.pi) / 2 * (np.arange(1, n_theta + 1, dtype=real) / n_theta) ** 2
    cos, sin = np.cos(theta), np.sin(theta)

    def eps(k):
        return np.sqrt(real(k * k - m * m) / real(4 * k * k - 1)) if k > m else real(0)

    k = np.arange(1, m + 1, dtype=real)
    lam = {m - 1: np.zeros_like(sin)}
    lam[m] = np.exp(np.log((2 * k + 1) / (2 * k)).sum() / 2 + m * np.log(sin)) / np.sqrt(4 * real(np.pi))
    for degree in range(m, l + 2):
        lam[degree + 1] = (cos * lam[degree] - eps(degree) * lam[degree - 1]) / eps(degree + 1)
        lam.pop(degree - 5, None)
    if spin == 0:
        return float(abs(lam[l]).max())
    zero = np.zeros_like(sin)
    plus, minus = spin_2(l, m, eps, lambda k: lam.get(k, zero), sin)
    return float(max(abs(plus).max(), abs(minus).max()))
