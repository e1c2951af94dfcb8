"""What the ranks of test_mpi.py do: mpirun -n N python -m mpi4py mpi_rank.py CASE."""

import builtins
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import mpi4py

if sys.argv[1:] == ["without_threads"]:
    mpi4py.rc.thread_level = "serialized"
import numpy as np
from mpi4py import MPI

import zonal
import zonal.mpi
from rank_checks import raised, same
from smoothing_requests import NSIDE, REQUESTS

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size


def random_alm(rng, lmax, mmax, spin, lead, dtype):
    alm = rng.standard_normal((*lead, zonal.alm_size(lmax, mmax))) + 1j * rng.standard_normal((*lead, zonal.alm_size(lmax, mmax)))
    alm[..., : lmax + 1] = alm[..., : lmax + 1].real
    for l in range(spin):
        alm[..., [zonal.alm_index(lmax, l, m) for m in range(min(l, mmax) + 1)]] = 0
    return alm.astype(dtype)


def results():
    rng = np.random.default_rng(1)  # the same on all ranks
    speeds = [1 + rank for rank in range(SIZE)]
    for grid, lmax, mmax, spin, lead, given in (
            (zonal.Grid.healpix(28), 60, 50, 0, (), speeds), (zonal.Grid.healpix(28), 60, 60, 2, (2,), None),
            (zonal.Grid.gauss_legendre(65, 129), 64, 64, 0, (5,), None), (zonal.Grid.equidistant_cylindrical(80, 160), 39, 39, 1, (3, 2), None),
            (zonal.Grid.healpix(28).subset(range(10, 90)), 30, 2, 0, (), speeds)):
        one = zonal.SHT(grid, lmax, mmax, spin, threads=1)
        sht = zonal.mpi.SHT(COMM, grid, lmax, mmax, spin, speeds=given, threads=1)
        pixels, indices = sht.local_pixels, sht.local_alm_indices
        assert given is None or sht.speeds == given
        assert (sht.n_pixels, sht.n_alm) == (len(pixels), len(indices)) == (sht.shares[RANK].n_pixels, sht.shares[RANK].n_coefficients)
        assert sum(end - first for first, end in sht.pixel_ranges) == sht.n_pixels
        assert sorted(sum(COMM.allgather(list(sht.local_m)), [])) == list(range(mmax + 1))
        for dtype in (np.complex128, np.complex64):
            alm = random_alm(rng, lmax, mmax, spin, lead, dtype)
            sky = one.synthesize(alm)
            same(sht.synthesize(alm[..., indices]), sky[..., pixels])
            here = np.ascontiguousarray(sky[..., pixels])
            same(sht.adjoint(here), one.adjoint(sky)[..., indices])
            for options in ({}, {"iterations": 1}, {"tolerance": 1e-3, "max_iterations": 5}):
                (found, report), (expected, whole) = sht.analyze(here, return_report=True, **options), one.analyze(sky, return_report=True, **options)
                same(found, expected[..., indices])
                assert repr(report) == repr(whole)
            out = np.empty_like(here)
            assert sht.synthesize(alm[..., indices], out) is out
            same(out, here)
            same(sht.scatter_map(sky if RANK == SIZE - 1 else None, SIZE - 1), here)
            same(sht.scatter_alm(alm if RANK == 0 else None), alm[..., indices])
            whole = sht.gather_map(here, SIZE - 1), sht.gather_alm(alm[..., indices])
            assert [part is None for part in whole] == [RANK != SIZE - 1, RANK != 0]
            if whole[0] is not None and not grid.has_other_pixels:
                same(whole[0], sky)
            if whole[1] is not None:
                same(whole[1], alm)


