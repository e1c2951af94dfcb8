"""Separates the CMB, synchrotron and dust in maps of several frequencies, with zonal.jax.

    python component_separation.py --nside 256

Each map has a beam of its own, and the noise is white, so that the spectral likelihood (Stompor et al. 2009) is one of each l.
Newton's method maximises it over the spectral indices and over the widths of the beams, which are known only roughly; JAX
has its gradient and its Hessian.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

import zonal
import zonal.jax

FREQUENCIES = np.array([30.0, 44.0, 70.0, 100.0, 143.0, 217.0, 353.0])  # GHz
TRUE_INDICES = np.array([-3.0, 1.6])  # synchrotron, dust


def mixing_matrix(indices):
    """[frequency, component]: brightness of the CMB, of synchrotron (1 at 30 GHz) and of dust (1 at 353 GHz)."""
    synchrotron = (FREQUENCIES / 30) ** indices[0]
    dust = (FREQUENCIES / 353) ** indices[1]
    return jnp.stack([jnp.ones(len(FREQUENCIES)), synchrotron, dust], axis=1)


def simulate(nside, lmax, sigma=0.02, seed=1):
    """Returns maps [frequency, pixel] and the true widths of their beams (rad)."""
    l = np.arange(lmax + 1.0)
    c_l = 1 / (l + 1) ** 2.5
    skies = np.stack([zonal.synfast(c_l, nside, lmax, seed=seed + i) for i in range(3)])
    fwhm = 4 / nside * np.linspace(1.6, 0.8, len(FREQUENCIES))
    sht = zonal.SHT(zonal.Grid.healpix(nside), lmax)
    mixed = sht.analyze(np.asarray(mixing_matrix(TRUE_INDICES)) @ skies)
    seen = [sht.synthesize(zonal.almxfl(alm, zonal.gaussian_window(width, lmax))) for alm, width in zip(mixed, fwhm)]
    noise = sigma * np.random.default_rng(seed).standard_normal((len(fwhm), skies.shape[1]))
    return np.stack(seen) + noise, fwhm


def beams(fwhm, factors, lmax):
    """[frequency, lmax + 1], the windows of beams whose widths are `factors` times those believed."""
    return jax.vmap(lambda width: zonal.jax.gaussian_window(width, lmax))(fwhm * factors)


def split(parameters):
    """The indices of synchrotron and dust, and a factor for the width of each beam but the first, which is known."""
    return parameters[:2], jnp.concatenate([jnp.ones(1), parameters[2:]])


def inverse_and_weights(parameters, fwhm, noise, lmax):
    """Of each l: the covariance of the components' alm, [l, 3, 3], and what weighs the maps' alm for them, [l, 3, frequency]."""
    indices, factors = split(parameters)
    seen = mixing_matrix(indices) * beams(fwhm, factors, lmax).T[..., None]  # [l, frequency, component]
    return jnp.linalg.inv(jnp.einsum("lfc,lfd->lcd", seen, seen) / noise), jnp.swapaxes(seen, 1, 2) / noise


def energy(parameters, spectra, fwhm, noise):
    """-ln of the likelihood, in which the components' alm are at their best for these parameters.

    spectra: [frequency, frequency, lmax + 1], of the maps. noise: N_l of each. Beams are known to 2 %.
    """
    covariance, weights = inverse_and_weights(parameters, fwhm, noise, spectra.shape[-1] - 1)
    gain = jnp.einsum("lcd,lcf,ldg,fgl->l", covariance, weights, weights, spectra)
    modes = 2 * jnp.arange(spectra.shape[-1]) + 1
    return -(modes * gain).sum() / 2 + (((parameters[2:] - 1) / 0.02) ** 2).sum() / 2


def separate(maps, fwhm, sigma, sht, steps=8):
    """Returns the parameters of largest likelihood, their errors, and the skies of the components [component, pixel].

    fwhm: [frequency], rad, the widths as they are believed to be. sigma: of a pixel's noise.
    """
    alm = zonal.jax.analyze(maps, sht)  # all in one call
    spectra = jax.vmap(lambda a: jax.vmap(lambda b: zonal.jax.alm2cl(a, b))(alm))(alm)
    noise = sigma**2 * 4 * np.pi / sht.grid.n_pixels

    def newton(parameters, _):
        slope = jax.grad(energy)(parameters, spectra, fwhm, noise)
        curvature = jax.hessian(energy)(parameters, spectra, fwhm, noise)
        return parameters - jnp.linalg.solve(curvature, slope), jnp.linalg.inv(curvature)

    start = jnp.concatenate([jnp.array([-2.8, 1.5]), jnp.ones(len(fwhm) - 1)])
    parameters, covariances = jax.lax.scan(newton, start, length=steps)
    covariance, weights = inverse_and_weights(parameters, fwhm, noise, sht.lmax)
    windows = jnp.einsum("lcd,ldf->cfl", covariance, weights)
    parts = jax.vmap(lambda of_component: zonal.jax.almxfl(alm, of_component).sum(0))(windows)
    return parameters, jnp.sqrt(jnp.diag(covariances[-1])), zonal.jax.synthesize(parts, sht)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nside", type=int, default=64)
    parser.add_argument("--device", default=None, help="of zonal.SHT, such as cuda")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    lmax, sigma = 2 * options.nside, 0.02
    device = {} if options.device is None else {"device": options.device}
    sht = zonal.SHT(zonal.Grid.healpix(options.nside), lmax, **device)
    maps, fwhm = simulate(options.nside, lmax, sigma)
    call = jax.jit(lambda d: separate(d, fwhm, sigma, sht))
    data = jnp.asarray(maps)
    jax.block_until_ready(call(data))  # compiles
    start = time.perf_counter()
    parameters, errors, _ = jax.block_until_ready(call(data))
    print(f"{time.perf_counter() - start:.3f} s")
    for name, value, error, true in zip(["synchrotron", "dust"], parameters, errors, TRUE_INDICES):
        print(f"{name}: index {value:.5f} +- {error:.5f}, true {true}")


if __name__ == "__main__":
    main()
