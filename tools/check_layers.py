#!/usr/bin/env python3
"""Checks the layout rules of docs/how-it-works/design.md on every source file that git tracks or would track.

check_layers.py [ROOT]: prints one line per broken rule and exits with 1 when there is any.

- Modules depend one way, ALLOWED below.
- The modules of the Python package depend one way, too, and their functions import none of the package: only what needs a
  package that users may lack, OPTIONAL below, is imported when it is first used.
- Headers of other libraries stay in their folders, FOREIGN below.
- Conditional compilation stays in src/core (Highway's own idiom apart).
- No folder has more than 30 files of C++ or CUDA.
- No file has more than 400 lines but those that have one subject all the same, LONG below, and no Python function more than 60 (clang-tidy counts the C++ functions).
"""

import ast
import collections
import graphlib
import pathlib
import re
import sys

from tracked_files import tracked_files

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_FOLDER_FILES = 30

# Files with more lines that have one subject, and why.
LONG = {
    "src/sht/cuda_transform.cu": "one class, whose calls are the ways between maps and alm",
    "python/zonal/mpi/_sht.py": "one class, half of it what its methods promise",
    "src/planning/convolution_plan.cpp": "one class",
    "src/sky/smoothing.cpp": "one class and its plan",
}

# Module -> modules that it may include, itself apart.
ALLOWED = {
    "core": set(),
    "fft": {"core"},
    "grids": {"core", "fft"},
    "sht": {"core", "fft", "grids"},
    "points": {"core", "fft", "grids", "sht"},
    "sky": {"core", "fft", "grids", "sht", "points"},
    "beams": {"core", "fft", "grids", "sht", "points", "sky"},
    "spectra": {"core", "fft", "grids", "sht", "points", "sky"},
    "radial": {"core", "fft", "grids", "sht", "points", "sky"},
    "masks": {"core", "fft", "grids", "sht", "points", "sky", "radial"},
    "split": {"core", "fft", "grids", "sht", "points", "sky", "radial"},
    "planning": {"core", "fft", "grids", "sht", "points", "sky", "radial", "split"},
    "chebyshev": {"core", "fft"},
    "gwrm": {"core", "fft", "chebyshev"},
    "io": {"core", "fft", "grids", "sht", "points", "beams", "sky", "spectra", "radial", "split", "planning", "gwrm", "distributed"},
    "distributed": {"core", "fft", "grids", "sht", "points", "sky", "radial"},
}
ALLOWED["everything"] = set(ALLOWED)  # the headers that include all others

# Module that each public header include/zonal/<name>.hpp belongs to; those of include/zonal/<module>/ say it.
PUBLIC = {
    "error": "core", "view": "core", "device": "core", "progress": "core", "interruption": "core",
    "buffer": "core", "memory": "core",
    "angle": "grids", "grid": "grids", "healpix": "grids",
    "alm": "sht", "sht": "sht", "analysis": "sht", "weights": "sht", "mask": "sht", "spectrum": "sht", "window": "sht",
    "kernel": "radial", "filters": "radial", "wavelets": "radial", "wavelet_maps": "radial", "convolution": "radial",
    "normalized_convolution": "radial", "polarization_convolution": "radial",
    "split": "split", "split_convolution": "split",
    "chebyshev": "chebyshev", "gwrm": "gwrm",
    "zonal": "everything", "io": "everything",
}

# Pattern of another library's header -> (name, where it may be included: prefixes of paths).
CPP = ("src/", "cli/", "tests/", "bench/", "fuzz/", "python/")
FOREIGN = [
    (r"fftw3(-mpi)?\.h|.*/fftw3\.h", "FFTW", ("src/fft/",)),
    (r"fitsio2?\.h", "CFITSIO", ("src/io/", "tests/", "fuzz/")),
    (r"hwy/.*", "Highway", ("src/core/", "src/fft/", "src/grids/", "src/masks/", "src/sht/", "src/points/", "src/beams/", "src/sky/", "src/spectra/", "src/radial/", "src/split/", "src/chebyshev/",
                            "tests/",
                            "bench/", "cmake/")),
    (r"mpi\.h", "MPI", ("src/distributed/", "tests/mpi/")),
    (r"(cuda|cufft|cublas|cusolver|nccl|cub/|thrust/|nvtx).*", "CUDA", ("src/core/",)),
    (r"Eigen/.*", "Eigen", ("src/beams/", "src/core/dense_", "src/spectra/", "src/split/", "src/gwrm/")),
    (r"fmt/.*", "fmt", CPP),
    (r"CLI/.*", "CLI11", ("cli/", "bench/tool/")),
    (r"nanobind/.*", "nanobind", ("python/src/",)),
    (r"nlohmann/.*", "nlohmann-json", ("src/io/json/", "cli/", "bench/", "tests/")),
]

