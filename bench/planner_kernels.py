"""Thirty kernels, of few pixels and of many degrees, for bench/planner.py, and some for maps of Q and U: each with the
error that is asked for, the maps that it is applied to and the reference."""
import dataclasses
from collections.abc import Callable

import numpy as np

import programs

DEGREE = np.pi / 180


def pixel(nside):
    """Side of a pixel, rad."""
    return np.sqrt(np.pi / 3) / nside


@dataclasses.dataclass
class Case:
    name: str
    error: float
    make: Callable  # (nside, lmax, folder) -> arguments of zonal plan
    reference: str = "discrete"
    degrees: float = 2  # lmax over nside

    def lmax(self, nside):
        return min(int(self.degrees * nside), 3 * nside - 1)

    def arguments(self, nside, lmax, folder):
        return list(self.make(nside, lmax, folder)) + ["--reference", self.reference]


def gaussian(pixels=None, degrees=None):
    return lambda nside, lmax, folder: ["--fwhm", f"{pixels * pixel(nside) if pixels else degrees * DEGREE:.10g}rad"]


def profile(name, function, end, nodes=601):
    """function(theta / scale) up to theta / scale = end; scale in pixels where it is positive, else in degrees."""
    def make(scale):
        def arguments(nside, lmax, folder):
            width = scale * pixel(nside) if scale > 0 else -scale * DEGREE
            last = min(end * width, np.pi)
            theta = last * np.linspace(0, 1, nodes)
            path = folder / f"{name}_{scale:g}_{nside}.txt"
            np.savetxt(path, np.transpose([theta, function(theta / width)]), header="theta [rad] value [1/sr]",
                       fmt="%.17g")
            return ["--profile", path]
        return arguments
    return make


def window(name, function):
    """function(l, lmax) as a window."""
    def arguments(nside, lmax, folder):
        path = folder / f"{name}_{lmax}.txt"
        np.savetxt(path, function(np.arange(lmax + 1.0), lmax), fmt="%.17g")
        return ["--kernel", "window", "--beam", path, "--normalize", "none"]
    return arguments


def needlet(octaves, base=2.0):
    """b(l / base^j) of standard needlets, up to lmax / base^octaves (Marinucci et al. 2008)."""
    u = np.linspace(-1, 1, 20001)[1:-1]
    bump = np.exp(-1 / (1 - u * u))
    total = np.cumsum(bump) / bump.sum()

    def low_pass(t):  # 1 up to 1 / base, 0 from 1 on
        return np.interp(1 - 2 * base / (base - 1) * (np.clip(t, 1 / base, 1) - 1 / base), u, total)

    def values(l, lmax):
        x = l * base ** (octaves + 1) / lmax
        return np.sqrt(np.maximum(low_pass(x / base) - low_pass(x), 0))
    return window("needlet", values)


def sky_kernel(fwhm_pixels):
    return lambda nside, lmax, folder: ["--kernel", "cl-beam", "--cl", programs.WMAP7, "--extend", "powerlaw",
                                        "--fwhm", f"{fwhm_pixels * pixel(nside):.10g}rad"]


top_hat = profile("top_hat", np.ones_like, 1, nodes=2)
cut_gaussian = profile("cut_gaussian", lambda x: np.exp(-4 * np.log(2) * x**2), 3.2)
# Like a telescope's King profile, its tail cut at 30 widths.
power_law = profile("power_law", lambda x: (1 + x * x) ** -2.25, 30)
mexican_hat = profile("mexican_hat", lambda x: (2 - x * x) * np.exp(-x * x / 2), 8.5)

CASES = [
    Case("gaussian 2 pixels", 1e-3, gaussian(pixels=2)),
    Case("gaussian 2 pixels", 1e-5, gaussian(pixels=2)),
    Case("gaussian 3 pixels", 1e-5, gaussian(pixels=3)),
    Case("gaussian 4 pixels", 1e-4, gaussian(pixels=4)),
    Case("gaussian 4 pixels, exact", 1e-6, gaussian(pixels=4), degrees=3),
    Case("gaussian 6 pixels", 1e-5, gaussian(pixels=6)),
    Case("gaussian 8 pixels", 1e-6, gaussian(pixels=8), degrees=3),
    Case("gaussian 12 pixels", 1e-3, gaussian(pixels=12)),
    Case("gaussian 20 pixels", 1e-5, gaussian(pixels=20)),
    Case("gaussian 40 pixels", 1e-5, gaussian(pixels=40)),
    Case("gaussian 1 degree", 1e-5, gaussian(degrees=1)),
    Case("gaussian 2 degrees", 1e-6, gaussian(degrees=2)),
    Case("gaussian 5 degrees", 1e-4, gaussian(degrees=5)),
    Case("gaussian 10 degrees", 1e-5, gaussian(degrees=10)),
    Case("gaussian 20 degrees", 1e-3, gaussian(degrees=20)),
    Case("gaussian 3 pixels, continuous", 1e-5, gaussian(pixels=3), reference="continuous"),
    Case("gaussian 8 pixels, continuous", 1e-3, gaussian(pixels=8), reference="continuous"),
    Case("gaussian 5 degrees, continuous", 1e-4, gaussian(degrees=5), reference="continuous"),
    Case("top hat 3 pixels", 1e-4, top_hat(3)),
    Case("top hat 10 pixels", 1e-5, top_hat(10)),
    Case("top hat 1 degree", 1e-6, top_hat(-1), degrees=3),
    Case("cut gaussian 3 pixels", 1e-5, cut_gaussian(3)),
    Case("cut gaussian 10 pixels", 1e-6, cut_gaussian(10), degrees=3),
    Case("power law 2 pixels", 1e-3, power_law(2)),
    Case("power law 0.5 degrees", 1e-4, power_law(-0.5)),
    Case("mexican hat 3 pixels", 1e-4, mexican_hat(3)),
    Case("mexican hat 2 degrees", 1e-5, mexican_hat(-2)),
    Case("needlet", 1e-3, needlet(3)),
    Case("sky kernel 6 pixels", 1e-4, sky_kernel(6)),
]


def spin_window(name, e, b):
    """Functions of (l, lmax) as windows of E and B; that of T is E's."""
    def arguments(nside, lmax, folder):
        path, l = folder / f"{name}_{lmax}.txt", np.arange(lmax + 1.0)
        np.savetxt(path, np.transpose([l, e(l, lmax), e(l, lmax), b(l, lmax)]), header="l T E B", fmt="%.17g")
        return ["--kernel", "window", "--beam", path, "--normalize", "none"]
    return arguments


def fading(width):
    """exp(-(l / (width lmax))^2 / 2), which has faded away at lmax for widths below 1/6."""
    return lambda l, lmax: np.exp(-(l / (width * lmax)) ** 2 / 2)


# Profiles are kernels of spin 0; these have windows of E and B.
SPIN_CASES = [case for case in CASES if case.name.startswith(("gaussian", "needlet"))] + [
    Case("e alone", 1e-4, spin_window("e_alone", fading(1 / 6), lambda l, lmax: 0 * l)),
    Case("e wider than b", 1e-5, spin_window("e_wider", fading(1 / 20), fading(1 / 7))),
]
