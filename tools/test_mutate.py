"""Tests of mutate.py: in a small tree it finds the fault that no test notices, and leaves the tree as it was."""

import json
import random
import subprocess
import sys

import pytest

import mutants
import mutate

TOY = """#include <algorithm>

// The larger of two; a comment says 7 < 8.
int larger(const int* x, int n) {
    int most = x[0];
    for (int i = 1; i < n; ++i) most = std::max(most, x[i]);
    return most;
}

int main(int argc, char**) {
    const int x[] = {1, 4, 2};
    %s
}
"""
SEES_ALL = "if (larger(x, 3) != 4) return 1;"
SEES_LITTLE = "if (larger(x, 1) != 1) return 1;"


def toy(folder, tests):
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "src").mkdir()
    (folder / "src/toy.cpp").write_text(TOY % tests)
    return folder


def run(folder, work, *arguments):
    command = [sys.executable, mutate.__file__, "--root", folder, "--work", work, "--build", "c++ -o toy src/toy.cpp", "--test", "./toy"]
    return subprocess.run([*command, *arguments], cwd=folder.parent, capture_output=True, text=True)


def fault(before, after):
    return {"path": "src/toy.cpp", "line": 1, "kind": "by hand", "before": before, "after": after}


FAULTS = [fault("    return most;", "    return x[0];"), fault("    int most = x[0];", "    int most = y[0];")]

MAY_MOUNT = subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True).returncode == 0


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.skipif(not MAY_MOUNT, reason="the system refuses mounts"))])
@pytest.mark.parametrize("tests, unnoticed", [(SEES_ALL, 0), (SEES_LITTLE, 1)])
def test_says_which_fault_no_test_notices(tmp_path, tests, unnoticed, workers):
    tree, again = toy(tmp_path / "tree", tests), tmp_path / "again.json"
    again.write_text(json.dumps({"faults": FAULTS}))
    done = run(tree, tmp_path / "work", "--again", again, "--workers", workers)
    assert done.stderr == "" and done.returncode == unnoticed
    assert done.stdout.splitlines()[-1].startswith(f"{1 - unnoticed} noticed, {unnoticed} unnoticed, 1 not compiled")
    record = json.loads((tmp_path / "mutants.json").read_text())
    assert [one["diff"] for one in record["faults"]] == ["-    return most;\n+    return x[0];"][:unnoticed]
    assert (tree / "src/toy.cpp").read_text() == TOY % tests == (tmp_path / "work/src/toy.cpp").read_text()


def test_draws_the_same_faults_of_a_seed(tmp_path):
    tree = toy(tmp_path / "tree", SEES_ALL)
    first, again = (run(tree, tmp_path / "work", "--seed", "3", "--count", "6", "src") for _ in range(2))
    assert first.stdout == again.stdout and first.stdout.count("src/toy.cpp:") == 6


def test_a_tree_whose_tests_fail_is_refused(tmp_path):
    tree = toy(tmp_path / "tree", "return 1;")
    done = run(tree, tmp_path / "work", "src")
    assert done.returncode == 1 and "fail without a fault" in done.stderr


@pytest.mark.parametrize("path, before, after", [
    ("a.cpp", "    double x = 0.25;", "    double x = (0.25 * 0.7);"),
    ("a.cpp", "    if (a < b) return;", "    if (a <= b) return;"),
    ("a.cpp", "    if (f(a) && b) g();", "    if (!(f(a) && b)) g();"),
    ("a.cpp", "    return f(one, two, three);", "    return f(one, three, two);"),
    ("a.cpp", '    f(x, g("a"));', '    f(g("a"), x);'),
    ("a.cpp", "    x = std::min(x, y[i]);", "    x = std::max(x, y[i]);"),
    ("a.cpp", "    x = std::min(x, y[i]);", "    x = std::min(x, y[0]);"),
    ("a.cpp", "    x = std::sqrt(a / b);", "    x = (a / b);"),
    ("a.cpp", "    x = std::sqrt(a / b);", "    x = std::sqrt(a);"),
    ("a.cpp", "    x = a * margin;", "    x = a;"),
    ("a.cpp", "    last = n - 1;", "    last = n;"),
    ("a.cpp", "    sum.add(one);", "    ;"),
    ("a.cpp", "void f(int a) {", "void f(int a) { return;"),
    ("a.py", "    if not a and b:", "    if not (not a and b):"),
    ("a.py", "    return a", "    return None"),
    ("a.py", "    total += a", "    pass"),
])
def test_knows_the_kinds_of_faults(path, before, after):
    drawn = [one.after for seed in range(8) for one in mutants.faults_of(path, before, random.Random(seed))]
    assert after in drawn


@pytest.mark.parametrize("path, text", [("a.cpp", "// 1 < 2"), ("a.cpp", 'x("a < 2");'), ("a.cpp", "#if A == 2"),
                                        ("a.cpp", "    if (auto x = f(); x) {"), ("a.py", "x('a < 2')  # 3")])
def test_leaves_comments_texts_and_declarations_alone(path, text):
    assert mutants.faults_of(path, text, random.Random(1)) == []


@pytest.mark.parametrize("path, text", [("a.cpp", "    auto x = hn::Add(a, b);"), ("a.cpp", "    return {};"), ("a.py", "    return None")])
def test_makes_no_fault_that_changes_nothing(path, text):
    assert mutants.faults_of(path, text, random.Random(1)) == []
