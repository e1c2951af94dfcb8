"""Tests of check_layers.py: each rule is broken once, and kept once in the nearest permitted way."""

import subprocess
import sys

import pytest

import check_layers

BROKEN = [
    ("src/fft/a.cpp", '#include "sht/plan.hpp"', "fft must not include sht"),
    ("src/core/a.hpp", "#include <zonal/grid.hpp>", "core must not include grids"),
    ("src/chebyshev/a.cpp", '#include "sht/plan.hpp"', "chebyshev must not include sht"),
    ("src/sht/a.cpp", '#include "zonal/io/map.hpp"', "sht must not include io"),
    ("include/zonal/grid.hpp", '#include "zonal/sht.hpp"', "grids must not include sht"),
    ("src/sht/a.cpp", "#include <fftw3.h>", "FFTW header"),
    ("include/zonal/io/map.hpp", "#include <fitsio.h>", "CFITSIO header"),
    ("cli/commands/smooth.cpp", "# include <hwy/highway.h>", "Highway header"),
    ("src/sht/a.cpp", "#include <mpi.h>", "MPI header"),
    ("src/sht/a.cpp", "#include <cuda_runtime.h>", "CUDA header"),
    ("include/zonal/view.hpp", "#include <fmt/format.h>", "fmt header"),
    ("src/sht/a.cpp", "#ifdef __AVX2__", "conditional compilation"),
    ("src/sht/a.cpp", '#include "zonal/unheard_of.hpp"', "PUBLIC"),
    ("include/zonal/unheard_of.hpp", "", "PUBLIC"),
    ("src/unheard_of/a.cpp", "", "unknown module"),
    ("cli/long.cpp", "\n" * 401, "401 lines"),
    ("tools/long.py", "def f():\n" + "    pass\n" * 60, "function f has 61 lines"),
]

KEPT = [
    ("src/sht/a.cpp", '#include "fft/plan.hpp"\n#include "zonal/grid.hpp"\n#include "sht/b.hpp"\n#include <vector>'),
    ("src/io/a.cpp", '#include <fitsio.h>\n#include "zonal/sht.hpp"'),
    ("src/fft/a.cpp", "#include <fftw3.h>"),
    ("src/sht/a.cpp", "#include <hwy/highway.h>\n#if HWY_ONCE\n#endif"),
    ("src/sht/a_cuda.cu", "#include <cuda_runtime.h>"),
    ("src/core/a.cpp", "#ifdef __linux__\n#endif"),
    ("cli/commands/smooth.cpp", '#include "zonal/io/map.hpp"\n#include <CLI/CLI.hpp>'),
    ("cli/exact.cpp", "\n" * 400),
    ("tools/exact.py", "def f():\n" + "    pass\n" * 59),
]


@pytest.mark.parametrize("path, text, message", BROKEN)
def test_broken_rule_is_reported(path, text, message):
    problems = check_layers.check_file(path, text or "\n")
    assert len(problems) == 1 and message in problems[0][1]


@pytest.mark.parametrize("path, text", KEPT)
def test_permitted_use_is_not_reported(path, text):
    assert check_layers.check_file(path, text) == []


def test_modules_of_the_python_package_import_one_another_one_way():
    texts = {"python/zonal/__init__.py": "from . import _core\nfrom .a import f\n", "python/zonal/a.py": "from .part import b\n",
             "python/zonal/part/__init__.py": "", "python/zonal/part/b.py": "from .. import _core\n"}
    assert check_layers.check_python_imports(texts) == []
    texts["python/zonal/part/b.py"] = "from ..a import f\n"
    assert "modules import each other" in check_layers.check_python_imports(texts)[0][2]


def test_functions_import_only_what_needs_an_optional_package():
    texts = {"python/zonal/a.py": "def f():\n    import tqdm\n    from . import b\n", "python/zonal/b.py": "import matplotlib\n"}
    assert check_layers.check_python_imports(texts) == []
    texts["python/zonal/b.py"] = "import numpy\n"
    assert check_layers.check_python_imports(texts) == [("python/zonal/a.py", 3, "import zonal.b at the top of the file")]


def test_program_names_file_and_line_and_fails(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "src/fft").mkdir(parents=True)
    (tmp_path / "src/fft/plan.cpp").write_text('\n#include "sht/plan.hpp"\n')
    result = subprocess.run([sys.executable, check_layers.__file__, tmp_path], capture_output=True, text=True)
    assert result.returncode == 1
    assert "src/fft/plan.cpp:2: fft must not include sht" in result.stdout


def test_a_folder_of_more_than_thirty_sources_is_a_problem():
    sources = [f"src/fft/a{i}.cpp" for i in range(30)] + ["src/fft/notes.md"]
    assert check_layers.check_folders(sources) == []
    assert [folder for folder, _ in check_layers.check_folders(sources + ["src/fft/b.hpp"])] == ["src/fft"]
