"""zonal.jax.evaluate: values of zonal.PointTransform, derivatives by alm and positions against differences, batches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import zonal
import zonal.jax as zj

jax.config.update("jax_enable_x64", True)
LMAX = 6


def arrays(rng, spin, mmax=LMAX, front=()):
    """alm of m = 0 have imaginary parts, which must have no effect."""
    shape = (*front, *((2,) if spin else ()), zonal.alm_size(LMAX, mmax))
    alm = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return alm, rng.uniform(0.2, 2.9, 7), rng.uniform(-5, 9, 7)


@pytest.mark.parametrize("spin, mmax", [(0, LMAX), (2, 4)])
def test_values_are_those_of_the_plain_transform(rng, spin, mmax):
    alm, theta, phi = arrays(rng, spin, mmax, (2, 3))
    made = jax.jit(lambda *given: zj.evaluate(*given, LMAX, spin, 1e-6, mmax=mmax, threads=1))(alm, theta, phi)
    transform = zonal.PointTransform(theta, phi, LMAX, spin, 1e-6, mmax=mmax, threads=1)
    assert np.array_equal(made, np.reshape([transform.synthesize(one) for one in alm], made.shape))
    assert zj.evaluate(alm.astype(np.complex64), theta, phi, LMAX, spin, mmax=mmax).dtype == np.float32


@pytest.mark.parametrize("spin, mmax", [(0, LMAX), (1, LMAX), (2, 4)])
def test_derivatives_hold(rng, spin, mmax):
    """The step's errors, of the order of eps^2 and of 1e-12 / eps, are far below the tolerance of 1e-5."""
    def values(alm, theta, phi):
        return zj.evaluate(alm, theta, phi, LMAX, spin, 1e-12, mmax=mmax)

    given = arrays(rng, spin, mmax)
    check_grads(jax.jit(values), given, order=1, eps=1e-5)
    # Linear in alm, so that its derivatives by them have any number of derivatives.
    check_grads(lambda alm: values(alm, *given[1:]) ** 2, given[:1], order=2, eps=1e-5)
    # And what the derivative by alm depends on.
    check_grads(lambda alm, theta: (values(alm, theta, given[2]) ** 2).sum(), given[:2], order=1, eps=1e-5)


def test_vmap_maps_alm_and_positions(rng):
    alm, theta, phi = arrays(rng, 0, front=(4,))
    wanted = zj.evaluate(alm, theta, phi)
    np.testing.assert_allclose(jax.vmap(zj.evaluate, (0, None, None))(alm, theta, phi), wanted, rtol=0, atol=1e-14)
    np.testing.assert_allclose(jax.vmap(zj.evaluate, (1, None, None), 1)(alm.T, theta, phi), wanted.T, rtol=0, atol=1e-14)
    turned = jnp.stack([theta, theta[::-1], theta, theta])
    np.testing.assert_allclose(jax.vmap(zj.evaluate, (0, 0, None))(alm, turned, phi),
                               [zj.evaluate(a, t, phi) for a, t in zip(alm, turned)], rtol=0, atol=1e-14)
    slopes = jax.jacfwd(lambda t: zj.evaluate(alm[0], t, phi))(jnp.asarray(theta))
    np.testing.assert_allclose(jnp.diag(slopes), zonal.PointTransform(theta, phi, LMAX).synthesize(
        np.where(np.arange(alm.shape[1]) <= LMAX, alm[0].real, alm[0]), True)[1], rtol=0, atol=1e-8)
    along = jax.vmap(jax.grad(lambda a, t: zj.evaluate(a, t, phi).sum(), 1), (0, None))(alm, jnp.asarray(theta))
    assert along.shape == (4, 7)


def test_what_it_cannot_do_it_says(rng):
    alm, theta, phi = arrays(rng, 0)
    with pytest.raises(TypeError, match="theta: is float32: must be float64"):
        zj.evaluate(alm, theta.astype(np.float32), phi)
    with pytest.raises(ValueError, match=r"theta and phi: have shapes \(7,\) and \(6,\)"):
        zj.evaluate(alm, theta, phi[1:])
    with pytest.raises(ValueError, match=r"theta: has shape \(1, 7\): must be \[n_points\]"):
        zj.evaluate(alm, theta[None], phi)
    with pytest.raises(ValueError, match="alm: has shape"):
        zj.evaluate(alm, theta, phi, LMAX, 2)
    with pytest.raises(ValueError, match="^error = 0: must be from 2e-14 to 0.1"):
        jax.jit(lambda a: zj.evaluate(a, theta, phi, error=0))(alm)
    with pytest.raises(NotImplementedError, match="second derivatives by positions"):
        jax.hessian(lambda t: zj.evaluate(alm, t, phi).sum())(jnp.asarray(theta))
    with pytest.raises(NotImplementedError, match="derivatives by alm of those by positions"):
        jax.grad(lambda a: jax.grad(lambda t: zj.evaluate(a, t, phi).sum())(jnp.asarray(theta)).sum(), holomorphic=False)(alm.real + 0)