def skies():
    lmax = 50
    cl = {name: 1 / (1.0 + np.arange(lmax + 1)) ** 2 for name in ("TT", "EE", "BB")}
    cl["TE"] = 0.3 * cl["TT"]
    sht = zonal.mpi.SHT(COMM, 28, lmax, threads=1)
    pixels, indices = sht.local_pixels, sht.local_alm_indices
    for spectra in (cl["TT"], cl):
        sky, alm = zonal.synfast(spectra, 28, lmax, seed=7, fwhm="3deg", return_alm=True)
        found, found_alm = sht.synfast(spectra, seed=7, fwhm="3deg", return_alm=True)
        same(found, sky[..., pixels])
        same(found_alm, alm[..., indices])
        same(sht.synalm(spectra, seed=2**63, dtype=np.complex64), zonal.synalm(spectra, lmax, seed=2**63, dtype=np.complex64)[..., indices])
        same(sht.map2alm(found), zonal.map2alm(sky, lmax, pol=sky.ndim == 2)[..., indices])
        holed = sky.copy()
        holed[..., 1000:1010] = zonal.UNSEEN
        np.atleast_2d(holed)[-1, 2000] = zonal.UNSEEN  # in I alone, or in U alone, which masks Q
        same(sht.map2alm(holed[..., pixels]), zonal.map2alm(holed, lmax, pol=sky.ndim == 2)[..., indices])
        smoothed = zonal.map2alm(sky, lmax, pol=sky.ndim == 2)
        zonal._core.apply_beam(lmax, lmax, zonal._core.gaussian_beam(0.1, lmax), np.atleast_2d(smoothed))
        same(sht.smooth(found, 0.1, method="harmonic"), zonal.alm2map(smoothed, 28, lmax)[..., pixels])
        if sky.ndim == 2:
            beam = {"beam": np.full(lmax + 1, 1.0), "method": "harmonic"}
            same(sht.smooth(found[1:], **beam), sht.smooth(found, **beam)[1:])
        # A sum over ranks of sums over orders: numbers of either sign, at most 51 of them.
        expected, spectra_found = zonal.alm2cl(alm, 2 * alm), sht.alm2cl(found_alm, 2 * found_alm)
        size = zonal.alm2cl(alm) if sky.ndim == 1 else zonal.alm2cl(alm)["TT"]
        for name in expected if sky.ndim == 2 else [...]:
            assert np.all(np.abs(spectra_found[name] - expected[name]) <= 200 * np.finfo(float).eps * size), name
        assert len(set(COMM.allgather(repr(spectra_found)))) == 1
        three = np.stack([np.atleast_2d(found_alm)[0], 1j * np.atleast_2d(found_alm)[-1], np.atleast_2d(found_alm)[0] / 2])
        three[1, sht.local_alm_indices <= lmax] = 1  # real
        all_pairs = sht.cross_spectra(three)
        assert all_pairs.shape == (3, 3, lmax + 1)
        for i in range(3):
            for j in range(3):
                same(all_pairs[i, j], sht.alm2cl(three[i], three[j]) if i <= j else all_pairs[j, i])
    # Bits of one process for ring FFTs and harmonic space, within an error that is certified for the whole map.
    sky = zonal.synfast(cl["TT"], 32, lmax, seed=3)
    sht = zonal.mpi.SHT(COMM, 32, lmax, threads=1)
    here = np.ascontiguousarray(sky[sht.local_pixels])
    for options in ({"method": "ring-fft", "error": 1e-3}, {"method": "auto", "error": 1e-4}):
        (found, (report,)), (expected, (whole,)) = (smooth(map, "20deg", return_report=True, **options)
                                                    for smooth, map in ((sht.smooth, here), (zonal.smooth, sky)))
        same(found, expected[sht.local_pixels])
        assert report.method == whole.method and repr(report.certificates) == repr(whole.certificates)
    kernel = zonal.Kernel.gaussian("15deg").truncated("30deg")
    # A kernel that ends with a step is summed over the pixels in the polar caps, whose order may be another one: the terms
    # of a pixel, fewer than 1,000, add up to the largest pixel at most.
    expected = zonal.convolve(sky, kernel, method="ring-fft")
    assert np.all(np.abs(sht.convolve(here, kernel, method="ring-fft") - expected[sht.local_pixels])
                  <= 1000 * np.finfo(float).eps * np.abs(sky).max())
    sht = zonal.mpi.SHT(COMM, 28, lmax, threads=1)
    weights = np.random.default_rng(2).uniform(size=zonal.Grid.healpix(28).n_pixels)
    rings = np.linspace(0.9, 1.1, sht.grid.n_rings)
    one = zonal.SHT(sht.grid, lmax)
    found, sky = sht.synfast(cl, seed=7), zonal.synfast(cl, 28, lmax, seed=7)
    same(sht.analyze(found[0], pixel_weights=weights[pixels], ring_weights=rings),
         one.analyze(sky[0], pixel_weights=weights, ring_weights=rings)[indices])


