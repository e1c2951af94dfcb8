"""What Zonal does that other packages do not, in a minute: ./demo.sh runs it with the environment that it makes.

Each part prints the lines that a user would write, what they print, and what that means. Pictures go to demo/, with a page
demo/index.html that shows them.
"""
import html
import json
import os
import subprocess
import sys
import textwrap
import time
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import numpy as np

import zonal
from zonal import gwrm, plot

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BIN = Path(sys.executable).parent
DEMO = Path("demo")
RECORD = Path("bench/results/main-job-epyc-2-threads.json")  # what is said where healpy is not installed
lines = {"zonal": zonal, "gwrm": gwrm, "np": np}  # what the lines that are shown have defined
page = []


def title(text):
    print(f"\n== {text}")
    page.append(f"<h2>{html.escape(text)}</h2>")


def say(text):
    print(textwrap.fill(text, 110))
    page.append(f"<p>{html.escape(text)}</p>")


def show(text):
    """Prints lines of Python, runs them, and returns the seconds that they took."""
    text = textwrap.dedent(text).strip()
    print(textwrap.indent(text, "    "))
    page.append(f"<pre>{html.escape(text)}</pre>")
    start = time.perf_counter()
    exec(text, lines)
    return time.perf_counter() - start


def tool(*words):
    """Runs the tool after printing its command."""
    print("    $ zonal", *words, flush=True)
    page.append(f"<pre>$ zonal {html.escape(' '.join(words))}</pre>")
    subprocess.run([BIN / "zonal", *words], check=True)


def picture(figure, name, caption):
    figure.savefig(DEMO / name, dpi=110)
    plt.close(figure)
    print(f"  -> {DEMO / name}")
    page.append(f'<figure><img src="{name}" alt="{html.escape(caption)}"><figcaption>{html.escape(caption)}</figcaption></figure>')


def gpus():
    return [device for device in zonal.devices() if device.name != "cpu" and not device.reason]


def wmap():
    title("Smooth the WMAP W band by 10 degrees, and compare with the HEALPix Fortran package")
    before = "data/wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits"
    tool("smooth", before, "demo/wmap_smoothed.fits", "--fwhm", "10deg", "--lmax", "64", "--iter", "3", "--overwrite")
    tool("compare", "demo/wmap_smoothed.fits", "data/wmap/wmap_W_smoothed10deg_healpix_f90.fits", "--limit", "1e-6")
    say("The maps I, Q and U agree with HEALPix's own, which are in single precision, to 1e-6 of their scale. The tool came "
        "with the Python package: both use one library.")
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
    plot.mollweide(zonal.io.read_map(before, ["I"])[0], cmap="planck", unit="mK", title="WMAP, W band", ax=axes[0])
    plot.mollweide(zonal.io.read_map("demo/wmap_smoothed.fits")[0], cmap="planck", unit="mK", title="smoothed to 10°", ax=axes[1])
    picture(figure, "wmap.png", "The intensity of WMAP's W band, and smoothed by a Gaussian of 10 degrees")


