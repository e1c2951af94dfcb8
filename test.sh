#!/usr/bin/env bash
# Installs what the tests need, then runs everything that needs no GPU. Stops at the first stage that fails, names it
# and exits with 1; the last line is "N passed, N failed", test cases over all stages.
#
# ./test.sh            everything
# ./test.sh STAGE...   only these (and what they need): style docs release python mpi package install asan tsan fuzz tidy cuda
# ./test.sh suites     what "everything" leaves out, as it takes an hour: other packages' tests with zonal.healpy
set -uo pipefail
cd "$(dirname "$0")" || exit 1
. tools/packages.sh
. tools/stages.sh

jobs=$(nproc)
venv=build/venv
# Seconds after which a test has hung. The longest takes a tenth of that on a slow machine.
hangs_after=600
# The release, the wheel and the installed libraries have most of their objects in common. ccache makes them once if it is not told
# in which folder a build was made, where CMake keeps its files of several sources.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD/build}
# Tests interrupt matplotlib and limit its memory, and the list of fonts that it then keeps is for nobody else.
export MPLCONFIGDIR=$PWD/build/matplotlib
begin_stages build/test-logs tests/stage_counts.txt
wanted=" $* "
named() { [[ $wanted == *" $1 "* ]]; }
want() { [ "$wanted" = "  " ] || named "$1"; }

# build PRESET FOLDER [cmake option...]
build() {
    local preset=$1 folder=$2; shift 2
    if command -v ccache; then set -- "$@" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
    # Without the -g1 of the sanitizers' presets, which takes time: reports name functions, but no lines.
    cmake --preset "$preset" -B "$folder" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 \
        -DZONAL_WARNINGS_AS_ERRORS=ON -DZONAL_WITH_TESTS=ON -DZONAL_WITH_BENCH=ON "$@"
    cmake --build "$folder" -j "$jobs"
}

# The packages of tests/requirements.txt; pip is asked only when that file has changed since.
make_venv() {
    if cmp -s tests/requirements.txt $venv/requirements.txt; then return; fi
    python3 -m venv --clear $venv
    $venv/bin/pip install --disable-pip-version-check -r tests/requirements.txt
    cp tests/requirements.txt $venv/
}

sources() { git ls-files --cached --others --exclude-standard -- "$@"; }

check_format() {
    sources '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs "$PWD/$venv/bin/clang-format" --dry-run --Werror
    echo "ok clang-format"
    sources '*.py' | xargs "$PWD/$venv/bin/ruff" check --no-cache --quiet
    echo "ok ruff"
}

# What every run of pytest gets. The files of a test that passed go with it: all of them together would take gigabytes.
pytest_options=(-q -p no:cacheprovider -o tmp_path_retention_policy=failed --timeout=$hangs_after)

# pytest NAME ARGUMENT...
pytest() {
    local name=$1; shift
    "$PWD/$venv/bin/python" -B -m pytest "${pytest_options[@]}" --junitxml="$reports/$name.xml" "$@"
}

check_layers() {
    tools/check_layers.py
    echo "ok layers"
    tools/check_links.py
    echo "ok links"
    tools/check_claims.py
    echo "ok claims"
    pytest tools tools
}

check_docs() { tools/check_docs.sh build; echo "ok docs"; }

# run_gtests NAME BIN FILTER [COMMAND...]: the C++ tests of a build, started by the command if there is one.
# A program's tests are dealt out to as many processes as there are CPUs: a process for each test, as CTest has it, would take 15 s
# more. What hangs is the last that a process says it runs.
run_gtests() {
    local program shard pids=() pid
    for program in "$2"/zonal_*_tests; do
        if [[ $program == *_mpi_tests ]]; then continue; fi
        for ((shard = 0; shard < jobs; ++shard)); do
            GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$shard timeout $((3 * hangs_after)) "${@:4}" "$program" --gtest_filter="$3" \
                --gtest_output="xml:$reports/$1-$(basename "$program")-$shard.xml" &
            pids+=($!)
        done
    done
    for pid in "${pids[@]}"; do wait "$pid"; done
}

# The programs' tests, and those that CTest alone knows.
run_cpp_tests() {
    run_gtests release build/bin '*'
    ctest --test-dir build -LE gtest -j "$jobs" --timeout $hangs_after --output-on-failure --no-tests=error --output-junit "$PWD/$reports/ctest.xml"
}

# The tool draws by the wheel. Tests that share large files are a group, so that one process makes these, once.
run_pytest() {
    ZONAL=$PWD/build/bin/zonal ZONAL_BENCH=$PWD/build/bin/zonal-bench ZONAL_PYTHON=$PWD/build/package-venv/bin/python \
        pytest pytest -n "$jobs" --dist loadgroup tests/cli
}

has_mpich() { command -v mpicc.mpich >/dev/null && command -v mpirun.mpich >/dev/null; }