def files():
    """Files that all ranks read and write in parts are those that one process reads and writes."""
    folder = COMM.bcast(tempfile.mkdtemp())
    path, other = os.path.join(folder, "one.fits"), os.path.join(folder, "parts.fits")
    lmax, grid = 40, zonal.Grid.healpix(32)
    rng = np.random.default_rng(3)  # the same on all ranks
    sky, alm = rng.standard_normal((3, grid.n_pixels)), random_alm(rng, lmax, lmax, 0, (3,), np.complex128)
    sht = zonal.mpi.SHT(COMM, grid, lmax, speeds=[1 + rank for rank in range(SIZE)], threads=1)
    here, alm_here = np.ascontiguousarray(sky[:, sht.local_pixels]), np.ascontiguousarray(alm[:, sht.local_alm_indices])

    def without_date(name):
        data = Path(name).read_bytes()
        at = data.find(b"DATE    =")
        return data if at < 0 else data[:at] + data[at + 80:]

    def both(write_one, write_parts):
        COMM.Barrier()  # all have read what there was
        if RANK == 0:
            write_one()
        COMM.Barrier()
        write_parts()
        assert without_date(path) == without_date(other)
        COMM.Barrier()

    for options in ({}, {"pol": True, "single": False, "units": ["uK"] * 3, "coordinates": "galactic"}, {"nest": True}):
        both(lambda: zonal.io.write_map(path, sky, overwrite=True, **options), lambda: sht.write_map(other, here, overwrite=True, **options))
        same(sht.read_map(other), zonal.io.read_map(path).values[:, sht.local_pixels])
        same(sht.read_map(other, fields=[0]), zonal.io.read_map(path, fields=[0]).values[0, sht.local_pixels])
    for dtype in (np.complex128, np.complex64):
        both(lambda: zonal.io.write_alm(path, alm.astype(dtype), lmax, unit="K", overwrite=True),
             lambda: sht.write_alm(other, alm_here.astype(dtype), unit="K", overwrite=True))
        same(sht.read_alm(other), zonal.io.read_alm(path)[0][:, sht.local_alm_indices])
    last = RANK == SIZE - 1
    new = os.path.join(folder, "new.fits")
    for call, kind, text in ((lambda: sht.write_map(other, here), "OSError", "exists"),
                             (lambda: sht.write_map(new, here[:, 1:] if last else here), "ValueError", f"rank {SIZE - 1}: maps: has shape"),
                             (lambda: sht.write_map(new, np.where(last, np.nan, here)), "OSError", "NaN"),
                             (lambda: sht.write_map(new + ".gz", here), "OSError", "gz"),
                             (lambda: sht.read_map(new), "OSError", "new.fits"),
                             (lambda: sht.read_map(other), "OSError", "parts.fits")):  # of alm
        error = raised(call)
        assert error is not None and issubclass(getattr(builtins, error[0]), getattr(builtins, kind)) and text in error[1], error
    COMM.Barrier()
    assert RANK > 0 or sorted(os.listdir(folder)) == ["one.fits", "parts.fits"]
    COMM.Barrier()
    if RANK == 0:
        shutil.rmtree(folder)


def pieces():
    zonal.mpi._job._LONGEST_MESSAGE = 1000
    results()


