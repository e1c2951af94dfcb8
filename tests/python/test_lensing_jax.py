"""zonal.jax.lens: values of zonal.lens, derivatives by alm and potentials against differences, vmap."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import zonal
import zonal.jax as zj

jax.config.update("jax_enable_x64", True)
LMAX, LMAX_PHI = 6, 4


def arrays(rng, fields):
    """alm of m = 0 have imaginary parts, which must have no effect."""
    shape = (*((len(fields),) if fields != "T" else ()), zonal.alm_size(LMAX))
    alm = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    phi, curl = (0.03 * (rng.standard_normal(15) + 1j * rng.standard_normal(15)) for _ in range(2))
    return alm, phi, curl, (rng.uniform(0.2, 2.9, 7), rng.uniform(-5, 9, 7))


@pytest.mark.parametrize("fields", ["T", "EB", "TEB"])
def test_values_are_those_of_the_plain_function(rng, fields):
    alm, phi, curl, where = arrays(rng, fields)
    made = jax.jit(lambda *given: zj.lens(*given, where, curl=curl, error=1e-9))(alm, phi)
    np.testing.assert_array_equal(made, zonal.lens(alm, phi, where, curl=curl, error=1e-9))
    np.testing.assert_array_equal(zj.lens(alm, phi, zonal.Grid.healpix(2)), zonal.lens(alm, phi, 2))
    assert zj.lens(alm.astype(np.complex64), phi, where).dtype == np.float32


@pytest.mark.parametrize("fields", ["T", "EB", "TEB"])
@pytest.mark.parametrize("on_grid", [False, True])
def test_derivatives_hold(rng, fields, on_grid):
    """The step's errors, of the order of eps^2 and of 1e-11 / eps, are far below the tolerance of 1e-5."""
    alm, phi, curl, where = arrays(rng, fields)
    values = lambda a, p, c: zj.lens(a, p, 2 if on_grid else where, curl=c, error=1e-12)
    check_grads(jax.jit(values), (alm, phi, curl), order=1, modes=["rev"], eps=1e-5)
    check_grads(lambda p: zj.lens(alm, p, where, error=1e-12) ** 2, (phi,), order=1, modes=["rev"], eps=1e-5)


def test_vmap_maps_alm_and_potentials(rng):
    alm, phi, _, where = arrays(rng, "T")
    many = jnp.stack([phi, 2 * phi, 0 * phi])
    np.testing.assert_array_equal(jax.vmap(lambda p: zj.lens(alm, p, where))(many), [zonal.lens(alm, np.asarray(p), where) for p in many])


def test_what_it_cannot_do_it_says(rng):
    alm, phi, curl, where = arrays(rng, "T")
    with pytest.raises(ValueError, match=r"alm: has shape \(4, 28\)"):
        zj.lens(np.stack([alm] * 4), phi, where)
    with pytest.raises(ValueError, match="^error = 0: must be from 2e-14 to 0.1"):
        jax.jit(lambda p: zj.lens(alm, p, where, error=0))(phi)
    with pytest.raises(ValueError, match=r"curl: has shape \(14,\)"):
        zj.lens(alm, phi, where, curl=curl[1:])
    with pytest.raises(ValueError, match="phi: has 14 coefficients"):
        zj.lens(alm, phi[1:], where)
