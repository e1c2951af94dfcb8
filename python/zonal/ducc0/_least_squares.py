"""LSMR (Fong & Saunders 2011, SIAM J. Sci. Comput. 33, 2950): least squares by a map's synthesis and its transpose."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Where the test of least squares says that rounding is reached: |A^T r| / (|A| |r|) of some hundred products.
ROUNDING = 1e-13


class Solution(NamedTuple):
    """What LSMR found: x, why it stopped (1: |b - A x| is small enough, 2: least squares, 7: max_steps), the steps that it
    took, |b - A x| / |b0|, and |A^T r| / (|A| |r|)."""

    x: Array
    reason: int
    steps: int
    residual: float
    quality: float


def lsmr(forward: Callable[[Array], Array], adjoint: Callable[[Array], Array], inner: Callable[[Array, Array], float], b: Array,
         max_steps: int, tolerance: float, x0: Array | None = None) -> Solution:
    """Minimises |b - A x| from x0, or from 0. forward: A, adjoint: its transpose in the product `inner` of x. tolerance: of
    |b - A x| / |b|."""
    scale = _norm(b)
    u = b.copy() if x0 is None else b - forward(x0)
    beta = _norm(u)
    if scale == 0 or beta <= tolerance * scale:
        x = np.zeros_like(adjoint(u)) if x0 is None else x0
        return Solution(x, 1, 0, beta / scale if scale else 0.0, 0.0)
    u /= beta
    v = adjoint(u)
    x = np.zeros_like(v) if x0 is None else x0.copy()
    alpha = math.sqrt(inner(v, v))
    if alpha == 0:
        return Solution(x, 2, 0, beta / scale, 0.0)
    v /= alpha
    state = _State(alpha, beta)
    h, h_bar = v.copy(), np.zeros_like(v)
    residual, quality, reason, steps = 1.0, 1.0, 7, 0
    while steps < max_steps:
        steps += 1
        u = forward(v) - alpha * u
        beta = _norm(u)
        u /= beta or 1.0
        v = adjoint(u) - beta * v
        alpha = math.sqrt(inner(v, v))
        v /= alpha or 1.0
        step = state.rotate(alpha, beta)
        h_bar = h - step.of_h_bar * h_bar
        x += step.of_x * h_bar
        h = v - step.of_h * h
        norm = state.residual()
        residual = norm / scale
        quality = abs(state.zeta_bar) / (state.operator_norm() * norm) if norm else 0.0
        if residual <= tolerance:
            reason = 1
        elif quality <= ROUNDING:
            reason = 2
        if reason != 7:
            break
    return Solution(x, reason, steps, residual, quality)


class _Step(NamedTuple):
    of_h_bar: float
    of_x: float
    of_h: float


class _State:
    """The scalars of the two QR factorizations, by the paper's names."""

    def __init__(self, alpha: float, beta: float) -> None:
        self.alpha_bar, self.zeta_bar = alpha, alpha * beta
        self.rho = self.rho_bar = self.c_bar = 1.0
        self.s_bar = self.zeta = 0.0
        # These estimate |r|, as section 3.2 has it.
        self.beta_dd, self.beta_d, self.rho_d, self.tau, self.theta, self.d = beta, 0.0, 1.0, 0.0, 0.0, 0.0
        self.norm2, self.alpha2 = alpha**2, 0.0

    def rotate(self, alpha: float, beta: float) -> _Step:
        """One step, alpha_{k+1} and beta_{k+1}."""
        rho_old, rho_bar_old, zeta_old = self.rho, self.rho_bar, self.zeta
        self.rho = math.hypot(self.alpha_bar, beta)
        c, s = self.alpha_bar / self.rho, beta / self.rho
        theta_new, self.alpha_bar = s * alpha, c * alpha
        theta_bar, rho_temp = self.s_bar * self.rho, self.c_bar * self.rho
        self.rho_bar = math.hypot(rho_temp, theta_new)
        self.c_bar, self.s_bar = rho_temp / self.rho_bar, theta_new / self.rho_bar
        self.zeta, self.zeta_bar = self.c_bar * self.zeta_bar, -self.s_bar * self.zeta_bar
        self._estimate(c, s, rho_bar_old, zeta_old, theta_bar)
        self.norm2 += self.alpha2 + beta**2
        self.alpha2 = alpha**2
        return _Step(theta_bar * self.rho / (rho_old * rho_bar_old), self.zeta / (self.rho * self.rho_bar), theta_new / self.rho)

    def _estimate(self, c: float, s: float, rho_bar_old: float, zeta_old: float, theta_bar: float) -> None:
        beta_hat, self.beta_dd = c * self.beta_dd, -s * self.beta_dd
        theta_tilde_old, rho_tilde_old = self.theta, math.hypot(self.rho_d, theta_bar)
        c_tilde, s_tilde = self.rho_d / rho_tilde_old, theta_bar / rho_tilde_old
        self.theta, self.rho_d = s_tilde * self.rho_bar, c_tilde * self.rho_bar
        self.beta_d = -s_tilde * self.beta_d + c_tilde * beta_hat
        self.tau = (zeta_old - theta_tilde_old * self.tau) / rho_tilde_old
        tau_d = (self.zeta - self.theta * self.tau) / self.rho_d
        self._last = self.beta_d - tau_d

    def residual(self) -> float:
        """|b - A x|."""
        return math.hypot(self._last, self.beta_dd)

    def operator_norm(self) -> float:
        """A lower bound of |A| in the Frobenius norm."""
        return math.sqrt(self.norm2)


def product_of(lmax: int) -> Callable[[Array, Array], float]:
    """The product of coefficients, (component, n_alm), in which S^T is the transpose of S: those with m > 0 count twice, for
    a_l,-m."""
    def product(x: Array, y: Array) -> float:
        x, y = (one.astype(np.complex128, copy=False) for one in (x, y))
        return float(2 * np.vdot(x, y).real - np.vdot(x[:, :lmax + 1], y[:, :lmax + 1]).real)
    return product


def _norm(array: Array) -> float:
    return float(np.linalg.norm(array.ravel().astype(np.float64, copy=False)))


__all__ = ["Solution", "lsmr", "product_of"]
