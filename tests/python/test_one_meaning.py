"""The tool, Python and ranks answer a request alike."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import zonal
from smoothing_requests import REQUESTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZONAL = os.environ.get("ZONAL", str(ROOT / "build" / "bin" / "zonal"))
OPTIONS = {"normalization": "normalize", "iterations": "iter"}  # those that the tool names otherwise
PRECISIONS = {"float32": "float", "float64": "double"}
needs_tool = pytest.mark.skipif(not os.access(ZONAL, os.X_OK), reason="there is no tool")


def tool_options(request, folder):
    """Those of zonal smooth. Angles of profiles are written in the unit and with the digits that Python has them in."""
    result = []
    for name, value in request.kernel.items():
        name = name.replace("_", "-")
        if name == "beam":
            value = folder / "beam.txt"
            np.savetxt(value, np.transpose([np.arange(len(request.kernel["beam"])), request.kernel["beam"]]), header="l T", fmt="%.17g")
        if name == "profile":
            value = folder / "profile.txt"
            np.savetxt(value, np.transpose(request.kernel["profile"]), header="theta [rad] value [1/sr]", fmt="%.17g")
        result += [f"--{name}", value]
    for name, value in request.options.items():
        flag = "--" + OPTIONS.get(name, name).replace("_", "-")
        result += [flag] if value is True else [flag, PRECISIONS.get(value, value) if name == "precision" else value]
    if request.masked:
        zonal.io.write_map(folder / "mask.fits", request.mask())
        result += ["--mask", folder / "mask.fits"]
    return [str(part) for part in result]


def answer_of_tool(request, folder):
    """The maps in the file and the report."""
    maps = request.maps()
    zonal.io.write_map(folder / "map.fits", maps, pol=request.polarized, single=request.dtype == np.float32)
    environment = os.environ | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder)}  # without costs that were measured
    run = subprocess.run([ZONAL, "smooth", folder / "map.fits", folder / "out.fits", "--threads", "1", "--json",
                          *([] if request.polarized else ["--no-pol"]), *tool_options(request, folder)],
                         capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr + run.stdout
    found = np.asarray(zonal.io.read_map(folder / "out.fits"))
    return found.reshape(maps.shape), json.loads(run.stdout)


def certified_in(written):
    """The certified error in a part of the tool's report."""
    return written["certified_error"]


@needs_tool
@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.name)
def test_tool_and_python_agree(request_, tmp_path):
    expected, parts = request_.answer()
    found, report = answer_of_tool(request_, tmp_path)
    assert np.array_equal(found.astype(expected.dtype), expected)
    for part, written in zip(parts, report.get("parts", [report]), strict=True):
        assert written["method"] == part.method and written["reference"] == part.reference
        assert written["stands_for"] == part.stands_for
        assert written.get("lmax_effect", 0) == part.lmax_effect
        if part.error_bound is not None:
            # Exactly; but into a file of floats an error goes that is smaller by what these round.
            most = 2.0**-24
            assert abs(certified_in(written) - part.certified_error) <= most
            assert abs(written["certificate"]["rms_out"] - part.certificates[-1].rms_out) <= most
    assert report.get("notes", []) == [note for part in parts for note in part.notes]
