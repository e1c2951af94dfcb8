"""Type checkers know the package as its documentation does."""

import re
import subprocess
import sys
from pathlib import Path

import zonal

EXAMPLE = """
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import zonal
from zonal import gwrm
from zonal.chebyshev import Series, sum_of_products

sky = zonal.synfast(np.ones(33), zonal.Grid.healpix(16), seed=1, fwhm="5deg")
smoothed, reports = zonal.smooth(sky, "5deg", error=1e-6, return_report=True)
sht = zonal.SHT(zonal.Grid.healpix(16), lmax=32, spin=2, threads=1)
alm = sht.analyze(np.stack([sky, sky]), progress=lambda done: done < 2)
plan = zonal.plan(3 * zonal.Kernel.gaussian(0.1), sht.grid, error=1e-3, method="ring-fft")
names: list[str] = [choice.method for choice in plan.choices]
zonal.io.write_map("sky.fits", sky, units=["uK"], overwrite=True)
unit: str = zonal.io.read_map("sky.fits").units[0]
dust: zonal.Map = zonal.Map(zonal.io.read_map("sky.fits"), unit="K_CMB").to("MJy/sr", frequency="353 GHz")
seen = (2 * dust - dust[0]).values[dust.reordered(nest=True) > 0]
with zonal.threads(2) as n, ThreadPoolExecutor(n) as pool:
    turned = list(pool.map(lambda a: zonal.rotate_alm(a, "GC"), [zonal.synalm(np.ones(5), seed=3)]))
f = Series.from_function(np.cos, (-1, 2), tolerance=1e-8)
g: Series = 1 / (2 + f * f) - np.float64(3) * f**2 + sum_of_products((2, f, f), (f,))
first_root: float = f.derivative().roots()[0] + g(0.5)
x, nu = gwrm.Axis("x", modes=12), gwrm.Parameter("nu", (0.1, 0.2), modes=4)
u, v = gwrm.unknowns("u", "v")
solution = gwrm.solve({u: nu * u.d(x, 2) - u * v, v: -v + gwrm.known(lambda t, x, nu: t * x)},
                      {u: lambda x, nu: x * (1 - x), v: 1}, t=(0, 1), axes=[x, nu], conditions=[gwrm.dirichlet(u, x)])
largest: float = solution[u].error() + float(solution(1, 0.5, 0.1)[0]) + solution["v"].series(0).truncation_bound(3)
ordinary = gwrm.solve(lambda t, u: [u[1], -u[0]], [0, 1], t=(0, 1), solver="newton")
"""


def mypy(folder, *arguments):
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", *arguments],
                          capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_and_its_use_are_typed(tmp_path):
    wrong = '\nzonal.smooth(sky, "5deg").no_such_thing()\nzonal.SHT(16, lmax="32")\nu.d("x")\n'
    (tmp_path / "example.py").write_text(EXAMPLE)
    mypy(tmp_path, "-p", "zonal")
    mypy(tmp_path, "example.py")
    (tmp_path / "wrong.py").write_text(EXAMPLE + wrong)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "wrong.py"],
                          capture_output=True, text=True, cwd=tmp_path)
    assert len(re.findall(r"\[arg-type\]", done.stdout)) == 3, done.stdout  # grid and lmax of SHT, axis of d


def test_the_stub_is_that_of_the_extension():
    stub = (Path(zonal.__file__).parent / "_core.pyi").read_text()
    public = [name for name in dir(zonal._core) if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"^(class|def|    def)? ?{name}\b", stub, re.M)] == []