PYTHON = "python/zonal/"
OPTIONAL = {"astropy", "cupy", "jax", "matplotlib", "mpi4py", "torch", "tqdm"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
CONDITIONAL = re.compile(r"^\s*#\s*(?:el)?if(?:n?def)?\b(.*)")
CXX_SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
TEXT_SUFFIXES = CXX_SUFFIXES | {".py", ".sh", ".cmake"}


def module_of_file(path):
    """Module of a path relative to the root; None for what stands above all modules."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:2] == ("include", "zonal"):
        return module_of_public("/".join(parts[2:]))
    return None


def module_of_public(name):
    """Module of include/zonal/<name>; KeyError when nobody has said it."""
    first, _, rest = name.partition("/")
    if rest:
        return first
    return PUBLIC[first.removesuffix(".hpp")]


def module_of_include(header):
    """Module of an included header of ours; None for a header of somebody else or next to the file."""
    if header.startswith("zonal/"):
        return module_of_public(header.removeprefix("zonal/"))
    first, _, rest = header.partition("/")
    return first if rest and first in ALLOWED else None


def check_include(path, header, module):
    """Problems of one include line."""
    try:
        target = module_of_include(header)
    except KeyError:
        return [f"{header}: name its module in PUBLIC of tools/check_layers.py"]
    if target is not None and module is not None and target not in (module, *ALLOWED.get(module, ())):
        return [f"{module} must not include {target} ({header})"]
    for pattern, library, places in FOREIGN:
        if re.fullmatch(pattern, header) and not may_include(path, library, places):
            return [f"{library} header {header} belongs in {' '.join(places)}"]
    return []


def may_include(path, library, places):
    is_cuda_code = path.endswith((".cu", ".cuh"))
    return path.startswith(places) or (library == "CUDA" and is_cuda_code)


def check_cxx(path, lines):
    """Problems of a C++ or CUDA file as (line number, message)."""
    try:
        module = module_of_file(path)
    except KeyError:
        return [(1, "name the header's module in PUBLIC of tools/check_layers.py")]
    if module is not None and module not in ALLOWED:
        return [(1, f"unknown module {module}: name it in ALLOWED of tools/check_layers.py")]
    problems = []
    for number, line in enumerate(lines, 1):
        if match := INCLUDE.match(line):
            problems += [(number, message) for message in check_include(path, match[1], module)]
        elif (match := CONDITIONAL.match(line)) and module not in (None, "core") and not re.search("HWY_|_INL", match[1]):
            problems.append((number, "conditional compilation belongs in src/core and the build files"))
    return problems


def check_python(path, text):
    """Functions that are too long, as (line number, message)."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(node.lineno, f"function {node.name} has {node.end_lineno - node.lineno + 1} lines, "
                          f"at most {MAX_FUNCTION_LINES}")
            for node in ast.walk(ast.parse(text, path))
            if isinstance(node, kinds) and node.end_lineno - node.lineno >= MAX_FUNCTION_LINES]


def check_file(path, text):
    """All problems of one file as (line number, message)."""
    suffix = pathlib.PurePosixPath(path).suffix
    lines = text.splitlines()
    problems = []
    if len(lines) > MAX_FILE_LINES and path not in LONG:
        problems.append((len(lines), f"{len(lines)} lines, at most {MAX_FILE_LINES}"))
    if suffix in CXX_SUFFIXES:
        problems += check_cxx(path, lines)
    elif suffix == ".py":
        problems += check_python(path, text)
    return problems


def python_imports(path, text, modules):
    """All imports of a module of the package as (line number, module or package, whether a function makes it)."""
    tree = ast.parse(text, path)
    in_functions = {id(node) for outer in ast.walk(tree) if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef))
                    for node in ast.walk(outer)}
    folder = pathlib.PurePosixPath(path).parent.parts[1:]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = folder[:len(folder) - node.level + 1] if node.level else ()
            origin = ".".join([*parts, *([node.module] if node.module else [])])
            names = [inner if (inner := f"{origin}.{alias.name}") in modules else origin for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name, id(node) in in_functions) for name in names)


def check_python_imports(texts):
    """Problems of the Python package, a dict of texts by paths, as (path, line number, message)."""
    paths = {path.removeprefix("python/").removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in texts}
    modules = {*paths, "zonal._core"}
    imports = {module: list(python_imports(path, texts[path], modules)) for module, path in paths.items()}
    late = {module for module, found in imports.items()
            if any(name.partition(".")[0] in OPTIONAL and not in_function for _, name, in_function in found)}
    problems = [(paths[module], line, f"import {name} at the top of the file")
                for module, found in imports.items() for line, name, in_function in found
                if in_function and name in modules and name not in late]
    try:
        graphlib.TopologicalSorter({module: {name for _, name, _ in found if name in modules and name != module}
                                    for module, found in imports.items()}).prepare()
    except graphlib.CycleError as error:
        problems.append((PYTHON, 1, f"modules import each other: {' <- '.join(error.args[1])}"))
    return problems


def source_files(root):
    """Files that git tracks or would track, relative to root."""
    return [path for path in tracked_files(root) if pathlib.PurePosixPath(path).suffix in TEXT_SUFFIXES]


def check_folders(paths):
    """Problems of folders as (folder, message)."""
    sizes = collections.Counter(str(path.parent) for path in map(pathlib.PurePosixPath, paths)
                                if path.suffix in CXX_SUFFIXES)
    return [(folder, f"{size} files, at most {MAX_FOLDER_FILES}: give its subjects folders of their own")
            for folder, size in sorted(sizes.items()) if size > MAX_FOLDER_FILES]


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    n_files = n_problems = 0
    paths = source_files(root)
    for folder, message in check_folders(paths):
        n_problems += 1
        print(f"{folder}: {message}")
    texts = {path: (root / path).read_text(encoding="utf-8") for path in paths}
    for path, number, message in check_python_imports({path: text for path, text in texts.items()
                                                       if path.startswith(PYTHON) and path.endswith(".py")}):
        n_problems += 1
        print(f"{path}:{number}: {message}")
    for path, text in texts.items():
        n_files += 1
        for number, message in check_file(path, text):
            n_problems += 1
            print(f"{path}:{number}: {message}")
    print(f"check_layers: {n_files} files, {n_problems} problems")
    return 1 if n_problems else 0


if __name__ == "__main__":
    sys.exit(main())