without_threads = skies


def alone():
    """Each rank a job of its own."""
    sht = zonal.mpi.SHT(MPI.COMM_SELF, 16, 32)
    same(sht.local_pixels, np.arange(3072))
    same(sht.synfast(np.ones(33), seed=RANK), zonal.synfast(np.ones(33), 16, 32, seed=RANK))
    halves = COMM.Split(RANK % 2, RANK)
    sht = zonal.mpi.SHT(halves, 16, 32)
    assert sht.size == halves.size and sht.rank == halves.rank
    sky = sht.synfast(np.ones(33), seed=RANK % 2)
    halves.Free()
    same(sky, zonal.synfast(np.ones(33), 16, 32, seed=RANK % 2)[sht.local_pixels])


def simulations():
    """Skies of all ranks are those of one process; more ranks than skies, and more skies than fit in a message."""
    mask = np.linspace(0, 1, 12 * 8**2)
    c_l = np.zeros((3, 3, 13))
    c_l[0, 0], c_l[1, 1], c_l[2, 2], c_l[0, 1], c_l[1, 0] = 2, 1, 0.1, 0.5, 0.5
    both = dict(spins=[0, 2], noise=np.array([mask, 2 * mask]), grid=zonal.Grid.healpix(8), threads=1)
    weights = np.random.default_rng(2).normal(size=(2, 3, 13))
    for n, at_once, options in ((7, 2**28, both | {"seed": 2**64 - 3}), (11, 6000, both), (SIZE - 1 or 1, 2**28, both),
                                (6, 2**28, both | {"spectra": [(0, 0), (0, 1), (2, 2)], "values": weights})):
        zonal.mpi._simulations._AT_ONCE = at_once
        found = zonal.mpi.simulated_spectra(COMM, c_l, [mask, mask**2], 12, n, **options)
        same(found, zonal.spectra.simulated_spectra(c_l, [mask, mask**2], 12, n, **options))
    shares = []
    same(zonal.mpi.simulated_spectra(COMM, np.ones(13), mask, 12, 9, progress=shares.append),
         zonal.spectra.simulated_spectra(np.ones(13), mask, 12, 9))
    assert shares[-1] == 1
    last = RANK == SIZE - 1
    for changed, kind, text in (({"n": 0 if last else 3}, "ValueError", f"rank {SIZE - 1}: n = 0: must be 1 or more"),
                                ({"masks": mask[1:] if last else mask}, "ValueError", None),
                                ({"seed": -1}, "ValueError", "seed = -1"), ({"comm": 5}, "TypeError", "comm = 5: must be an mpi4py.MPI.Intracomm"),
                                *[({"n": 2 + last}, "ValueError", "all must make the same calls")] * (SIZE > 1)):
        error = raised(lambda: zonal.mpi.simulated_spectra(**({"comm": COMM, "c_l": np.ones(13), "masks": mask, "lmax": 12, "n": 3} | changed)))
        assert error is not None and error[0] == kind and (text is None or text in error[1]), (RANK, changed, error)


