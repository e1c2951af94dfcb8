"""The programs zonal and zonal-bench and what they report, and files of the tree."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
ZONAL = os.environ.get("ZONAL", str(ROOT / "build/bin/zonal"))
ZONAL_BENCH = os.environ.get("ZONAL_BENCH", str(ROOT / "build/bin/zonal-bench"))
PLANCK = ROOT / "data/theory/planck2018_lcdm_cl_v3.fits"
WMAP7 = ROOT / "data/theory/wmap_lcdm_sz_lens_wmap7_cl_v4.fits"


def report(program, *arguments, **options):
    """What a program prints with --json. Ends this one where that one fails, unless it has choices all the same: those of plan,
    none of which keeps the error. options: of subprocess.run."""
    return printed(program, *arguments, "--json", **options)


def printed(program, *arguments, **options):
    """The same of a program that prints nothing but JSON."""
    command = [str(program), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0 and '"choices"' not in result.stdout:
        raise SystemExit(f"{' '.join(command)}\n{result.stderr}")
    return json.loads(result.stdout)


def fma_flops(threads):
    """Double-precision operations per second that the machine reaches with fused multiply-adds."""
    return report(ZONAL_BENCH, "sht", "--nside", 1, "--threads", threads, "--repeat", 1)["fma_peak_flops"]
