"""Vector fields and derivatives by name, against closed forms, healpy, ducc0 and SHTns's definition."""

import astropy.units as u
import ducc0
import healpy
import numpy as np
import pytest

import zonal

LMAX = 40
GRID = zonal.Grid.gauss_legendre(LMAX + 1, 2 * LMAX + 2)
THETA, PHI = GRID.angles()
EARTH = 6371e3
DEGREE = np.concatenate([np.arange(m, LMAX + 1) for m in range(LMAX + 1)])
# Fields of order 1 up to lmax 40: roundings of 1e-16 in some hundred terms, times l (l + 1).
TIGHT = dict(rtol=0, atol=1e-11)


def white(rows, seed=1):
    rng = np.random.default_rng(seed)
    alm = rng.normal(size=(rows, DEGREE.size)) + 1j * rng.normal(size=(rows, DEGREE.size))
    alm[:, :LMAX + 1] = alm[:, :LMAX + 1].real
    return alm / (1 + DEGREE)**2


def test_gradient_is_that_of_healpy():
    alm = white(1)[0]
    _, south, east = healpy.alm2map_der1(alm, 16)
    np.testing.assert_allclose(zonal.gradient(alm, 16), [south, east], **TIGHT)
    np.testing.assert_allclose(zonal.gradient(alm, 16, radius=EARTH) * EARTH, [south, east], **TIGHT)
    np.testing.assert_allclose(zonal.gradient(alm, 16, components="east-north"), [east, -south], **TIGHT)
    np.testing.assert_allclose(zonal.curl(alm, 16), [-east, south], **TIGHT)


def test_vectors_are_those_of_ducc0():
    """Its mode DERIV1 makes the gradient of a scalar, and its spin 1 takes E = sqrt(l (l + 1)) chi, B = sqrt(l (l + 1)) psi."""
    alm = white(2)
    alm[:, 0] = 0
    shape = (2, GRID.n_rings, 2 * LMAX + 2)
    theirs = ducc0.sht.synthesis_2d(alm=alm[:1], spin=1, lmax=LMAX, ntheta=shape[1], nphi=shape[2], geometry="GL", mode="DERIV1")
    np.testing.assert_allclose(zonal.gradient(alm[0], GRID), theirs.reshape(2, -1), **TIGHT)
    root = np.sqrt(DEGREE * (DEGREE + 1.0))
    theirs = ducc0.sht.synthesis_2d(alm=root * alm, spin=1, lmax=LMAX, ntheta=shape[1], nphi=shape[2], geometry="GL")
    np.testing.assert_allclose(zonal.alm2vector(alm, GRID, scalars="potentials"), theirs.reshape(2, -1), **TIGHT)


