"""zonal.torch.evaluate and zonal.torch.lens: values of the plain functions, gradients against differences, one graph. Runs where
PyTorch is installed."""

import numpy as np
import pytest

import zonal

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck  # noqa: E402

import zonal.torch as zt  # noqa: E402

LMAX, LMAX_PHI = 6, 4


def tensors(rng, spin, mmax=LMAX, front=()):
    """alm of m = 0 have imaginary parts, which must have no effect."""
    shape = (*front, *((2,) if spin else ()), zonal.alm_size(LMAX, mmax))
    alm = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return tuple(torch.from_numpy(one) for one in (alm, rng.uniform(0.2, 2.9, 7), rng.uniform(-5, 9, 7)))


def sky(rng, fields):
    shape = (*((len(fields),) if fields != "T" else ()), zonal.alm_size(LMAX))
    alm = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    phi, curl = (0.03 * (rng.standard_normal(15) + 1j * rng.standard_normal(15)) for _ in range(2))
    return tuple(torch.from_numpy(one) for one in (alm, phi, curl, rng.uniform(0.2, 2.9, 7), rng.uniform(-5, 9, 7)))


def needing(*values):
    return [one.clone().requires_grad_() for one in values]


@pytest.mark.parametrize("spin, mmax", [(0, LMAX), (2, 4)])
def test_values_are_those_of_the_plain_transform(rng, spin, mmax):
    alm, theta, phi = tensors(rng, spin, mmax, (2, 3))
    made = zt.evaluate(alm, theta, phi, LMAX, spin, 1e-6, mmax=mmax, threads=1)
    transform = zonal.PointTransform(theta, phi, LMAX, spin, 1e-6, mmax=mmax, threads=1)
    assert np.array_equal(made, np.reshape([transform.synthesize(one.numpy()) for one in alm], made.shape))
    assert zt.evaluate(alm.to(torch.complex64), theta, phi, LMAX, spin, mmax=mmax).dtype == torch.float32


@pytest.mark.parametrize("spin, mmax", [(0, LMAX), (1, LMAX), (2, 4)])
def test_gradients_hold(rng, spin, mmax):
    """gradcheck's step of 1e-6 errs by 1e-12 / 1e-6, and by the square of the step, far below its tolerances."""
    def values(alm, theta, phi):
        return zt.evaluate(alm, theta, phi, LMAX, spin, 1e-12, mmax=mmax)

    given = needing(*tensors(rng, spin, mmax))
    assert gradcheck(values, given, atol=1e-5, rtol=1e-4)
    # Linear in alm, whose gradients have gradients by alm and by positions.
    slope = torch.autograd.grad(values(*given).pow(2).sum(), given[0], create_graph=True)[0]
    weights = torch.from_numpy(rng.standard_normal(slope.shape))
    found = torch.autograd.grad((slope.real * weights).sum(), given)

    def again(*arguments):
        first = needing(*arguments)
        return (torch.autograd.grad(values(*first).pow(2).sum(), first[0])[0].real * weights).sum()

    for k, step in ((1, 1e-5), (2, 1e-5)):
        direction = torch.from_numpy(rng.standard_normal(7))
        ends = [again(*(one.detach() + sign * step * direction if i == k else one.detach() for i, one in enumerate(given)))
                for sign in (1, -1)]
        torch.testing.assert_close((found[k] * direction).sum(), (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-4)


def test_vmap_maps_alm_and_positions(rng):
    alm, theta, phi = tensors(rng, 0, front=(4,))
    close = lambda made, wanted: torch.testing.assert_close(made, wanted, rtol=0, atol=1e-13)
    close(torch.func.vmap(zt.evaluate, (0, None, None))(alm, theta, phi), zt.evaluate(alm, theta, phi))
    turned = torch.stack([theta, theta.flip(0), theta, theta])
    close(torch.func.vmap(zt.evaluate, (0, 0, None))(alm, turned, phi), torch.stack([zt.evaluate(a, t, phi) for a, t in zip(alm, turned)]))


def test_programs_are_one_graph(rng):
    alm, theta, phi = tensors(rng, 2)
    given = needing(alm, theta)
    torch._dynamo.reset()
    torch.compile(lambda a, t: zt.evaluate(a, t, phi, LMAX, 2).pow(2).sum(), fullgraph=True, backend="aot_eager")(*given).backward()
    again = needing(alm, theta)
    zt.evaluate(again[0], again[1], phi, LMAX, 2).pow(2).sum().backward()
    for one, other in zip(given, again):
        torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=1e-11)