def planck():
    title("Simulate a sky like Planck's, 3 maps of 12,582,912 pixels, and smooth it to 10 arcmin within 1e-4")
    simulated = show("""
        theory = zonal.io.read_cl("data/theory/planck2018_lcdm_cl_v3.fits")
        sky = zonal.synfast(theory, 1024, lmax=2048, seed=2018)    # I, Q, U
    """)
    show("""
        plan = zonal.plan(zonal.Kernel.gaussian("10arcmin"), zonal.Grid.healpix(1024), lmax=2048, error=1e-4)
        print(plan.explain())
    """)
    say("The plan lists the ways, with the seconds and the error that are predicted of each for any map; the star marks the "
        "fastest that keeps the error. A plan for the sum over the map's pixels has more ways to choose from:")
    show("""
        sums = zonal.plan(zonal.Kernel.gaussian("10arcmin"), zonal.Grid.healpix(1024), error=1e-4, reference="discrete")
        print(sums.explain())
    """)
    seconds = show("""
        smoothed, reports = zonal.smooth(sky, "10arcmin", lmax=2048, error=1e-4, pol=True, return_report=True)
    """)
    error = max(report.certified_error for report in lines["reports"])
    asked = "certified" if all(report.is_certified for report in lines["reports"]) else "NOT certified"
    say(f"It is {asked} for this very sky that the result differs from the exact answer by no more than {error:.1g} of its size. "
        f"Simulating took {simulated:.1f} s and smoothing {seconds:.1f} s, on {int(zonal.threads())} threads.")
    for device in gpus():
        lines["device"] = device.name
        again = """zonal.smooth(sky, "10arcmin", lmax=2048, error=1e-4, pol=True, device=device)"""
        show(again)  # the first call on a GPU makes it ready
        say(f"On the GPU {device.model} the same takes {show(again):.2f} s.")
    beside_healpy(seconds)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    for ax, (i, q, u), name in zip(axes, (lines["sky"], lines["smoothed"]), ("simulated", "smoothed to 10 arcmin")):
        plot.gnomonic(i, rot=("30deg", "20deg"), size="6deg", cmap="planck", unit="µK", min=-300, max=300, title=name, ax=ax)
        plot.polarization(ax, q, u, count=22)
    picture(figure, "planck.png", "6 degrees of the simulated sky, with its polarisation as lines, before and after smoothing")


def beside_healpy(seconds):
    if not find_spec("healpy"):
        found = [result for result in json.loads(RECORD.read_text())["results"] if result["nside"] == 1024]
        say(f"healpy is not installed here. On two cores of an EPYC it takes {found[-1]['speed_over_peer_median']:.1f} times as long "
            f"for I alone, with a Gaussian of 30 arcmin ({RECORD}).")
        return
    lines["fwhm"] = zonal.angle("10arcmin")
    healpy = show("""
        import healpy
        other = healpy.smoothing(sky, fwhm=fwhm, lmax=2048, pol=True)
    """)
    difference = np.std(lines["other"][0] - lines["smoothed"][0]) / np.std(lines["smoothed"][0])
    say(f"healpy takes {healpy:.1f} s on the same cores, {healpy / seconds:.1f} times as long, and says nothing of its error. The two "
        f"maps of I differ by {difference:.1g} of their size.")


def fermi():
    title("Spread the photons of the Fermi telescope by its point-spread function, and keep every one")
    seconds = show("""
        photons = zonal.io.read_events("data/fermi/fermi_2fhl_events_selected.fits.gz")
        counts = zonal.io.bin_events(photons, 1024)
        psf = zonal.io.read_psf("data/fermi/fermi_2fhl_psf_gc.fits.gz", "100GeV")
        seen = zonal.convolve(counts, psf, normalization="pixel", method="pixel-sum", error=0.05)
    """)
    counts, seen = lines["counts"], lines["seen"]
    say(f"Of {counts.sum():,.0f} photons {seen.sum():,.6f} are there afterwards, and the smallest value is {seen.min():.2g}. The result "
        f"is within 5 % of the exact sum, rms over rms, and took {seconds:.1f} s. The sum goes over pixels, so that nothing rings around "
        "the sources.")
    maps, names = [seen], ["Zonal"]
    if find_spec("healpy"):
        show("""
            import healpy
            rings = healpy.smoothing(counts, beam_window=psf.window(2048), lmax=2048, iter=0)
        """)
        rings = lines["rings"]
        say(f"healpy goes through spherical harmonics: {(rings < -1e-6).mean():.0%} of its pixels hold negative counts, down to {rings.min():.2g}.")
        maps, names = [seen, rings], ["Zonal", "healpy"]
    figure, axes = plt.subplots(1, len(maps), figsize=(5.5 * len(maps), 5.2), layout="constrained", squeeze=False)
    for ax, values, name in zip(axes[0], maps, names):
        plot.gnomonic(values, rot=("184.557deg", "-5.784deg"), size="6deg", cmap="RdBu_r", min=-0.02, max=0.02, unit="counts",
                      title=f"{name}: the Crab", ax=ax)
    picture(figure, "fermi.png", "Photons around the Crab, spread by the point-spread function; blue is negative")