# Jobs of up to 7 ranks, one after the other. With MPICH, too, where it is installed (as mpirun.mpich, beside Open MPI).
run_mpi() {
    ZONAL_BIN=$PWD/build/bin pytest mpi tests/mpi
    if ! has_mpich; then return; fi
    cmake --preset release -B build/mpich -DMPI_C_COMPILER=mpicc.mpich -DZONAL_WITH_MPI=ON -DZONAL_WITH_IO=OFF \
        -DZONAL_WITH_BENCH=OFF -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)"
    cmake --build build/mpich -j "$jobs" --target zonal_mpi_tests zonal_mpi_rank
    MPIRUN=mpirun.mpich ZONAL_BIN=$PWD/build/mpich/bin pytest mpich tests/mpi
}

# The wheel for other machines, in a venv that has its dependencies and nothing else, and then the packages of the tests
# too. It is compiled with the options of the release build, fmt compiled in, and by the compiler of the same name, so that
# ccache has most of its objects.
build_package() {
    local own=build/package-venv site
    CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$jobs CMAKE_GENERATOR=Ninja CMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true) \
        PYTHON=$venv/bin/python tools/build_wheel.sh build/wheels \
        -C cmake.define.ZONAL_WARNINGS_AS_ERRORS=ON
    python3 -m venv --clear $own
    $own/bin/pip install --disable-pip-version-check -c tests/requirements.txt build/wheels/zonal-*.whl
    (cd / && "$OLDPWD/$own/bin/python" -c "import zonal; print('zonal', zonal.__version__)")
    site=$($own/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
    (cd "$PWD/$venv"/lib/python3*/site-packages && pwd) >"$site/tests.pth"
}

run_package() {
    build/package-venv/bin/python -B -m pytest "${pytest_options[@]}" -n "$jobs" --dist loadgroup --junitxml="$reports/package.xml" \
        tests/python tests/oracle
}

# Pages, tutorials, gallery and Python reference, with the package as its venv has it.
build_site() {
    tools/build_site.sh build/site build/package-venv/bin/python
    echo "ok site"
}

# The tests of packages that use healpy, with the wheel's zonal.healpy in healpy's place.
run_suites() {
    $venv/bin/pip install --disable-pip-version-check --no-deps --upgrade --target build/suites/zonal build/wheels/zonal-*.whl
    tools/healpy_suites.py build/suites build/suites/zonal >build/suites/record.json
}

run_install() {
    local options=()
    if command -v ccache; then options=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    tests/install/run.sh build/install-test build "${options[@]}"
}

# All tests but those of planning, which calls what the others test, and those of these names, which take seven seconds or more
# there and run the same code as smaller tests that stay: transforms and sums of thousands of degrees (TSan runs
# ShtThreadsOfBands), FFTs of long rings, a statistical error, every built-in problem by every solver, and sums in long double
# that others are compared with.
asan_subset='-ShtRoundTrip.LargeOnGaussLegendreRings:*.TransformMatchesReferenceAtHighDegrees*'
asan_subset+=':*.IsTheTransposeAtHighDegrees*:ShtThreadsOfBands.*:ComplexFft.MatchesThePlainSumForLargeLengths'
asan_subset+=':PolarizationTruncation.CostsWhatWhiteNoiseIsWrongBy:GwrmSolvers.AgreeOnEveryBuiltInProblem'
asan_subset+=':ResampledTransforms.AgreeWithThoseOnAllRings:GwrmReference.BurgersReachesTwelveDigits'
asan_subset+=':ShtRoundTrip.IsExactOnGaussLegendreRings:ExactAnalysis.ReturnsTheCoefficientsUpToTheLastDegreeThatTheRingsDetermine'
asan_subset+=':HealpixPixelWindow.OfManyPixelsTendsToAFunctionOfTheShareOfNside:ChebyshevProductByFft.MatchesReference'
# Needs kernels for several instruction sets.
asan_subset+=':SimdTargets.AreForcedOneByOne'

# build_asan [cmake option...]: the libraries, the tool and the tests with MPI.
build_asan() { build asan build-asan -DZONAL_WITH_EXAMPLES=OFF -DZONAL_TEST_FILES=none "$@"; }

# The release build's programs with these libraries, in which all of the product's code is. The tests themselves need no sanitizer,
# and would take as long to compile again.
run_asan() {
    local runtime planning
    runtime=$(clang++ -print-file-name="libclang_rt.asan-$(uname -m).so")
    planning=$(sources 'tests/unit/planning/*.cpp' | xargs sed -nE 's/^TEST(_F|_P)?\((\w+),.*/:\2.*:*\/\2.*/p' | sort -u | tr -d '\n')
    run_gtests asan build/bin "$asan_subset$planning" \
        env LD_PRELOAD="$runtime" LD_LIBRARY_PATH="$PWD/build-asan/lib"
}

# Three ranks with ASan, which does not look for leaks here: Open MPI has its own, in modules that are closed by then and so
# have no names to suppress.
run_mpi_asan() {
    ASAN_OPTIONS=detect_leaks=0 ZONAL_BIN=$PWD/build-asan/bin pytest mpi-asan "tests/mpi/test_mpi.py::test_transport[3]"
}