def test_what_evaluate_cannot_do_it_says(rng):
    alm, theta, phi = tensors(rng, 0)
    for call, kind, message in [(lambda: zt.evaluate(alm, theta.float(), phi), TypeError, "theta: is torch.float32: must be torch.float64"),
                                (lambda: zt.evaluate(alm, theta, phi[1:]), ValueError, r"theta and phi: have shapes \(7,\) and \(6,\)"),
                                (lambda: zt.evaluate(alm, theta[None], phi), ValueError, r"theta: has shape \(1, 7\): must be \[n_points\]"),
                                (lambda: zt.evaluate(alm, theta, phi, LMAX, 2), ValueError, "alm: has shape"),
                                (lambda: zt.evaluate(alm.numpy(), theta, phi), TypeError, "alm: must be a torch.Tensor")]:
        with pytest.raises(kind, match=message):
            call()
    places = needing(theta)[0]
    slope = torch.autograd.grad(zt.evaluate(alm, places, phi).sum(), places, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="gradients by positions have no gradients"):
        slope.sum().backward()


@pytest.mark.parametrize("fields", ["T", "EB", "TEB"])
def test_lensed_values_are_those_of_the_plain_function(rng, fields):
    alm, phi, curl, *where = sky(rng, fields)
    made = zt.lens(alm, phi, tuple(where), curl=curl, error=1e-9)
    plain = [one.numpy() for one in (alm, phi, curl, *where)]
    np.testing.assert_array_equal(made, zonal.lens(plain[0], plain[1], tuple(plain[3:]), curl=plain[2], error=1e-9))
    np.testing.assert_array_equal(zt.lens(alm, phi, zonal.Grid.gauss_legendre(7, 13)), zonal.lens(plain[0], plain[1], zonal.Grid.gauss_legendre(7, 13)))
    assert zt.lens(alm.to(torch.complex64), phi, 2).dtype == torch.float32


@pytest.mark.parametrize("fields", ["T", "EB", "TEB"])
@pytest.mark.parametrize("on_grid", [False, True])
def test_gradients_of_lensing_hold(rng, fields, on_grid):
    alm, phi, curl, *where = sky(rng, fields)
    values = lambda a, p, c: zt.lens(a, p, 1 if on_grid else tuple(where), curl=c, error=1e-12)
    assert gradcheck(values, needing(alm, phi, curl), atol=1e-5, rtol=1e-4)


def test_vmap_and_programs_lens(rng):
    alm, phi, *_ = sky(rng, "T")
    many = torch.stack([phi, 2 * phi, 0 * phi])
    made = torch.func.vmap(lambda p: zt.lens(alm, p, 2))(many)
    torch.testing.assert_close(made, torch.stack([zt.lens(alm, p, 2) for p in many]), rtol=0, atol=0)
    given, again = needing(phi)[0], needing(phi)[0]
    torch._dynamo.reset()
    torch.compile(lambda p: zt.lens(alm, p, 2).pow(2).sum(), fullgraph=True, backend="aot_eager")(given).backward()
    zt.lens(alm, again, 2).pow(2).sum().backward()
    torch.testing.assert_close(given.grad, again.grad, rtol=0, atol=1e-11)


def test_what_lens_cannot_do_it_says(rng):
    alm, phi, curl, *where = sky(rng, "T")
    with pytest.raises(ValueError, match=r"alm: has shape \(4, 28\)"):
        zt.lens(torch.stack([alm] * 4), phi, tuple(where))
    with pytest.raises(ValueError, match=r"curl: has shape \(14,\)"):
        zt.lens(alm, phi, tuple(where), curl=curl[1:])
    with pytest.raises(ValueError, match="phi: has 14 coefficients"):
        zt.lens(alm, phi[1:], tuple(where))
    with pytest.raises(NotImplementedError, match="theta: requires gradients"):
        zt.lens(alm, phi, (needing(where[0])[0], where[1]))
    given = needing(phi)[0]
    first = torch.autograd.grad(zt.lens(alm, given, 2).pow(2).sum(), given, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="first order alone"):
        first.abs().sum().backward()
