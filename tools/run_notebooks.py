#!/usr/bin/env python3
"""Runs the tutorials, docs/tutorials/*.ipynb, and compares their outputs with those that the files keep.

tools/run_notebooks.py [--write] [FILE...]    # --write: keeps the new outputs instead

Prints what differs and exits with 1 when there is any. Text must agree to the letter, and a picture must be where there
was one. The outputs of a cell with the tag `varies`, such as times, are not compared. Warnings are neither compared nor
kept, as they name folders of the machine. --write leaves a file alone of which only pictures changed.
"""

import argparse
import base64
import io
import os
import pathlib
import re
import sys
import tempfile
import unittest.mock

import nbclient
import nbformat
import PIL.Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"


def run(notebook, folder):
    """A copy of the notebook with the outputs of a run in the folder, by this Python."""
    copy = nbformat.from_dict(notebook)
    with tempfile.TemporaryDirectory() as cache:
        # No costs that this machine was calibrated to, and a matplotlib that draws into the notebook.
        settings = {"XDG_CACHE_HOME": cache, "MPLBACKEND": "module://matplotlib_inline.backend_inline",
                    "JAX_PLATFORMS": "cpu"}
        with unittest.mock.patch.dict(os.environ, settings):
            nbclient.NotebookClient(copy, timeout=300, kernel_name="python3",
                                    resources={"metadata": {"path": str(folder)}}).execute()
    return copy


def shown(cell):
    """What a reader sees of a cell's outputs: text, and where pictures are."""
    parts = []
    for output in cell.get("outputs", []):
        if output.get("name") == "stderr":
            continue
        if output["output_type"] == "stream":
            parts.append(output["text"])
        elif output["output_type"] == "error":
            parts.append(f"{output['ename']}: {output['evalue']}")
        else:
            data = output["data"]
            parts.append("<picture>\n" if "image/png" in data else data.get("text/plain", "") + "\n")
    return re.sub(r"0x[0-9a-f]+", "0x", "".join(parts))


def differences(kept, new):
    """What differs between two versions of a notebook, one text for each cell."""
    problems = []
    for number, (old_cell, new_cell) in enumerate(zip(kept["cells"], new["cells"])):
        if old_cell["cell_type"] != "code" or "varies" in old_cell["metadata"].get("tags", []):
            continue
        if shown(old_cell) != shown(new_cell):
            problems.append(f"cell {number} prints\n{shown(new_cell)}\nand the file has\n{shown(old_cell)}")
    return problems


def smaller(picture):
    """A PNG in base64 with a palette, which takes a third of the bytes."""
    image = PIL.Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB").quantize(256, PIL.Image.Quantize.MAXCOVERAGE)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def as_kept(notebook):
    """The notebook without what differs from run to run: counts, times, warnings. Pictures get a palette."""
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"].pop("execution", None)
        cell["id"] = f"cell-{number}"
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
            cell["outputs"] = [output for output in cell["outputs"] if output.get("name") != "stderr"]
            for output in cell["outputs"]:
                output.pop("execution_count", None)
                if output["output_type"] == "execute_result":
                    output["execution_count"] = None
                if "image/png" in output.get("data", {}):
                    output["data"].pop("text/html", None)  # the same picture
                    output["data"]["image/png"] = smaller(output["data"]["image/png"])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook["metadata"] = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return notebook


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="keep the new outputs")
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=sorted(TUTORIALS.glob("*.ipynb")))
    options = parser.parse_args()
    n_problems = 0
    for file in options.files:
        kept = nbformat.read(file, as_version=4)
        new = run(kept, file.parent)
        found = differences(kept, new)
        for problem in found:
            print(f"{file.name}: {problem}\n")
        if options.write and (found or not any(cell.get("outputs") for cell in kept["cells"])):
            nbformat.write(as_kept(new), file)
        n_problems += len(found)
    print(f"run_notebooks: {len(options.files)} notebooks, {n_problems} cells with other outputs")
    return 1 if n_problems and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
