"""Maps and kernels of bench/certificate_attacks.py: random ones on which a bound that rests on a spectrum breaks."""
import dataclasses

import ducc0
import numpy as np

MAPS = ("white", "mode", "zonal mode", "band", "needlet", "checkerboard", "ring stripes", "meridian stripes", "alternating rings",
        "offset", "sources", "bright pixel", "polar patch", "patch", "steep", "lognormal", "resonant")
ORDINARY = ("white", "CMB", "CMB and noise", "foreground", "photons")
KERNELS = ("gaussian", "gaussian", "gaussian", "odd beam", "ringing beam", "profile")


@dataclasses.dataclass
class Grid:
    """HEALPix in ring order; theta and phi of each pixel, the ring that it is in, and its place there."""
    nside: int
    threads: int = 1

    def __post_init__(self):
        self.info = ducc0.healpix.Healpix_Base(self.nside, "RING").sht_info()
        self.npix = 12 * self.nside**2
        self.weight = 4 * np.pi / self.npix
        lengths = self.info["nphi"].astype(int)
        self.ring = np.repeat(np.arange(len(lengths)), lengths)
        self.place = np.arange(self.npix) - np.repeat(self.info["ringstart"].astype(int), lengths)
        self.theta = np.repeat(self.info["theta"], lengths)
        self.phi = np.repeat(self.info["phi0"], lengths) + 2 * np.pi * self.place / np.repeat(lengths, lengths)

    def synthesize(self, alm, lmax, spin=0):
        return ducc0.sht.synthesis(alm=alm, lmax=lmax, spin=spin, nthreads=self.threads, **self.info)

    def adjoint(self, maps, lmax, spin=0):
        return ducc0.sht.adjoint_synthesis(map=maps, lmax=lmax, spin=spin, nthreads=self.threads, **self.info)


    def rings(self):
        """First pixel, length, longitude of the first pixel, and cos(theta) in extended precision."""
        n, nside = np.arange(1, 4 * self.nside), np.longdouble(self.nside)
        from_pole = np.minimum(n, 4 * self.nside - n)
        cap = 1 - from_pole.astype(np.longdouble)**2 / (3 * nside**2)
        z = np.where(from_pole < self.nside, np.where(n < 2 * self.nside, cap, -cap), (4 - 2 * n / nside) / 3)
        return self.info["ringstart"].astype(int), self.info["nphi"].astype(int), self.info["phi0"], z

    def sum_in_extended_precision(self, values, window):
        """sum_p' w K values of spin 0, with Legendre functions in extended precision: slow, and right to 1e-16. ducc0's
        transforms are wrong by up to 1e-11 of a value near the poles where lmax is several times nside."""
        start, length, phi0, z = self.rings()
        lmax, sine = len(window) - 1, np.sqrt((1 - z) * (1 + z))
        m = np.arange(lmax + 1)
        shift = np.exp(1j * np.outer(m, phi0))
        modes = np.array([np.fft.fft(values[s:s + n])[m % n] for s, n in zip(start, length)]).T * shift.conj() * self.weight
        convolved = np.zeros(modes.shape, np.clongdouble)
        sectoral = np.full(z.shape, np.sqrt(1 / (4 * np.longdouble(np.pi))))
        for order in m:
            before, now, below = np.zeros_like(z), sectoral, np.longdouble(0)
            for l in range(order, lmax + 1):
                convolved[order] += window[l] * (now * modes[order]).sum() * now
                ratio = np.sqrt(np.longdouble(4 * (l + 1)**2 - 1) / ((l + 1)**2 - order**2))
                before, now, below = now, ratio * (z * now - below * before), 1 / ratio
            sectoral = sectoral * sine * np.sqrt(np.longdouble(2 * order + 3) / (2 * order + 2))
        convolved *= np.where(m == 0, 1, 2)[:, None] * shift
        result = np.empty_like(values)
        for ring, (s, n) in enumerate(zip(start, length)):
            aliased = np.zeros(n, complex)
            np.add.at(aliased, m % n, convolved[:, ring])
            result[s:s + n] = np.fft.ifft(aliased).real * n
        return result


def degrees_of(lmax):
    """l of each coefficient, in healpy's order."""
    return np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)])


def random_alm(lmax, rng, amplitude):
    """Of a real field, with the standard deviation amplitude(l)."""
    l = degrees_of(lmax)
    alm = (rng.normal(size=l.size) + 1j * rng.normal(size=l.size)) * amplitude(l)
    alm[:lmax + 1] = alm[:lmax + 1].real
    return alm[None]