def example():
    """PySM's smoothing."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "python"))
    from pysm_smoothing import mpi_smoothing

    lmax = 50
    sht = zonal.mpi.SHT(COMM, 28, lmax)
    sky = np.random.default_rng(1).standard_normal((3, sht.grid.n_pixels))
    alm = zonal.map2alm(sky, lmax, pol=True)
    zonal._core.apply_beam(lmax, lmax, zonal._core.gaussian_beam(zonal.angle("2deg"), lmax), alm)
    smoothed = mpi_smoothing(sky[:, sht.local_pixels], "2deg", SimpleNamespace(sht=sht))
    same(smoothed, zonal.alm2map(alm, 28, lmax)[:, sht.local_pixels])


def faults():
    """What is wrong on the last rank is raised on all, and the transform works afterwards."""
    sht, last = zonal.mpi.SHT(COMM, 28, 40, threads=1), RANK == SIZE - 1
    sky, alm = np.ones(sht.n_pixels), np.ones(sht.n_alm, complex)
    assert sht.device == "cpu" and sht.exchange.startswith("host memory (")
    on_any = zonal.mpi.SHT(COMM, 28, 40, threads=1, device="auto")
    if on_any.device == "cpu":  # there is no GPU
        same(on_any.synthesize(alm), sht.synthesize(alm))
        error = raised(lambda: zonal.mpi.SHT(COMM, 28, 40, device="cuda"))
        assert error is not None and "device = cuda" in error[1], error
    number = f"rank {SIZE - 1}: "

    def stop(done):
        raise KeyError("in a callback")

    def without_cache(call):
        before = os.environ.get("XDG_CACHE_HOME")
        with tempfile.TemporaryDirectory() as empty:
            os.environ["XDG_CACHE_HOME"] = empty
            try:
                call()
            finally:
                del os.environ["XDG_CACHE_HOME"]
                if before is not None:
                    os.environ["XDG_CACHE_HOME"] = before

    for call, kind, text in (
            (lambda: sht.synthesize(alm[1:] if last else alm), "ValueError", number + "alm: has shape"),
            (lambda: sht.synthesize("five" if last else alm), "TypeError", number + "alm = 'five': must be an array of numbers"),
            (lambda: sht.analyze(sky, iterations=-1 if last else 1), "ValueError", number + "iterations = -1"),
            (lambda: sht.analyze(sky, iterations="x" if last else 1), "TypeError", number + "iterations = 'x'"),
            (lambda: sht.analyze(sky, pixel_weights=-sky if last else sky), "ValueError", number + "pixel_weights[0] = -1"),
            (lambda: sht.adjoint(sky, progress=3 if last else False), "TypeError", number + "progress = 3"),
            (lambda: sht.smooth(sky, -1 if last else 1), "ValueError", number + "fwhm = -1"),
            (lambda: sht.synfast(np.ones(3 if last else 50), seed=1), "ValueError", None),
            (lambda: sht.scatter_map(sky[1:] if last else None, SIZE - 1), "ValueError", number + "map: has shape"),
            (lambda: sht.cross_spectra(alm if last else alm[None]), "ValueError", number + "alms: has shape"),
            (lambda: sht.gather_map(sky, "x" if last else 0), "TypeError", number + "root = 'x'"),
            (lambda: sht.adjoint(sky, progress=stop if last else False), "KeyError" if last else "Cancelled", None),
            (lambda: zonal.mpi.SHT(COMM, 28, "x" if last else 40), "TypeError", number + "lmax = 'x'"),
            (lambda: zonal.mpi.SHT(COMM, 28, 40, 50 if last else None), "ValueError", number + "mmax = 50"),
            (lambda: zonal.mpi.SHT(COMM, 28, 40, device="gpu" if last else "cpu"), "ValueError", number + "device = 'gpu'"),
            (lambda: zonal.mpi.SHT(COMM, 28, 40, speeds=[1] * (SIZE + 1)), "ValueError", "speeds: has"),
            (lambda: zonal.mpi.SHT(COMM, 28, 40, speeds="fast" if last else None), "ValueError", number + "speeds = 'fast'"),
            (lambda: without_cache(lambda: zonal.mpi.SHT(COMM, 28, 40, speeds="auto", threads=1)), "ValueError",
             "threads = 1, device = cpu: speeds follow from costs")):
        error = raised(call)
        same_kind = error is not None and (error[0] == kind or not last and kind == "TypeError" and error[0] == "ValueError")
        assert same_kind and (text is None or text in error[1]), (RANK, error, kind, text)
        sht.synthesize(alm)
    if SIZE > 1:
        for call in (lambda: sht.synthesize(alm) if last else sht.adjoint(sky),
                     lambda: sht.alm2map(np.stack([alm] * 3) if last else alm),
                     lambda: sht.synalm(np.ones(41), seed=int(last)),
                     lambda: sht.gather_map(sky) if last else sht.adjoint(sky),
                     lambda: sht.synthesize(alm.astype(np.complex64) if last else alm),
                     lambda: zonal.mpi.SHT(COMM, 28, 41 if last else 40)):
            error = raised(call)
            assert error is not None and error[0] == "ValueError" and "all must make the same calls" in error[1], error
            sht.synthesize(alm)


def requests():
    """Smoothed maps are those of one process, bit for bit from harmonic space and to rounding from sums over pixels, whose discs
    the ranks add up in another order."""
    for request in REQUESTS:
        expected, wanted = request.answer()
        sht = zonal.mpi.SHT(COMM, zonal.Grid.healpix(NSIDE), 3 * NSIDE - 1, threads=1)
        here = np.ascontiguousarray(request.maps()[..., sht.local_pixels])
        kernel = request.zonal_kernel()
        options = request.options | {"return_report": True}
        if request.masked:
            options["mask"] = request.mask()[sht.local_pixels]
        found, parts = sht.smooth(here, **request.kernel, **options) if kernel is None else sht.convolve(here, kernel, **options)
        is_harmonic = all(part.method == "harmonic" for part in wanted)
        right = expected[..., sht.local_pixels]
        if [part.method for part in parts] != [part.method for part in wanted]:  # "auto" weighs messages, too
            most = sum(part.certified_error + other.certified_error for part, other in zip(parts, wanted))
            assert COMM.allreduce(np.sum((found - right) ** 2)) <= most**2 * np.sum(expected**2) * 1.01, request.name
            continue
        if is_harmonic:
            assert np.array_equal(found, right), (request.name, np.abs(found - right).max(), parts, wanted)
        else:
            # Each pixel is a sum of some thousand products: 2^-52 times as many, and 2^-23 of floats.
            assert np.abs(found - right).max() <= (1e-12 if right.dtype == np.float64 else 1e-6) * np.abs(expected).max(), request.name
        for part, other in zip(parts, wanted, strict=True):
            assert (part.method, part.lmax, part.stands_for, part.error_bound) == (
                other.method, other.lmax, other.stands_for, other.error_bound), request.name
            most = 0 if is_harmonic else 1e-12
            assert part.certified_error == other.certified_error or abs(part.certified_error - other.certified_error) <= most, request.name
            assert part.lmax_effect == other.lmax_effect, request.name


def interrupted():
    """Ctrl-C on one rank, while it computes, and while it waits for the others, which have nearly all of the work."""
    for speed in (1, 1e-3):
        interrupted_at(zonal.mpi.SHT(COMM, 512, 1500, speeds=[1] * (SIZE - 1) + [speed], threads=1))


def interrupted_at(sht):
    alm = np.zeros((8, sht.n_alm), complex)
    last = COMM.bcast(os.getpid(), SIZE - 1)

    def interrupt(done):
        if RANK == 0 and 0 < done:  # part of the orders: the last rank needs the others, too
            nonlocal last
            if last is not None:
                os.kill(last, signal.SIGINT)
            last = None

    try:
        sht.synthesize(alm, progress=interrupt)
        error = None
    except BaseException as caught:
        error = caught
    assert isinstance(error, KeyboardInterrupt if RANK == SIZE - 1 else zonal.Cancelled), repr(error)
    assert not sht.synthesize(alm[0]).any()


def leaves():
    """One rank ends with an exception while the others wait for it."""
    sht = zonal.mpi.SHT(COMM, 28, 40, threads=1)
    if RANK == SIZE - 1:
        raise RuntimeError("this rank gives up")
    sht.adjoint(np.ones(sht.n_pixels))


def waits():
    """For ever, as its partner sleeps."""
    sht = zonal.mpi.SHT(COMM, 28, 40, threads=1)
    COMM.Barrier()
    if RANK == 0:
        print("ready", flush=True)
    if RANK == SIZE - 1:
        time.sleep(1000)
    sht.adjoint(np.ones(sht.n_pixels))


globals()[sys.argv[1]]()
print("done", flush=True)
