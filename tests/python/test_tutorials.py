"""The tutorials print what the site shows: tools/run_notebooks.py runs them."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
NEEDS = {"gpu_and_gradients": "jax", "from_healpy": "healpy", "several_machines": "mpi4py"}

spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "tools" / "run_notebooks.py")
run_notebooks = sys.modules["run_notebooks"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_notebooks)


@pytest.mark.parametrize("name", sorted(path.stem for path in run_notebooks.TUTORIALS.glob("*.ipynb")))
def test_tutorials_print_what_they_keep(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if name == "several_machines" and shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")
    kept = nbformat.read(run_notebooks.TUTORIALS / f"{name}.ipynb", as_version=4)
    assert any(cell.get("outputs") for cell in kept["cells"])
    assert run_notebooks.differences(kept, run_notebooks.run(kept, run_notebooks.TUTORIALS)) == []


def notebook(text, tags=()):
    cell = nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", name="stdout", text=text)])
    cell["metadata"]["tags"] = list(tags)
    return nbformat.v4.new_notebook(cells=[cell])


@pytest.mark.parametrize("text, tags, n_problems", [
    ("1.5\n", [], 0), ("1.6\n", [], 1), ("1.6\n", ["varies"], 0), ("", [], 1)])
def test_other_outputs_are_found(text, tags, n_problems):
    assert len(run_notebooks.differences(notebook("1.5\n", tags), notebook(text, tags))) == n_problems


def test_a_picture_that_is_missing_is_found():
    picture = nbformat.v4.new_output("display_data", data={"image/png": "iVBORw0KGgo="})
    cell = nbformat.v4.new_code_cell("plot", outputs=[picture])
    kept = nbformat.v4.new_notebook(cells=[cell])
    assert len(run_notebooks.differences(kept, notebook(""))) == 1