def field(kind, grid, scale, rng):
    """One map, [pixel]. scale: width of the kernel, rad."""
    nside, top = grid.nside, 3 * grid.nside - 1
    near = np.arccos(np.clip(np.cos(grid.theta) * (z := rng.uniform(-1, 1)) + np.sin(grid.theta) * np.sqrt(1 - z * z)
                             * np.cos(grid.phi - rng.uniform(0, 2 * np.pi)), -1, 1))
    white = rng.normal(size=grid.npix)
    if kind in ("mode", "zonal mode", "resonant"):
        # A kernel leaves little of waves a few times shorter than its width.
        most = min(top, max(2, int(rng.uniform(2, 8) / scale))) if kind == "resonant" else top
        l = int(rng.integers(1, most + 1)) if kind != "resonant" else most
        m = 0 if kind == "zonal mode" else int(rng.integers(0, l + 1))
        l_of, m_of = degrees_of(top), np.concatenate([np.full(top + 1 - m, m) for m in range(top + 1)])
        return grid.synthesize(((l_of == l) & (m_of == m))[None].astype(complex), top)[0]
    if kind == "band":
        low = rng.uniform(0, top)
        return grid.synthesize(random_alm(top, rng, lambda l: (l >= low) & (l <= low + rng.uniform(1, 40))), top)[0]
    if kind == "needlet":
        centre, width = rng.uniform(2, top), rng.uniform(1, 20)
        l = np.arange(top + 1)
        window = (2 * l + 1) * np.exp(-0.5 * ((l - centre) / width) ** 2)
        return np.polynomial.legendre.legval(np.cos(near), window)
    if kind == "steep":
        return grid.synthesize(random_alm(top, rng, lambda l: (l + 1.0) ** -rng.uniform(1, 5)), top)[0]
    if kind == "checkerboard":
        return np.where((grid.place + grid.ring * rng.integers(0, 2)) % 2 == 0, 1.0, -1.0)
    if kind in ("ring stripes", "meridian stripes"):
        angle = grid.theta if kind == "ring stripes" else grid.phi
        return np.sign(np.sin(rng.integers(1, 2 * nside) * angle + rng.uniform(0, 6)) + 1e-9)
    patch = near < rng.uniform(2 / nside, 1)
    l_cmb = lambda l: np.where(l > 1, (l + 1.0) ** -1 * np.exp(-((l / (1.2 * nside)) ** 2)), 0)
    cmb = lambda: grid.synthesize(random_alm(top, rng, l_cmb), top)[0]
    choices = {
        "white": lambda: white,
        "CMB": cmb,
        "CMB and noise": lambda: cmb() + 0.3 * white,
        "foreground": lambda: np.exp(grid.synthesize(random_alm(top, rng, lambda l: (l + 1.0) ** -1.5), top)[0]),
        "photons": lambda: rng.poisson(0.3 * np.exp(2 * np.cos(grid.theta) ** 2)).astype(float),
        "alternating rings": lambda: (-1.0) ** grid.ring,
        "offset": lambda: 2.7255 + 1e-5 * white,
        "sources": lambda: np.where(rng.random(grid.npix) < 20 / grid.npix, 1e3 * white, 0) + 1e-3 * white,
        "bright pixel": lambda: (np.arange(grid.npix) == rng.integers(grid.npix)).astype(float),
        "polar patch": lambda: np.where(grid.theta < rng.uniform(2 / nside, 0.5), (-1.0) ** (grid.ring + grid.place), 0),
        "patch": lambda: np.where(patch, np.sin(rng.uniform(0, nside) * grid.theta), 0) + 0.0,
        "lognormal": lambda: np.exp(3 * white),
    }
    values = choices[kind]()
    return values if np.any(values) else white


def bessel_of_discs(l, radius):
    """A beam that oscillates, as that of a disc in the plane does: 2 J_1(x) / x, x = l radius."""
    from scipy.special import j1
    x = np.maximum(l * radius, 1e-9)
    return 2 * j1(x) / x


def gaussian(l, scale, spin):
    return np.exp(-0.5 * (l * (l + 1.0) - spin**2) * scale**2)


def kernel(kind, nside, spin, rng, folder):
    """(options of zonal smooth, windows [component][l] or None, profile or None, scale in rad)."""
    pixel = np.sqrt(np.pi / 3) / nside
    scale = np.exp(rng.uniform(np.log(0.6 * pixel), np.log(min(0.4, 40 * pixel))))
    degrees = max(int(9.5 / scale) + 3, 3 * nside - 1)
    l = np.arange(degrees + 1)
    if kind == "gaussian":
        window = gaussian(l, scale, spin)
        return ["--fwhm", f"{scale * np.sqrt(8 * np.log(2)):.17g}rad"], [window] * (2 if spin else 1), None, scale
    path = folder / "kernel.txt"
    if kind == "profile":
        end = min(scale * rng.uniform(2, 6), 3.0)
        theta = np.linspace(0, 1, int(rng.integers(6, 80))) * end
        value = np.exp(-0.5 * (theta / scale) ** 2) * np.cos(theta / scale * rng.uniform(0, 6))
        np.savetxt(path, np.transpose([theta, value]), header="theta [rad] value [1/sr]", fmt="%.17g")
        return ["--profile", path, "--normalize", "none"], None, (theta, value), scale
    if kind == "ringing beam":
        last = rng.uniform(0.2, 1) * min(degrees, int(9.5 / scale))
        windows = [np.where(l < last, 1.0, np.where(l < 1.3 * last, 0.3, 0))] * 2
    else:
        beam = gaussian(l, scale, 0)
        windows = [beam * (1 + rng.uniform(-1, 1) * np.cos(l * scale * rng.uniform(0, 3))),
                   beam * bessel_of_discs(l, rng.uniform(0, 3) * scale)]
    columns = [np.arange(len(windows[0])), windows[0], windows[0], windows[1]]
    np.savetxt(path, np.transpose(columns), header="l T E B", fmt="%.17g")
    return ["--beam", path, "--normalize", "none"], windows if spin else windows[:1], None, scale
