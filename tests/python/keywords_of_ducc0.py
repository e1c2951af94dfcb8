"""Keywords under ducc0's names, for which ducc0 itself says what is right."""

import ducc0
import numpy as np

import zonal
import zonal.ducc0
from ducc0_peer import random_alm, rings
from keyword_cases import ROUNDING, Case, Ignored, Raised, Refused, With, outcome, split_with

LMAX = 12
WHERE, OTHER = rings(7), rings(7, seed=5)
SIZE = 300  # holds the pixels of both
RNG = np.random.default_rng(11)
ALM, NEXT = random_alm(LMAX, LMAX, 2, 2), random_alm(LMAX, LMAX, 2, 2, seed=2)
SKY, SKY2 = RNG.standard_normal((2, 2, SIZE))
GRID = RNG.standard_normal((2, 2, LMAX + 2, 2 * LMAX + 1))
STARTS = np.arange(7, dtype=np.uint64) * np.uint64(2 * LMAX + 3)
SPREAD = RNG.standard_normal((2, 7 * (2 * LMAX + 3))) + 0j
HEALPIX = zonal.ducc0.healpix.Healpix_Base(4, "RING").sht_info()
FULL = RNG.standard_normal((2, 192))
LOC = np.stack([np.arccos(RNG.uniform(-1, 1, 60)), RNG.uniform(0, 6, 60)], 1)
VALUES = RNG.standard_normal((2, 60))
FACTOR = np.linspace(0.5, 2, 7)
ROOM = np.zeros_like(SPREAD)  # new arrays of ducc0 hold anything where no coefficient is
# Outputs, whose contents after the call count, too.
OUTPUTS = ("map", "alm", "leg", "out", "res")


def uint(*numbers):
    return np.array(numbers, np.uint64)


def of(name, base, positional=(), within=ROUNDING, module="sht", **changes):
    """Cases of a function that is called with all that it requires."""
    def make(package):
        def call(**options):
            result = getattr(getattr(package, module), name)(*positional, **options)
            if name.startswith("pseudo"):  # of ducc0, elements of alm that are no coefficients hold anything afterwards
                alm, *report = result
                return [alm[:, places(**options)], places(**options), report, alm.shape, alm is options.get("alm")]
            return [result, {one: options[one] for one in OUTPUTS if one in options}]
        return call
    ours, theirs, found = make(zonal.ducc0), make(ducc0), []
    for keyword, value in changes.items():
        before, after = split_with(base, keyword, value)
        refused = isinstance(value, Refused)
        found.append(Case(f"zonal.ducc0.{module}.{name}", keyword, ours, before, after,
                          lambda after=after, refused=refused: Raised() if refused else outcome(theirs, after), within,
                          effect=not isinstance(value, Ignored)))
    return found