# Mutated files through the readers, random option strings through the tool, both with sanitizers.
run_fuzz() {
    build-asan/bin/fuzz_fits_replay --mutations 5000 fuzz/corpus
    echo "ok fuzz_fits_replay"
    ZONAL=$PWD/build-asan/bin/zonal ZONAL_BENCH=$PWD/build-asan/bin/zonal-bench ZONAL_FUZZ_RUNS=10 pytest fuzz-cli tests/cli/test_fuzz.py
}

# The library and the files of tests in which threads are named.
build_tsan() {
    local files
    files=$(cd tests && grep -lE 'Thread|Parallel' {unit/*,property}/*.cpp | paste -sd';')
    build tsan build-tsan -DZONAL_WITH_BENCH=OFF -DZONAL_WITH_EXAMPLES=OFF -DZONAL_WITH_IO=OFF -DZONAL_WITH_CLI=OFF \
        -DZONAL_TEST_FILES="$files"
}

# In a tree of its own, only configured: clang cannot read the precompiled header that GCC makes for the tool. Several
# sources at once, as half of the time goes into headers, and for one instruction set, as the source is the same for all;
# not the two that only instantiate Eigen's templates, which alone would take a fifth of the time.
check_tidy() {
    cmake -G Ninja -S . -B build/tidy -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
        -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=24 -DZONAL_WITH_TESTS=OFF -DZONAL_WITH_MPI=ON
    sed -n 's/^  "file": "\(.*\)",*$/\1/p' build/tidy/compile_commands.json | grep -v '/core/dense_' |
        xargs -P "$jobs" -n 1 clang-tidy -p build/tidy --quiet --extra-arg=-DZONAL_ONLY_TARGET=HWY_EMU128 2>&1 | sed '/ warnings* generated\.$/d'
    echo "ok clang-tidy"
}

has_cuda_code() { command -v nvcc >/dev/null && [ -n "$(sources '*.cu')" ]; }

stage packages install_packages "$BUILD_PACKAGES" "$TEST_PACKAGES"
stage venv make_venv
if want style; then
    stage format check_format
    stage layers check_layers
fi
if want docs || want release || want python || want mpi || want install || want asan; then
    stage "build release" build release build -DZONAL_WITH_MPI=ON -DZONAL_TARGETS=all -DZONAL_FMT_HEADER_ONLY=ON
fi
if want docs; then stage docs check_docs; fi
if want release; then stage "C++ tests" run_cpp_tests; fi
if want python || want package || named suites; then stage "build package" build_package; fi
if want python; then stage "Python tests" run_pytest; fi
if want mpi; then
    stage "MPI jobs" run_mpi
    has_mpich || leave_out "MPI jobs with MPICH" "it is not installed"
fi
if want package; then
    stage "Python package" run_package
    stage "documentation site" build_site
fi
if named suites; then stage "packages that use healpy" run_suites; fi
if want install; then stage install run_install; fi
if want asan; then
    stage "build asan" build_asan -DZONAL_WITH_MPI=ON
    stage "C++ tests with ASan and UBSan" run_asan
    stage "MPI jobs with ASan and UBSan" run_mpi_asan
fi
if want fuzz; then
    want asan || stage "build asan" build_asan
    stage "fuzzing with ASan and UBSan" run_fuzz
fi
if want tsan; then
    stage "build tsan" build_tsan
    # One test starts threads in a child process, which TSan permits when it is told to.
    TSAN_OPTIONS=die_after_fork=0 stage "threaded C++ tests with TSan" run_gtests tsan build-tsan/bin '*Thread*:*Parallel*'
fi
if want tidy; then stage clang-tidy check_tidy; fi
# The library alone, to PTX for the oldest architecture, unoptimised: nothing runs here, and tools/gpu_check.sh compiles
# for its own GPU. In build/, so that ccache has the C++ code from the release build.
build_cuda() {
    build cuda build/cuda -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=24 -DZONAL_WITH_IO=OFF -DZONAL_WITH_CLI=OFF \
        -DZONAL_WITH_TESTS=OFF -DZONAL_WITH_BENCH=OFF -DZONAL_FMT_HEADER_ONLY=ON -DCMAKE_CUDA_ARCHITECTURES=75-virtual \
        "-DCMAKE_CUDA_FLAGS_RELEASE=-DNDEBUG -Xcicc=-O0"
}
# The tests of CUDA to PTX only, which checks all of their code without the host compiler's part.
compile_cuda_tests() {
    sources 'tests/backend/*.cu' | xargs -P "$jobs" -I{} nvcc -std=c++20 --expt-relaxed-constexpr -diag-suppress=554 \
        -arch=compute_75 -Xcicc=-O0 -Iinclude -Isrc -Itests -ptx {} -o /dev/null
    echo "ok $(sources 'tests/backend/*.cu' | wc -l) files of CUDA tests"
}
if want cuda && has_cuda_code; then
    stage "build cuda" build_cuda
    stage "compile CUDA tests" compile_cuda_tests
elif want cuda; then
    leave_out cuda "there is no nvcc"
fi
end_stages
