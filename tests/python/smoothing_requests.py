"""Requests to smooth a map, which the tool, `zonal.smooth` and `zonal.convolve`, and `zonal.mpi` must answer alike."""

import dataclasses

import numpy as np

import zonal

NSIDE = 16
N_PIXELS = 12 * NSIDE**2


@dataclasses.dataclass
class Request:
    name: str
    kernel: dict  # fwhm="10deg", beam=[l] or profile=(theta in rad, values in 1/sr)
    options: dict = dataclasses.field(default_factory=dict)  # of zonal.smooth
    polarized: bool = False
    masked: bool = False
    dtype: type = np.float64
    unseen: bool = False  # some pixels of the map

    def maps(self):
        """[pixel] of I, or [3, pixel] of I, Q, U, which have faded away where degrees end."""
        l = np.arange(2 * NSIDE + 1.0)
        c_l = np.exp(-0.02 * l * (l + 1)) / (l + 1) ** 2
        alm = zonal.synalm(c_l, seed=7, lmax=2 * NSIDE)
        sky = zonal.SHT(zonal.Grid.healpix(NSIDE), 2 * NSIDE, threads=1)
        maps = [sky.synthesize(alm * factor) for factor in (1, 0.1, 0.2)] if self.polarized else [sky.synthesize(alm)]
        maps = np.stack(maps).astype(self.dtype)
        if "pixel" in self.options.values():
            maps = np.round(100 * np.abs(maps) / np.abs(maps).max())
        if self.unseen:
            maps[..., 700:800] = zonal.UNSEEN
        return maps if self.polarized else maps[0]

    def mask(self):
        mask = np.ones(N_PIXELS)
        mask[1000:1500] = 0
        mask[1500:1600] = 0.5
        return mask

    def python_options(self):
        return self.options | ({"mask": self.mask()} if self.masked else {})

    def zonal_kernel(self):
        """The zonal.Kernel of a profile; None for windows, which zonal.smooth takes as they are."""
        return zonal.Kernel.from_profile(*self.kernel["profile"]) if "profile" in self.kernel else None

    def answer(self):
        """The smoothed maps and the reports of zonal.smooth or zonal.convolve."""
        common = self.python_options() | {"threads": 1, "return_report": True}
        kernel = self.zonal_kernel()
        if kernel is not None:
            return zonal.convolve(self.maps(), kernel, **common)
        return zonal.smooth(self.maps(), pol=self.polarized, **self.kernel, **common)


def gaussian_beam(fwhm_degrees, lmax=3 * NSIDE - 1):
    sigma = np.radians(fwhm_degrees) / np.sqrt(8 * np.log(2))
    l = np.arange(lmax + 1.0)
    return np.exp(-l * (l + 1) * sigma**2 / 2)


def hat(width_degrees):
    """A profile that ends."""
    theta = np.radians(width_degrees) * np.linspace(0, 1, 101)
    return theta, (1 - (theta / theta[-1]) ** 2) ** 2


BEAM = gaussian_beam(20)
REQUESTS = [
    Request("default", {"fwhm": "20deg"}),
    Request("default, polarized", {"fwhm": "20deg"}, polarized=True),
    Request("error 1e-3", {"fwhm": "20deg"}, {"error": 1e-3}),
    Request("error 1e-9", {"fwhm": "20deg"}, {"error": 1e-9}),
    Request("float", {"fwhm": "20deg"}, {"error": 1e-3}, dtype=np.float32),
    Request("float, polarized", {"fwhm": "25deg"}, {"error": 1e-3}, dtype=np.float32, polarized=True),
    Request("as healpy", {"fwhm": "20deg"}, {"method": "harmonic"}),
    Request("as healpy, polarized", {"fwhm": "20deg"}, {"method": "harmonic"}, polarized=True),
    Request("harmonic within an error", {"fwhm": "20deg"}, {"method": "harmonic", "error": 1e-6}),
    Request("iterations", {"fwhm": "20deg"}, {"iterations": 1}),
    Request("tolerance", {"fwhm": "20deg"}, {"tolerance": 1e-6}),
    Request("discrete", {"fwhm": "20deg"}, {"reference": "discrete", "error": 1e-4}),
    Request("pixel-sum", {"fwhm": "20deg"}, {"method": "pixel-sum", "error": 1e-4}),
    Request("ring-fft", {"fwhm": "20deg"}, {"method": "ring-fft"}),
    Request("ring-fft, polarized", {"fwhm": "20deg"}, {"method": "ring-fft", "error": 1e-4}, polarized=True),
    Request("ring-fft that ends", {"fwhm": "20deg"}, {"method": "ring-fft", "cut": "30deg"}),
    Request("split", {"fwhm": "20deg"}, {"method": "split", "error": 1e-3}),
    Request("beam", {"beam": BEAM}),
    Request("Gaussian and beam", {"fwhm": "15deg", "beam": BEAM}),
    Request("beam times 0.8", {"beam": 0.8 * BEAM}),
    Request("beam times 0.8, scaled", {"beam": 0.8 * BEAM}, {"normalization": "window"}),
    Request("beam times 0.8, ring-fft", {"beam": 0.8 * BEAM}, {"method": "ring-fft", "error": 1e-4}),
    Request("un-smoothed", {"fwhm": "20deg", "fwhm_in": "10deg"}),
    Request("lmax", {"fwhm": "20deg"}, {"lmax": 20}),
    Request("lmax, as healpy", {"fwhm": "20deg"}, {"lmax": 20, "method": "harmonic"}),
    Request("profile", {"profile": hat(40)}),
    Request("profile, scaled", {"profile": hat(40)}, {"normalization": "window", "error": 1e-4}),
    Request("profile in harmonic space", {"profile": hat(60)}, {"method": "harmonic"}),
    Request("masked", {"fwhm": "20deg"}, masked=True),
    Request("masked, as healpy, polarized", {"fwhm": "20deg"}, {"method": "harmonic"}, masked=True, polarized=True),
    Request("renormalised", {"fwhm": "20deg"}, {"mask_mode": "renormalize", "error": 1e-3}, masked=True),
    Request("renormalised sums", {"fwhm": "20deg"}, {"mask_mode": "renormalize", "method": "ring-fft", "error": 1e-3,
                                                     "mask_threshold": 0.3, "fill_masked": True}, masked=True),
    Request("unseen", {"fwhm": "20deg"}, {"error": 1e-4}, unseen=True),
    Request("counts", {"profile": hat(30)}, {"normalization": "pixel"}),
    Request("float sums", {"fwhm": "20deg"}, {"method": "pixel-sum", "precision": "float32", "error": 1e-3}, dtype=np.float32),
]
