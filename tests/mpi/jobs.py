"""Runs programs under mpirun (environment variable MPIRUN) and kills jobs that hang. Their folder is in ZONAL_BIN
(default: build/bin)."""

import os
import pathlib
import subprocess

import pytest

BIN = pathlib.Path(os.environ.get("ZONAL_BIN", pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
MPIRUN = os.environ.get("MPIRUN", "mpirun")
IS_OPEN_MPI = "Open MPI" in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=True).stdout
# More ranks than CPUs, by root, as in a container; who waits gives way.
FLAGS = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"] if IS_OPEN_MPI else []
PATIENCE = 500  # seconds, for machines that are busy; only what hangs takes that long


def start(*command, cwd=None, **environment):
    return subprocess.Popen([str(part) for part in command], cwd=cwd, env=os.environ | environment, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def finish(process):
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpirun ends its ranks
        out, err = process.communicate()
        pytest.fail(f"{process.args} hangs\n{out}\n{err}")
    return process.returncode, out, err


def call(*command, **options):
    return finish(start(*command, **options))


def mpirun(n_ranks, *command, **options):
    return call(MPIRUN, *FLAGS, "-n", n_ranks, *command, **options)