def split():
    title("Split a kernel between harmonic space and pixel space")
    show("""
        c_l = zonal.io.read_cl("data/theory/planck2018_lcdm_cl_v3.fits")["TT"][:4097]
        window = np.sqrt(c_l) * zonal.gaussian_window("7arcmin", 4096)    # turns white noise into a sky
        split = zonal.Split(window, "6.5deg", error=1e-5)
    """)
    parts, window = lines["split"], lines["window"]
    say(f"This kernel is compact neither in degrees nor in angle. Zonal writes it as a window up to l = {parts.l_cut} and a profile up "
        f"to 6.5 degrees, each computed where it is cheap. Their sum errs by {parts.actual_error:.1g}.")
    l = np.arange(2, len(window))
    low = np.zeros(len(window))
    low[: parts.l_cut + 1] = parts.window
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    axes[0].loglog(l, window[2:], label="kernel", color="0.8", linewidth=5)
    for values, name in ((low, "window"), (parts.profile_window, "profile")):
        axes[0].loglog(l, np.abs(values[2:]) + 1e-300, label=name)
    axes[0].set(title="In degrees l", xlabel="l", ylabel="window", ylim=(1e-8 * window.max(), 2 * window.max()))
    axes[0].legend()
    theta = np.linspace(0, parts.theta_cut, 500)
    values = parts.profile.profile(theta)
    axes[1].semilogy(np.degrees(theta), np.abs(values) / abs(values[0]))
    axes[1].set(title="The profile over the angle", xlabel="degrees", ylabel="|profile| over its value at 0")
    axes[2].loglog(l, np.abs(low + parts.profile_window - window)[2:] / window.max())
    axes[2].set(title="The error of the sum", xlabel="l", ylabel="over the largest of the kernel", ylim=(1e-13, 1e-6))
    picture(figure, "split.png", "A split kernel: its two parts over l, the profile over the angle, and the error of their sum")


def equation():
    title("Solve an equation in time, without time steps")
    seconds = show("""
        u, x = gwrm.Unknown("u"), gwrm.Axis("x", (0, 1), modes=60)
        solution = gwrm.solve({u: 0.01 * u.d(x, 2) - u * u.d(x)}, {u: lambda x: np.sin(np.pi * x)}, t=(0, 1), axes=[x],
                              conditions=[gwrm.dirichlet(u, x)], tolerance=1e-8)
    """)
    solution, u = lines["solution"], lines["u"]
    say(f"Burgers' equation steepens a wave into a front. The solution is a series in time and space together, in {len(solution.intervals)} "
        f"intervals of time; its error at the end is estimated as {np.max(solution[u].error()):.1g}. It took {seconds:.2f} s.")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    solution.plot(axes[0])
    points = np.linspace(0, 1, 400)
    for t in (0, 0.25, 0.5, 0.75, 1):
        axes[1].plot(points, solution[u](t, points), label=f"t = {t}")
    axes[1].set(xlabel="x", ylabel="u")
    axes[1].legend()
    picture(figure, "burgers.png", "Burgers' equation: the solution over time and space, and at five times")


def main():
    start = time.perf_counter()
    os.environ.setdefault("OMP_NUM_THREADS", str(int(zonal.threads())))  # healpy's threads
    DEMO.mkdir(exist_ok=True)
    found = gpus()
    say(f"Zonal {zonal.__version__} on {int(zonal.threads())} threads, " + (
        "with " + ", ".join(device.model for device in found) if found else "without a GPU") + ".")
    for part in (wmap, planck, fermi, split, equation):
        part()
    style = "body { max-width: 60em; margin: 2em auto; font-family: sans-serif } img { max-width: 100% } figcaption { color: #555 }"
    (DEMO / "index.html").write_text(f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Zonal: a demonstration</title>'
                                     f"<style>{style}</style>\n<h1>Zonal: a demonstration</h1>\n" + "\n".join(page) + "\n</html>\n")
    print(f"\nThe demonstration took {time.perf_counter() - start:.0f} s. {DEMO / 'index.html'} shows all pictures.")


main()