def test_solid_body_rotation():
    """u = U cos(latitude): vorticity 2 U / R sin(latitude), no divergence."""
    wind = np.stack([30 * np.sin(THETA), 0 * THETA])
    same = dict(radius=EARTH, components="east-north")
    divergence, vorticity = zonal.vector2alm(wind, LMAX, grid=GRID, scalars="divergence-vorticity", **same)
    size = 60 / EARTH
    # Roundings of 1e-16 in each of some hundred coefficients, times l.
    np.testing.assert_allclose(zonal.alm2map(vorticity, GRID), size * np.cos(THETA), rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(zonal.alm2map(divergence, GRID), 0, rtol=0, atol=1e-12 * size)
    back = zonal.alm2vector(np.stack([divergence, vorticity]), GRID, scalars="divergence-vorticity", **same)
    np.testing.assert_allclose(back, wind, rtol=0, atol=1e-12)
    potential, stream = zonal.vector2alm(wind, LMAX, grid=GRID, scalars="potentials", **same)
    np.testing.assert_allclose(zonal.alm2map(stream, GRID), -30 * EARTH * np.cos(THETA), rtol=0, atol=1e-12 * 30 * EARTH)
    spheroidal, toroidal = zonal.vector2alm(wind, LMAX, grid=GRID, scalars="spheroidal-toroidal", components="east-north")
    np.testing.assert_allclose(zonal.alm2map(toroidal, GRID), 30 * np.cos(THETA), rtol=0, atol=1e-11)


def test_divergence_and_vorticity_are_laplacians_of_the_potentials():
    alm = white(2)
    alm[:, 0] = 0
    flow = zonal.alm2vector(alm, GRID, scalars="potentials", radius=3)
    found = zonal.vector2alm(flow, LMAX, grid=GRID, scalars="divergence-vorticity", radius=3)
    np.testing.assert_allclose(found, -DEGREE * (DEGREE + 1.0) / 9 * alm, **TIGHT)
    np.testing.assert_allclose(zonal.vector2alm(flow, LMAX, grid=GRID, scalars="potentials", radius=3), alm, **TIGHT)
    np.testing.assert_allclose(flow, zonal.gradient(alm[0], GRID, radius=3) + zonal.curl(alm[1], GRID, radius=3), **TIGHT)


def test_spheroidal_and_toroidal_parts_are_those_of_shtns():
    """v_theta = dS/dtheta + (1/sin) dT/dphi, v_phi = (1/sin) dS/dphi - dT/dtheta."""
    alm = white(2)
    s, t = (zonal.gradient(one, GRID) for one in alm)
    found = zonal.alm2vector(alm, GRID, scalars="spheroidal-toroidal")
    np.testing.assert_allclose(found, [s[0] + t[1], s[1] - t[0]], **TIGHT)


@pytest.mark.parametrize("components", ["theta-phi", "east-north"])
@pytest.mark.parametrize("scalars", ["potentials", "divergence-vorticity", "spheroidal-toroidal"])
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_batches_and_both_precisions_come_back(scalars, components, dtype):
    alm = np.stack([white(2, seed) for seed in range(3)]).astype(dtype)
    alm[:, :, 0] = 0
    flow = zonal.alm2vector(alm, GRID, scalars=scalars, components=components)
    assert flow.shape == (3, 2, GRID.n_pixels) and flow.dtype == alm.real.dtype
    np.testing.assert_array_equal(flow[1], zonal.alm2vector(alm[1], GRID, scalars=scalars, components=components))
    back = zonal.vector2alm(flow, LMAX, grid=GRID, scalars=scalars, components=components)
    assert back.dtype == dtype
    # A float is rounded by 6e-8 of values up to 5, and the divergence's way back multiplies by up to 41.
    np.testing.assert_allclose(back, alm, rtol=0, atol=1e-12 if dtype == np.complex128 else 2e-5)


def test_orders_may_end_before_degrees():
    mmax = 9
    alm = zonal.resize_alm(white(2), LMAX, mmax, lmax=LMAX)
    alm[:, 0] = 0
    full = zonal.resize_alm(alm, LMAX, lmax=LMAX, mmax=mmax)
    flow = zonal.alm2vector(alm, GRID, LMAX, mmax, scalars="potentials")
    np.testing.assert_allclose(flow, zonal.alm2vector(full, GRID, scalars="potentials"), **TIGHT)
    np.testing.assert_allclose(zonal.vector2alm(flow, LMAX, mmax, grid=GRID, scalars="potentials"), alm, **TIGHT)
    for function in (zonal.gradient, zonal.curl, zonal.hessian):
        np.testing.assert_allclose(function(alm, 8, LMAX, mmax), function(full, 8), **TIGHT)


def test_second_derivatives_of_a_field_that_one_writes_down():
    """f = cos(theta) + sin(theta)^2 sin(2 phi), on a sphere of radius 2."""
    s, c, sine, cosine = np.sin(THETA), np.cos(THETA), np.sin(2 * PHI), np.cos(2 * PHI)
    alm = zonal.SHT(GRID, LMAX).analyze(c + s**2 * sine)
    slope = -s + 2 * s * c * sine
    along, across, other = -c + 2 * (c**2 - s**2) * sine, 2 * c * cosine, -4 * sine + c / s * slope
    found = zonal.hessian(alm, GRID, radius=2)
    np.testing.assert_allclose(4 * found, [along, across, other], **TIGHT)
    np.testing.assert_allclose(4 * zonal.hessian(alm, GRID, radius=2, components="east-north"), [other, -across, along], **TIGHT)
    laplacian = zonal.alm2map(zonal.almxfl(alm, -np.arange(LMAX + 1.0) * np.arange(1.0, LMAX + 2)), GRID)
    np.testing.assert_allclose(4 * (found[0] + found[2]), laplacian, **TIGHT)


def test_units_follow_the_radius():
    radius, alm = 6371 * u.km, white(2) * u.K
    assert zonal.gradient(alm[0], 8).unit == u.K
    assert zonal.gradient(alm[0], 8, radius=radius).unit == u.K / u.km
    assert zonal.hessian(alm[0], 8, radius=radius).unit == u.K / u.km**2
    wind = np.stack([np.sin(THETA), 0 * THETA]) * u.m / u.s
    for scalars, unit in (("divergence-vorticity", u.m / u.s / u.km), ("potentials", u.m / u.s * u.km)):
        found = zonal.vector2alm(wind, 4, grid=GRID, scalars=scalars, radius=radius)
        assert found.unit == unit
        assert zonal.alm2vector(found, 8, scalars=scalars, radius=radius).unit.is_equivalent(u.m / u.s)
    assert zonal.gradient(alm[0].value, 8, radius=radius).unit == 1 / u.km


def test_maps_bring_their_grid_and_order():
    flow = zonal.alm2vector(white(2), 8, scalars="potentials")
    known = zonal.vector2alm(flow, 12, scalars="potentials")
    for sky in (zonal.Map(flow), zonal.Map(flow).reordered(nest=True)):
        np.testing.assert_array_equal(zonal.vector2alm(sky, 12, scalars="potentials"), known)


def test_iterations_improve_the_analysis_on_healpix():
    alm = zonal.resize_alm(white(2), 16, lmax=LMAX)
    alm[:, 0] = 0
    flow = zonal.alm2vector(alm, 16, scalars="potentials")
    errors = [abs(zonal.vector2alm(flow, 16, scalars="potentials", **how) - alm).max()
              for how in ({"iterations": 0}, {}, {"tolerance": 1e-12})]
    assert errors[0] > 10 * errors[1] and errors[2] < 1e-11


ALM = white(2)
FLOW = zonal.alm2vector(ALM, 8, scalars="potentials")


@pytest.mark.parametrize("call, error, message", [
    (lambda: zonal.gradient(ALM[None], 8), ValueError, r"alm: has shape \(1, 2, 861\): must be \[n_alm\] or \[row, n_alm\]"),
    (lambda: zonal.alm2vector(ALM[0], 8, scalars="potentials"), ValueError, r"alm: has shape \(861,\): must be \[2, n_alm\]"),
    (lambda: zonal.alm2vector(ALM, 8), TypeError, "scalars"),
    (lambda: zonal.alm2vector(ALM, 8, scalars="streams"), ValueError, "scalars = 'streams': must be one of 'potentials'"),
    (lambda: zonal.gradient(ALM[0], 8, components="uv"), ValueError, "components = 'uv': must be one of 'theta-phi', 'east-north'"),
    (lambda: zonal.gradient(ALM[0], 8, radius=0), ValueError, "radius = 0: must be finite and above 0"),
    (lambda: zonal.gradient(ALM[0], 8, radius=np.nan), ValueError, "radius = nan: must be finite and above 0"),
    (lambda: zonal.gradient(ALM[0], 8, radius="1 km"), TypeError, "radius = '1 km': must be a real number"),
    (lambda: zonal.alm2vector(ALM, 8, scalars="spheroidal-toroidal", radius=2), ValueError, "radius = 2: must be 1 for spheroidal"),
    (lambda: zonal.alm2vector(ALM, 8, scalars="spheroidal-toroidal", radius=1 * u.m), ValueError, "radius = 1.0 m: has no effect"),
    (lambda: zonal.gradient(ALM[0, :1], 8), ValueError, "lmax = 0: must be 1 or more for vectors"),
    (lambda: zonal.gradient(ALM[0], 2.5), TypeError, "grid = 2.5: must be an integer"),
    (lambda: zonal.vector2alm(FLOW[0], 4, scalars="potentials"), ValueError, r"vector: has shape \(768,\): must be \[2, n_pixels\]"),
    (lambda: zonal.vector2alm(FLOW, 4, scalars="potentials", grid=GRID), ValueError, "vector: has 768 pixels: must be 3362 for"),
    (lambda: zonal.vector2alm(np.where(FLOW > 0, zonal.UNSEEN, FLOW), 4, scalars="potentials"), ValueError, "vector: .* UNSEEN"),
    (lambda: zonal.vector2alm(FLOW[:, :-1], 4, scalars="potentials"), ValueError, "vector: has 767 pixels, which is no HEALPix"),
], ids=range(16))
def test_what_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