def places(lmax, mmax=None, mstart=None, lstride=1, **_):
    """Where the coefficients lie."""
    mmax = (lmax if mstart is None else len(mstart) - 1) if mmax is None else mmax
    starts = [m * (2 * lmax + 1 - m) // 2 for m in range(mmax + 1)] if mstart is None else mstart.astype(int)
    return np.concatenate([starts[m] + lstride * np.arange(m, lmax + 1) for m in range(mmax + 1)])


RINGS = {"theta": OTHER["theta"], "phi0": OTHER["phi0"], "nphi": WHERE["nphi"] - uint(*([0] * 7)) // uint(2) - (WHERE["nphi"] > 2).astype(np.uint64),
         "ringfactor": FACTOR, "nthreads": Ignored(2)}
ALMS = {"lmax": LMAX - 1, "mmax": 5, "mstart": With(STARTS, lmax=LMAX), "lstride": With(2, mstart=STARTS)}
INTERPOL = {"theta_interpol": Ignored(True)}


def _of_rings():
    to_map = {"alm": ALM, "spin": 2, "lmax": LMAX, "map": np.zeros((2, SIZE)), **WHERE}
    to_alm = {"map": SKY, "spin": 2, "lmax": LMAX, **WHERE}
    spread = to_map | {"alm": SPREAD, "mstart": STARTS}
    moved = {"ringstart": WHERE["ringstart"] + uint(2)}
    pseudo = {"map": FULL, "spin": 2, "lmax": LMAX, "maxiter": 3, "epsilon": 1e-9, **HEALPIX}
    return [
        of("synthesis", to_map, alm=NEXT, spin=1, lmax=LMAX - 1, mmax=5, map=np.ones((2, SIZE + 4)), **RINGS, **moved, **INTERPOL),
        of("synthesis", to_map | {"alm": ALM[:1], "mode": "GRAD_ONLY"}, mode="DERIV1"),
        of("synthesis", spread, mstart=STARTS + uint(2), lstride=2),
        of("synthesis", to_map | {"map": np.zeros((2, 2 * SIZE)), "ringstart": uint(2) * WHERE["ringstart"]}, pixstride=2),
        of("adjoint_synthesis", to_alm, map=SKY2, spin=1, lmax=LMAX - 1, mmax=5, alm=np.ones((2, 100), complex), mode="GRAD_ONLY",
           **RINGS, **moved, **INTERPOL),
        of("adjoint_synthesis", to_alm | {"alm": ROOM}, mstart=STARTS, lstride=With(2, mstart=STARTS)),
        of("adjoint_synthesis", to_alm | {"map": np.hstack([SKY, SKY2]), "ringstart": uint(2) * WHERE["ringstart"]}, pixstride=2),
        of("synthesis_deriv1", {k: v for k, v in to_map.items() if k != "spin"} | {"alm": ALM[:1]}, alm=NEXT[:1], lmax=LMAX - 1,
           mmax=5, map=np.ones((2, SIZE + 4)), **RINGS, **moved, **INTERPOL),
        of("synthesis_deriv1", {k: v for k, v in spread.items() if k != "spin"} | {"alm": SPREAD[:1]}, mstart=STARTS + uint(2), lstride=2),
        of("synthesis_deriv1", {k: v for k, v in to_map.items() if k != "spin"} |
           {"alm": ALM[:1], "map": np.zeros((2, 2 * SIZE)), "ringstart": uint(2) * WHERE["ringstart"]}, pixstride=2),
        of("pseudo_analysis", pseudo, map=FULL[::-1].copy(), spin=1, lmax=LMAX - 1, mmax=5, maxiter=2, epsilon=0.9, nthreads=Ignored(2),
           alm=np.ones((2, 100), complex), theta=HEALPIX["theta"] * 0.99, phi0=HEALPIX["phi0"] + HEALPIX["theta"], within=1e-10,
           ringstart=Refused(np.zeros(15, np.uint64)),
           nphi=np.maximum(HEALPIX["nphi"] - uint(*([1] * 15)), uint(*([1] * 15))), **INTERPOL),
        of("pseudo_analysis", pseudo | {"alm": ROOM}, mstart=STARTS, lstride=With(2, mstart=STARTS), within=1e-10),
        of("pseudo_analysis", pseudo | {"alm": ALM.copy()}, alm_contains_initial_guess=True, within=1e-10),
        _other_factor(pseudo),
        of("pseudo_analysis", pseudo | {"map": np.hstack([FULL, FULL[:, ::-1]]), "ringstart": uint(2) * HEALPIX["ringstart"]}, pixstride=2,
           within=1e-10),
    ]


def _other_factor(pseudo):
    """ducc0 multiplies in the adjoint alone, with which LSMR does not converge; here the map is multiplied."""
    factor = np.linspace(0.5, 2, 15)
    scaled = FULL * np.repeat(factor, HEALPIX["nphi"].astype(int))
    call = zonal.ducc0.sht.pseudo_analysis
    return [Case("zonal.ducc0.sht.pseudo_analysis", "ringfactor", call, pseudo, pseudo | {"ringfactor": factor},
                 lambda: ducc0.sht.pseudo_analysis(**pseudo | {"map": scaled}), 1e-10)]


def _of_grids():
    to_map = {"alm": ALM, "spin": 2, "lmax": LMAX, "geometry": "CC", "ntheta": LMAX + 2, "nphi": 2 * LMAX + 1}
    to_alm = {"map": GRID[0], "spin": 2, "lmax": LMAX, "geometry": "CC"}
    spread = {"alm": SPREAD, "mstart": STARTS}
    both = {"geometry": "GL", "phi0": 0.3, "ringfactor": np.linspace(1, 2, LMAX + 2), "nthreads": Ignored(2), "mmax": 5}
    sizes = {"ntheta": LMAX + 5, "nphi": 2 * LMAX + 4, "map": np.zeros((2, LMAX + 2, 2 * LMAX + 1))}
    found = []
    for name in ("synthesis_2d", "adjoint_analysis_2d"):
        found += [of(name, to_map, alm=NEXT, spin=1, **both, **sizes, within=1e-12),
                  of(name, to_map | spread, mstart=STARTS + uint(2), lstride=2, within=1e-12)]
    for name in ("adjoint_synthesis_2d", "analysis_2d"):
        found += [of(name, to_alm, map=GRID[1], spin=1, alm=np.ones((2, 100), complex), **both, within=1e-12),
                  of(name, to_alm | {"alm": ROOM}, mstart=STARTS, lstride=With(2, mstart=STARTS), within=1e-12)]
    derivative = {k: v for k, v in to_map.items() if k != "spin"} | {"alm": ALM[:1]}
    return [
        *found, of("synthesis_2d", to_map, lmax=LMAX - 1), of("adjoint_synthesis_2d", to_alm, lmax=LMAX - 1),
        # On grids that reach farther ducc0 integrates otherwise what is above lmax: compared at the highest degree of its own grid.
        of("adjoint_analysis_2d", to_map | {"ntheta": LMAX + 1, "geometry": "F1"}, lmax=LMAX - 1, within=1e-4),
        of("analysis_2d", to_alm | {"geometry": "F1"}, lmax=LMAX - 1, within=1e-4),
        of("synthesis_2d", to_map | {"alm": ALM[:1], "mode": "GRAD_ONLY"}, mode="DERIV1"),
        of("adjoint_synthesis_2d", to_alm, mode="GRAD_ONLY"),
        of("synthesis_2d_deriv1", derivative, alm=NEXT[:1], lmax=LMAX - 1, **both, **sizes),
        of("synthesis_2d_deriv1", derivative | {"alm": SPREAD[:1], "mstart": STARTS}, mstart=STARTS + uint(2), lstride=2),
    ]


def _of_legs():
    theta = WHERE["theta"]
    to_leg = {"alm": ALM, "lmax": LMAX, "theta": theta, "spin": 2}
    leg = RNG.standard_normal((2, 2, 7, LMAX + 1)) + 0j
    to_alm = {"leg": leg[0], "lmax": LMAX, "theta": theta, "spin": 2}
    some = {"mval": uint(3, 1, 5), "mstart": STARTS[:3]}
    fourier = {name: WHERE[name] for name in ("phi0", "nphi", "ringstart")}
    to_map, from_map = {"leg": leg[0], "map": np.zeros((2, SIZE)), **fourier}, {"map": SKY, "mmax": 9, **fourier}
    changed = {name: RINGS[name] for name in ("phi0", "nphi", "ringfactor", "nthreads")} | {"ringstart": WHERE["ringstart"] + uint(2)}
    twice = {"ringstart": uint(2) * WHERE["ringstart"]}
    derivative = {k: v for k, v in to_leg.items() if k != "spin"} | {"alm": ALM[:1]}
    threads = {"nthreads": Ignored(2), **INTERPOL}
    return [
        of("alm2leg", to_leg, alm=NEXT, theta=OTHER["theta"], spin=1, leg=np.zeros((2, 7, LMAX + 1), complex), lmax=LMAX - 1, **threads),
        of("alm2leg", to_leg | {"alm": SPREAD} | some, mval=uint(3, 1, 6), mstart=STARTS[:3] + uint(1), lstride=2),
        of("alm2leg", to_leg | {"alm": ALM[:1], "mode": "GRAD_ONLY"}, mode="DERIV1"),
        of("leg2alm", to_alm, leg=leg[1], theta=OTHER["theta"], spin=1, alm=np.ones((2, 100), complex), mode="GRAD_ONLY",
           lmax=Refused(LMAX - 1), **threads),
        of("leg2alm", to_alm | {"leg": leg[0, :, :, :3], "alm": ROOM} | some, mval=uint(3, 1, 6), mstart=STARTS[:3] + uint(1), lstride=2),
        of("alm2leg_deriv1", derivative, alm=NEXT[:1], theta=OTHER["theta"], leg=np.zeros((2, 7, LMAX + 1), complex), lmax=LMAX - 1, **threads),
        of("alm2leg_deriv1", derivative | {"alm": SPREAD[:1]} | some, mval=uint(3, 1, 6), mstart=STARTS[:3] + uint(1), lstride=2),
        of("leg2map", to_map, leg=leg[1], map=np.ones((2, SIZE + 3)), **changed),
        of("leg2map", to_map | {"map": np.zeros((2, 2 * SIZE))} | twice, pixstride=2),
        of("map2leg", from_map, map=SKY2, mmax=4, leg=np.zeros((2, 7, 10), complex), **changed),
        of("map2leg", from_map | {"map": np.hstack([SKY, SKY2])} | twice, pixstride=2),
    ]


def _of_points():
    near = {"spin": 2, "lmax": LMAX, "loc": LOC, "epsilon": 1e-11}
    to_map, to_alm = {"alm": ALM, **near}, {"map": VALUES, **near}
    pseudo = {"map": VALUES, "maxiter": 3, **near, "lmax": 3}
    same = {"nthreads": Ignored(2), "sigma_min": Ignored(1.3), "sigma_max": Ignored(2.2), "verbose": Ignored(True)}
    changed = {"spin": 1, "loc": LOC[::-1].copy(), **same}
    within = 1e-9
    return [
        of("synthesis_general", to_map, alm=NEXT, map=np.ones((2, 60)), lmax=LMAX - 1, mmax=5, **changed, within=within),
        of("synthesis_general", to_map, epsilon=1e-3, within=1e-2),
        of("synthesis_general", to_map | {"alm": SPREAD, "mstart": STARTS}, mstart=STARTS + uint(2), lstride=2, within=within),
        of("synthesis_general", to_map | {"alm": ALM[:1], "mode": "GRAD_ONLY", "spin": 1}, mode="DERIV1", within=within),
        of("adjoint_synthesis_general", to_alm, map=VALUES[::-1].copy(), alm=np.ones((2, 100), complex), lmax=LMAX - 1, mmax=5,
           mode="GRAD_ONLY", **changed, within=within),
        of("adjoint_synthesis_general", to_alm, epsilon=1e-3, within=1e-2),
        of("adjoint_synthesis_general", to_alm | {"alm": ROOM}, mstart=STARTS, lstride=With(2, mstart=STARTS), within=within),
        of("pseudo_analysis_general", pseudo, map=VALUES[::-1].copy(), alm=np.ones((2, 100), complex), lmax=2, mmax=2, maxiter=2,
           **changed, within=1e-8),
        of("pseudo_analysis_general", pseudo, epsilon=0.95, within=0.2),
        of("pseudo_analysis_general", pseudo | {"alm": ROOM}, mstart=STARTS[:4], lstride=With(2, mstart=STARTS[:4]), within=1e-8),
        of("pseudo_analysis_general", pseudo | {"alm": ALM[:, :10].copy()}, alm_contains_initial_guess=True, within=1e-8),
    ]


def _of_others():
    pix, ang = np.arange(20), LOC[:20]
    vec = RNG.standard_normal((20, 3))
    ways = 0.1 * RNG.standard_normal((SIZE, 2))
    # ducc0 turns longitudes back by one turn at most.
    deflection = (np.linspace(0.3, 2.8, 7), np.zeros(7), WHERE["nphi"], WHERE["ringstart"])
    found = [
        of("rotate_alm", {}, (ALM, LMAX, 0.3, 0.5, 0.7), nthreads=Ignored(2), mmax_out=4, out=np.zeros_like(ALM)),
        of("rotate_alm", {}, (ALM[:, :70].copy(), LMAX, 0.3, 0.5, 0.7), mmax_in=With(6)),
        [Case("zonal.ducc0.fft.good_size", "real", lambda **options: zonal.ducc0.fft.good_size(13, **options), {}, {"real": True},
              lambda: ducc0.fft.good_size(13, True), 0)],  # which takes no keywords
        of("get_deflected_angles", {"res": np.zeros((SIZE, 2))}, (*deflection, ways), module="misc", nthreads=Ignored(2), dphi=0.04 * FACTOR,
           res=np.ones((SIZE, 2)), within=1e-9),
        of("get_deflected_angles", {"res": np.zeros((SIZE, 3))}, (*deflection, ways), module="misc", calc_rotation=With(True), within=1e-9),
        of("lensing_rotate", {}, (ALM.copy(), np.ones(ALM.shape), 2), module="misc", nthreads=Ignored(2)),
        of("ang2vec", {}, (ang,), module="healpix", nthreads=Ignored(2), out=np.zeros((20, 3))),
        of("vec2ang", {}, (vec,), module="healpix", nthreads=Ignored(2), out=np.zeros((20, 2))),
        of("v_angle", {}, (vec, vec[::-1].copy()), module="healpix", nthreads=Ignored(2), out=np.zeros(20)),
    ]
    for name, given, n in (("ang2pix", ang, 0), ("vec2pix", vec, 0), ("pix2ang", pix, 2), ("pix2vec", pix, 3), ("neighbors", pix, 8),
                           ("pix2xyf", pix, 3), ("ring2nest", pix, 0), ("nest2ring", pix, 0), ("xyf2pix", np.ones((20, 3), int), 0)):
        kind = float if name in ("pix2ang", "pix2vec") else int
        found.append(_of_method(name, given, np.zeros((20, n) if n else 20, kind)))
    return found


def _of_method(name, given, out):
    def make(package):
        def call(**options):
            result = getattr(package.healpix.Healpix_Base(4, "RING"), name)(given, **options)
            return [result, {one: options[one] for one in OUTPUTS if one in options}]
        return call
    ours, theirs = make(zonal.ducc0), make(ducc0)
    return [Case(f"zonal.ducc0.healpix.Healpix_Base.{name}", keyword, ours, {}, {keyword: value},
                 lambda keyword=keyword, value=value: outcome(theirs, {keyword: value}), ROUNDING, effect=keyword == "out")
            for keyword, value in (("nthreads", 2), ("out", out))]


def cases():
    """All of them."""
    return [case for group in [*_of_rings(), *_of_grids(), *_of_legs(), *_of_points(), *_of_others()] for case in group]
