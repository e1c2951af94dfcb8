"""Keywords of lensing; direct sums at displaced points say what is right."""

import importlib.util

import numpy as np

import zonal
from keyword_cases import With
from keywords_of_healpy import LMAX, NSIDE, RNG, TEB
from keywords_of_zonal import DEFAULT, NARROW, of, raises

PHI, PSI = (1e-3 * RNG.standard_normal(zonal.alm_size(6)) * (1 + 0j) for _ in range(2))
THETA, LON = np.arccos(RNG.uniform(-1, 1, 30)), RNG.uniform(0, 6, 30)
PAIR = TEB[1:]


def rings(theta, phi):
    """Of one pixel each, which are summed directly."""
    return zonal.Grid(theta, np.ones(theta.size, int), 1.0, phi)


def deflection(theta, phi, curl):
    return zonal.alm2vector(np.stack([PHI, 0 * PHI if curl is None else curl]), rings(theta, phi), scalars="potentials")


def lensed(alm, lmax=LMAX, mmax=None, curl=None):
    theta, phi, gamma = zonal.displace(THETA, LON, deflection(THETA, LON, curl))
    if alm.ndim == 1:
        return zonal.alm2map(alm, rings(theta, phi), lmax, mmax)
    q, u = zonal.SHT(rings(theta, phi), lmax, spin=2).synthesize(alm)
    p = np.exp(2j * gamma) * (q + 1j * u)
    return np.stack([p.real, p.imag])


def _of_lens():
    call = lambda **k: zonal.lens(TEB[0], PHI, (THETA, LON), **k)
    narrow = lambda **k: zonal.lens(NARROW, PHI, (THETA, LON), error=1e-11, **k)
    return [
        of("lens", lambda **k: call(error=1e-11, **k), {}, within=1e-9, curl=(PSI, DEFAULT, lambda: lensed(TEB[0], curl=PSI)),
           threads=(-1, DEFAULT, raises)),
        of("lens", lambda **k: bool(abs(call(**k) - lensed(TEB[0])).max() > 1e-6), {}, error=(0.1, 1e-7, lambda: True)),
        of("lens", narrow, {"lmax": 8, "mmax": 3}, within=1e-9, lmax=(With(7, mmax=4), DEFAULT, lambda: lensed(NARROW, 7, 4)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: lensed(NARROW, 7, 4))),
        of("lens", lambda **k: isinstance(call(**k), tuple), {}, return_report=(True, DEFAULT, lambda: True)),
    ]


def _of_class():
    made = lambda **k: zonal.Lensing(PHI, (THETA, LON), k.pop("lmax", LMAX), **({"error": 1e-11} | k))
    call = lambda **k: made(**k).lens(PAIR if "fields" in k else TEB[0])
    lensing = zonal.Lensing(PHI, (THETA, LON), LMAX)
    return [
        of("Lensing.__init__", call, {}, within=1e-9, curl=(PSI, DEFAULT, lambda: lensed(TEB[0], curl=PSI)), threads=(-1, DEFAULT, raises),
           fields=("EB", DEFAULT, lambda: lensed(PAIR))),
        of("Lensing.__init__", lambda **k: made(**k).fields, {}, fields=("TEB", "T", lambda: "TEB")),
        of("Lensing.__init__", lambda **k: bool(made(**({"error": 1e-7} | k)).bound > 1e-6), {}, error=(1e-2, 1e-7, lambda: True)),
        of("Lensing.__init__", lambda **k: made(**k).lens(NARROW), {}, within=1e-9,
           mmax=(With(4, lmax=7), DEFAULT, lambda: lensed(NARROW, 7, 4))),
        of("Lensing.lens", lambda **k: isinstance(lensing.lens(TEB[0], **k), tuple), {}, return_report=(True, DEFAULT, lambda: True)),
    ]


def _of_the_way_back():
    def miss(curl=None, true_curl=None, **options):
        """Whether it is more than a 1e-8th of the deflections."""
        inverse = zonal.inverse_deflection(PHI, (THETA, LON), curl=curl, **options)
        theta, phi, _ = zonal.displace(THETA, LON, inverse)
        d = deflection(theta, phi, true_curl)
        back = zonal.displace(theta, phi, d)
        return bool(abs(back[0] - THETA).max() > 1e-8 * abs(d).max())

    report = lambda **k: isinstance(zonal.inverse_deflection(PHI, NSIDE, **k), tuple)
    call = lambda **k: zonal.inverse_deflection(PHI, (THETA, LON), **k)
    return [
        of("inverse_deflection", lambda **k: miss(true_curl=PSI, **k), {}, curl=(PSI, DEFAULT, lambda: False)),
        of("inverse_deflection", miss, {}, error=(1e-2, 1e-10, lambda: True)),
        of("inverse_deflection", call, {}, max_iterations=(1, 50, raises), threads=(-1, DEFAULT, raises)),
        of("inverse_deflection", report, {}, return_report=(True, DEFAULT, lambda: True)),
        of("displace", lambda **k: zonal.displace(THETA, LON, np.zeros((2, 30)), **k)[0], {}, threads=(-1, DEFAULT, raises)),
    ]


def _of_libraries():
    found = []
    for name in ("jax", "torch"):
        if importlib.util.find_spec(name) is None:
            continue
        module, given = importlib.import_module(f"zonal.{name}"), np.asarray
        if name == "jax":
            importlib.import_module("jax").config.update("jax_enable_x64", True)
        else:
            given = importlib.import_module("torch").from_numpy
        places = given(THETA), given(LON)

        def run(alm, module=module, given=given, places=places, **options):
            arrays = {key: given(value) if isinstance(value, np.ndarray) else value for key, value in options.items()}
            return np.asarray(module.lens(given(alm), given(PHI), places, **arrays))
        found += [
            of(f"{name}.lens", lambda run=run, **k: run(TEB[0], error=1e-11, **k), {}, within=1e-9, curl=(PSI, DEFAULT, lambda: lensed(TEB[0], curl=PSI)),
               threads=(-1, DEFAULT, raises)),
            of(f"{name}.lens", lambda run=run, **k: bool(abs(run(TEB[0], **k) - lensed(TEB[0])).max() > 1e-6), {}, error=(0.1, 1e-7, lambda: True)),
            of(f"{name}.lens", lambda run=run, **k: run(NARROW, error=1e-11, **k), {"lmax": 8, "mmax": 3}, within=1e-9,
               lmax=(With(7, mmax=4), DEFAULT, lambda: lensed(NARROW, 7, 4)), mmax=(With(4, lmax=7), DEFAULT, lambda: lensed(NARROW, 7, 4))),
        ]
    return found


def cases():
    return [case for group in (*_of_lens(), *_of_class(), *_of_the_way_back(), *_of_libraries()) for case in group]
