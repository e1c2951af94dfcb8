"""Attacks of bench/certificate_attacks.py by singular vectors. What a way to convolve maps of a small grid does is a
matrix, whose columns are the results of maps with one bright pixel. What the reference does is another, made of
Legendre polynomials and functions in extended precision. The singular vectors of their difference are the maps on which
a bound that is too small shows most. Needs the package zonal.
"""
import dataclasses

import numpy as np

import zonal

LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288")
NSIDES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
# Methods and references, and how often they come up.
WAYS = {("pixel-sum", "discrete"): 4, ("ring-fft", "discrete"): 4, ("split", "discrete"): 2, ("harmonic", "discrete"): 4,
        ("harmonic", "continuous"): 4, ("auto", "discrete"): 1, ("auto", "continuous"): 1}
KERNELS = ("gaussian", "needlet", "sharp window", "signed window", "beam", "top hat", "mexican hat", "profile", "cut gaussian")
# Rows of a map with more pixels are summed in double precision: 64 bits of digits would take minutes.
MOST_PIXELS_IN_LONG = 500
# Singular vectors that are tried.
VECTORS = 3


@dataclasses.dataclass
class Pixels:
    """Positions and weights of a grid's pixels."""
    grid: zonal.Grid

    def __post_init__(self):
        sizes = self.grid.ring_sizes
        self.n = self.grid.n_pixels
        self.type = LONG if self.n <= MOST_PIXELS_IN_LONG else np.float64
        if self.grid.nside:
            ring, nside = np.arange(1, 4 * self.grid.nside), LONG(self.grid.nside)
            from_pole = np.minimum(ring, 4 * self.grid.nside - ring)
            cap = 1 - from_pole.astype(LONG) ** 2 / (3 * nside**2)
            z = np.where(from_pole < nside, np.where(ring < 2 * nside, cap, -cap), (4 - 2 * ring / nside) / 3)
            weight = np.full(self.n, 4 * PI / self.n)
        else:
            z = np.cos(self.colatitudes())
            weight = np.repeat(self.grid.weight, sizes)
        place = np.arange(self.n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.phi = (np.repeat(self.grid.phi_0.astype(LONG), sizes) + 2 * PI * place / np.repeat(sizes, sizes)).astype(self.type)
        self.z = np.repeat(z, sizes).astype(self.type)
        self.sine = np.sqrt(np.maximum(0, (1 - self.z) * (1 + self.z)))
        self.weight = weight.astype(self.type)
        self.share = (self.weight / self.weight.sum()).astype(float)

    def colatitudes(self):
        """Of the rings, to more digits than the grid's doubles have: a ring that is moved by 1e-16 moves waves as rounding does."""
        theta, kind = self.grid.theta.astype(LONG), self.grid.name.split()[0]
        n = len(theta)
        exact = {"clenshaw_curtis": lambda: np.arange(n) * PI / (n - 1), "fejer1": lambda: (np.arange(n) + LONG(0.5)) * PI / n,
                 "fejer2": lambda: (np.arange(n) + 1) * PI / (n + 1)}
        if kind in exact:
            return exact[kind]()
        for _ in range(3):  # Newton's method for the nodes of Gauss and Legendre
            z, before, now = np.cos(theta), np.zeros_like(theta), np.ones_like(theta)
            for l in range(n):
                before, now = now, ((2 * l + 1) * z * now - l * before) / (l + 1)
            theta = theta + now * np.sin(theta) / (n * (before - z * now))
        return theta

    def cosines(self):
        return np.multiply.outer(self.z, self.z) + np.multiply.outer(self.sine, self.sine) * np.cos(np.subtract.outer(self.phi, self.phi))

    def rms(self, values):
        return float(np.sqrt((self.share * values.astype(float) ** 2).sum()))

    def legendre_sum(self, window):
        """sum_l (2 l + 1) / (4 pi) window_l P_l between all pixels."""
        x = self.cosines()
        before, now, total = np.zeros_like(x), np.ones_like(x), np.zeros_like(x)
        for l, value in enumerate(window):
            total += (2 * l + 1) / (4 * PI.astype(self.type)) * value * now
            before, now = now, ((2 * l + 1) * x * now - l * before) / (l + 1)
        return total

    def harmonics(self, lmax):
        """Real spherical harmonics, [pixel, (l, m)], and the degree of each column."""
        columns, degrees = [], []
        sectoral = np.full(self.n, 1 / np.sqrt(4 * PI)).astype(self.type)
        for m in range(lmax + 1):
            before, now, below = np.zeros_like(sectoral), sectoral, self.type(0)
            for l in range(m, lmax + 1):
                for wave in ((np.cos, np.sin) if m else (np.ones_like,)):
                    columns.append(now * wave(m * self.phi) * (np.sqrt(self.type(2)) if m else 1))
                    degrees.append(l)
                ratio = np.sqrt(self.type(4 * (l + 1) ** 2 - 1) / ((l + 1) ** 2 - m**2))
                before, now, below = now, ratio * (self.z * now - below * before), 1 / ratio
            sectoral = sectoral * self.sine * np.sqrt(self.type(2 * m + 3) / (2 * m + 2))
        return np.array(columns).T, np.array(degrees)

    def least_squares(self, window):
        """The window on the least-squares alm up to its end: a matrix between pixels."""
        y, degree = self.harmonics(len(window) - 1)
        weighted = (y * self.weight[:, None]).T
        gram = weighted @ y
        inverse = np.linalg.inv(gram.astype(float))
        alm = inverse @ weighted
        for _ in range(3):  # to the precision of the type
            alm = alm + inverse @ (weighted - gram @ alm)
        return (y * np.asarray(window, self.type)[degree]) @ alm


@dataclasses.dataclass
class Drawn:
    """A kernel, its window as far as it is not 0, or its profile as a function of the cosine."""
    kernel: zonal.Kernel
    window: np.ndarray | None = None
    profile: object = None
    spectrum: object = None  # lmax -> window, where that does not end

    def sum(self, pixels):
        """The sum over pixels as a matrix."""
        values = pixels.legendre_sum(self.window) if self.profile is None else self.profile(pixels.cosines())
        return values * pixels.weight

    def up_to(self, lmax):
        if self.window is None:
            return self.spectrum(lmax)
        return np.pad(self.window, (0, max(0, lmax + 1 - len(self.window))))[:lmax + 1]


def gaussian_window(sigma):
    l = np.arange(int(10.5 / sigma) + 3).astype(LONG)
    return np.exp(-l * (l + 1) * LONG(sigma) ** 2 / 2)


def drawn_kernel(kind, resolution, rng):
    """resolution: degrees that the grid has, such as 3 nside."""
    from scipy.interpolate import PchipInterpolator
    pixel = np.pi / resolution
    scale = float(np.exp(rng.uniform(np.log(0.7 * pixel), np.log(min(1.2, 20 * pixel)))))
    if kind == "gaussian":
        return Drawn(zonal.Kernel.gaussian(f"{scale * np.sqrt(8 * np.log(2)):.17g}rad"), gaussian_window(scale))
    if kind in ("top hat", "mexican hat", "cut gaussian"):
        fwhm = f"{min(3.1, scale * 2.35):.17g}rad"
        kernel = {"top hat": lambda: zonal.Kernel.top_hat(min(3.1, 2 * scale)),
                  "mexican hat": lambda: zonal.Kernel.mexican_hat(min(1.0, scale)),
                  "cut gaussian": lambda: zonal.Kernel.gaussian(fwhm).truncated(min(3.1, scale * rng.uniform(1, 4)))}[kind]()
        def profile(x):
            return kernel.profile(np.arccos(np.clip(x.astype(float), -1, 1)))
        if kind == "top hat":
            radius = min(3.1, 2 * scale)
            profile = lambda x: (x >= np.cos(radius)) / (4 * PI * np.sin(LONG(radius) / 2) ** 2)
        return Drawn(kernel, None, profile, kernel.window)
    if kind == "profile":
        end = min(scale * rng.uniform(2, 6), 3.0)
        theta = np.linspace(0, 1, int(rng.integers(6, 80))) * end
        value = np.exp(-0.5 * (theta / scale) ** 2) * np.cos(theta / scale * rng.uniform(0, 6))
        curve, kernel = PchipInterpolator(4 * np.sin(theta / 2) ** 2, value), zonal.Kernel.from_profile(theta, value)
        inside = lambda square: np.where(square <= 4 * np.sin(end / 2) ** 2, curve(square), 0)
        return Drawn(kernel, None, lambda x: inside((2 - 2 * x).astype(float)), kernel.window)
    last = int(rng.integers(1, max(2, int(1.6 * resolution))))
    l = np.arange(last + 1)
    if kind == "needlet":
        base = float(rng.uniform(1.3, 4))
        windows = zonal.needlet_windows(base, last)
        window = windows[int(rng.integers(max(0, len(windows) - 4), len(windows)))]
    elif kind == "sharp window":
        window = np.where(l >= int(rng.integers(0, last + 1)) * int(rng.random() < 0.4), 1.0, 0.0)
    elif kind == "signed window":
        window = rng.normal(size=last + 1) * np.exp(-0.5 * (l * rng.uniform(0, 3) / last) ** 2)
    else:
        window = np.exp(-0.5 * (l * scale) ** 2) * (1 + rng.uniform(-1, 1) * np.cos(l * scale * rng.uniform(0, 3)))
    if not np.abs(window).max() > 0:
        window = np.ones(last + 1)
    return Drawn(zonal.Kernel.from_window(window), window)


def drawn_grid(rng):
    if rng.random() < 0.75:
        nside = int(rng.choice(NSIDES, p=(weights := 1 / np.sqrt(NSIDES)) / weights.sum()))
        return zonal.Grid.healpix(nside), 3 * nside
    make = getattr(zonal.Grid, str(rng.choice(["gauss_legendre", "clenshaw_curtis", "fejer1", "fejer2"])))
    n_rings = int(rng.integers(3, 22))
    return make(n_rings, int(rng.integers(max(3, n_rings), 2 * n_rings + 2))), n_rings


def singular_case(seed):
    """One request, and what its singular vectors came to."""
    rng = np.random.default_rng(seed)
    grid, resolution = drawn_grid(rng)
    ways = list(WAYS)
    method, reference = ways[rng.choice(len(ways), p=(shares := np.array(list(WAYS.values()), float)) / shares.sum())]
    kind = str(rng.choice(KERNELS))
    drawn = drawn_kernel(kind, resolution, rng)
    lmax = int(resolution * (rng.uniform(0.5, 1.5) if reference == "discrete" else rng.uniform(0.2, 0.8)))
    if grid.exact_lmax is not None:
        lmax = min(lmax, grid.exact_lmax)  # an analysis refuses more
    case = {"seed": seed, "grid": grid.name, "kernel": kind, "name": drawn.kernel.name, "method": method, "reference": reference,
            "lmax": lmax, "error": float(10 ** rng.uniform(-12, -0.5)), "gain": float(10 ** rng.uniform(-1.5, 0.3)),
            "float32": bool(rng.random() < 0.25)}
    try:
        plan = zonal.plan(drawn.kernel, grid, error=case["error"], gain=case["gain"], lmax=lmax, method=method, reference=reference,
                          n_maps=grid.n_pixels, threads=1)
    except (ValueError, zonal.ErrorNotKept) as error:
        return {**case, "refused": str(error)[:200]}
    case["taken"] = plan.choice.method
    return attacked(case, plan, drawn, Pixels(grid), rng)


def largest_singular_vectors(matrix, count):
    """The largest singular value, and the right singular vectors of the `count` largest: as eigenvectors of the product with the
    transpose, in a tenth of the time that all of them take."""
    from scipy.linalg import eigh
    squares, vectors = eigh(matrix.T @ matrix, subset_by_index=[len(matrix) - count, len(matrix) - 1])
    return float(np.sqrt(max(0.0, squares[-1]))), vectors.T[::-1]


def attacked(case, plan, drawn, pixels, rng):
    dtype = np.float32 if case["float32"] else np.float64
    truth = drawn.sum(pixels) if case["reference"] == "discrete" else pixels.least_squares(drawn.up_to(plan.lmax))
    units = np.eye(pixels.n, dtype=dtype)
    difference = (plan(units).T - truth).astype(float)
    root = np.sqrt(pixels.share)
    case["norm"], vectors = largest_singular_vectors(difference * root[:, None] / root, min(VECTORS, pixels.n))
    maps = np.concatenate([vectors / root, [np.ones(pixels.n)], [rng.normal(size=pixels.n)]])[:pixels.n].astype(dtype)
    batch = units.copy()  # with the maps for which iterations went on
    batch[:len(maps)] = maps
    found, result = plan(batch, return_report=True)
    case["worst"], case["certified"] = 0.0, True
    for values_in, values_out, certificate in zip(maps, found, result.certificates):
        answer = truth @ values_in.astype(pixels.type)
        rounding = 0 if pixels.type is LONG else 1e-15 * np.sqrt(pixels.n) * pixels.rms(values_in) * float(np.abs(truth).sum(axis=1).max())
        error = max(0.0, pixels.rms(values_out - answer) - rounding)
        bound = certificate.bound
        parts = {name: getattr(bound, name) for name in ("cut", "window", "quadrature", "accuracy", "rounding", "of_output")}
        largest = sum(parts.values()) * certificate.rms_in - parts["of_output"] * (certificate.rms_in - certificate.rms_out)
        ratio = error / largest if largest > 0 else np.inf if error > 0 else 0.0
        size = pixels.rms(answer)
        case["certified"] &= bool(ratio <= 1 and (error <= certificate.error * size or np.isinf(certificate.error)))
        if ratio > case["worst"]:
            case.update(worst=float(ratio), true_error=error / certificate.rms_in, parts=parts, certified_error=certificate.error,
                        relative_error=error / size if size > 0 else np.inf)
    return case
