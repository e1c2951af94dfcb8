"""The Wiener filter of a CMB map with a mask and noise, by conjugate gradients: with gradients from zonal.jax, and with healpy.

    python wiener_filter.py --nside 512

The sky is a = sqrt(C_l) times a white field, the data are d = S a + n with noise of standard deviation sigma outside a mask. The
most probable sky minimises U = |white|^2 / 2 + sum_p (d - S a)_p^2 / (2 sigma^2); a sample of all skies that the data allow is the
minimum for data and a prior with noise of their own (`sample`).
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

import zonal
import zonal.jax


def cmb_like_spectrum(lmax):
    """C_l ~ 1 / (l (l + 1)) with a damping tail; no monopole and dipole."""
    l = np.arange(lmax + 1.0)
    return np.where(l < 2, 0, np.exp(-((l / 900) ** 2)) / np.maximum(l * (l + 1), 1))


def simulate(nside, lmax, sigma, seed=1):
    """Returns c_l, the data and 1 / sigma^2 outside a mask of the galaxy, 0 inside."""
    c_l = cmb_like_spectrum(lmax)
    theta, _ = zonal.Grid.healpix(nside).angles()
    weight = np.where(abs(theta - np.pi / 2) > np.deg2rad(15), sigma**-2, 0)
    noise = sigma * np.random.default_rng(seed).standard_normal(theta.size)
    return c_l, zonal.synfast(c_l, nside, lmax, seed=seed) + noise, weight


def alm_of(white, c_l):
    """alm of spectrum C_l from real numbers [2, n_alm] of variance 1: the real and imaginary parts of a unit spectrum."""
    is_m0 = jnp.arange(white.shape[-1]) < len(c_l)
    parts = jnp.where(is_m0, jnp.array([[1.0], [0.0]]), jnp.sqrt(0.5)) * white
    return zonal.jax.synalm(c_l, parts[0] + 1j * parts[1])


def wiener_filter(c_l, data, weight, sht, *, prior=0.0, tolerance=1e-6, max_iterations=300):
    """Returns the alm of the most probable sky. prior: the white field at which the prior is centred."""

    def energy(white):
        residual = data - zonal.jax.synthesize(alm_of(white, c_l), sht)
        return ((white - prior) ** 2).sum() / 2 + (weight * residual**2).sum() / 2

    gradient = jax.grad(energy)
    start = jnp.zeros((2, sht.n_alm))
    slope = gradient(start)
    # The diagonal of the Hessian, if the weight were the same everywhere.
    signal_to_noise = c_l * weight.mean() * weight.size / (4 * np.pi)
    scale = zonal.jax.almxfl(jnp.ones(sht.n_alm), 1 / (1 + signal_to_noise)).real
    white, _ = jax.scipy.sparse.linalg.cg(lambda v: gradient(v) - slope, -slope, M=lambda v: scale * v, tol=tolerance,
                                          maxiter=max_iterations)
    return alm_of(white, c_l)


def sample(c_l, data, weight, sht, key):
    """Returns the alm of one of the skies that the data allow, drawn with their probability."""
    of_prior, of_data = jax.random.split(key)
    noise = jnp.where(weight > 0, jax.random.normal(of_data, data.shape) / jnp.sqrt(jnp.maximum(weight, 1e-300)), 0)
    return wiener_filter(c_l, data + noise, weight, sht, prior=jax.random.normal(of_prior, (2, sht.n_alm)))


def wiener_filter_with_healpy(c_l, data, weight, nside, *, tolerance=1e-6, max_iterations=300):
    """The same by hand: (1 + L S^T N^-1 S L) white = L S^T N^-1 d, L = sqrt(C_l), in the scalar product of real skies."""
    import healpy

    lmax, root = len(c_l) - 1, np.sqrt(c_l)
    l, m = healpy.Alm.getlm(lmax)
    counts = np.where(m == 0, 1, 2)

    def product(a, b):
        return (counts * (a.conj() * b).real).sum()

    def adjoint(sky):
        return healpy.almxfl(healpy.map2alm(sky, lmax, iter=0) * sky.size / (4 * np.pi), root)

    def matrix(white):
        return white + adjoint(weight * healpy.alm2map(healpy.almxfl(white, root), nside, lmax=lmax))

    scale = 1 / (1 + c_l * weight.mean() * weight.size / (4 * np.pi))
    white = np.zeros(l.size, complex)
    residual = adjoint(weight * data)
    direction = healpy.almxfl(residual, scale)
    size, stop = product(residual, direction), tolerance**2 * product(residual, residual)
    for _ in range(max_iterations):
        image = matrix(direction)
        step = size / product(direction, image)
        white, residual = white + step * direction, residual - step * image
        if product(residual, residual) < stop:
            break
        scaled = healpy.almxfl(residual, scale)
        size, before = product(residual, scaled), size
        direction = scaled + size / before * direction
    return healpy.almxfl(white, root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nside", type=int, default=64)
    parser.add_argument("--device", default=None, help="of zonal.SHT, such as cuda")
    parser.add_argument("--no-healpy", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    nside, lmax = options.nside, 2 * options.nside
    c_l, data, weight = simulate(nside, lmax, sigma=0.3)
    device = {} if options.device is None else {"device": options.device}
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax, **device)
    solve = jax.jit(lambda d, w: wiener_filter(c_l, d, w, sht))
    arguments = jnp.asarray(data), jnp.asarray(weight)
    solve(*arguments).block_until_ready()  # compiles
    start = time.perf_counter()
    alm = solve(*arguments).block_until_ready()
    print(f"zonal.jax: {time.perf_counter() - start:.3f} s")
    if not options.no_healpy:
        import healpy  # noqa: F401  (its import is not timed)

        start = time.perf_counter()
        peer = wiener_filter_with_healpy(c_l, data, weight, nside)
        print(f"healpy:    {time.perf_counter() - start:.3f} s")
        print(f"difference {np.linalg.norm(alm - peer) / np.linalg.norm(peer):.1e}")


if __name__ == "__main__":
    main()
