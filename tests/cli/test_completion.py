"""The scripts that complete the command line in shells."""

import re
import shutil
import subprocess

import pytest

from conftest import call
from test_common import SUBCOMMANDS

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completions")
    paths = {shell: folder / f"zonal.{shell}" for shell in SHELLS}
    for shell, path in paths.items():
        path.write_text(call("--completion", shell).out)
    return paths


@pytest.fixture(scope="module")
def offered(scripts):
    """What bash offers for the last of these words."""

    def ask(*words):
        words = ["zonal", *words]
        code = f'source "{scripts["bash"]}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _zonal; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", code, "bash", *words], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout.split()

    return ask


def test_subcommands_are_completed(offered):
    assert offered("") == SUBCOMMANDS
    assert offered("sm") == ["smooth"]
    assert offered("--") == ["--help", "--version", "--completion"]


@pytest.mark.parametrize("words, expected", [
    (["smooth", "--fw"], ["--fwhm", "--fwhm-in"]), (["smooth", "in.fits", "out.fits", "--mask-m"], ["--mask-mode"]),
    (["smooth", "--mask-mode", ""], ["zero", "renormalize", "error"]), (["smooth", "--mask-mode", "re"], ["renormalize"]),
    (["smooth", "--mask-mode", "=", "re"], ["renormalize"]), (["smooth", "--mask-mode", "="], ["zero", "renormalize", "error"]),
    (["map2alm", "--weights", ""], ["none", "ring", "pixel"]), (["rotate", "--to", ""], ["G", "E", "C"]),
    (["--completion", ""], list(SHELLS)),
    (["smooth", "--fwhm", ""], []), (["smooth", "--beam", ""], []), (["smooth", ""], []), (["nonsense", "--fw"], [])])
def test_options_and_their_choices_are_completed(offered, words, expected):
    assert offered(*words) == expected


def test_names_of_files_are_left_to_bash(scripts):
    done = subprocess.run(["bash", "-c", f'source "{scripts["bash"]}"; complete -p zonal'], capture_output=True, text=True, check=True)
    assert done.stdout == "complete -o bashdefault -o default -F _zonal zonal\n"


def options_of(subcommand):
    """What --help shows: the options, each with the label of its value."""
    return re.findall(r"^  (?:-[a-z], )?(--[a-z0-9-]+)(?: (\S+))?(?:  |$)", call(*subcommand, "--help").out, re.MULTILINE)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_option_is_completed_in_every_shell(scripts, offered, name):
    options = [option for option, _ in options_of([name])]
    assert sorted(offered(name, "--")) == sorted(options)
    zsh = re.search(rf"^ +{name}\)\n(.*?);;", scripts["zsh"].read_text(), re.DOTALL | re.MULTILINE)[1]
    assert sorted(re.findall(r"^ +'\*?(--[a-z0-9-]+)=?\[", zsh, re.MULTILINE)) == sorted(options)
    fish = re.findall(rf"^complete -c zonal -n '__zonal_command {name}'(?: -s [a-z])? -l (\S+)", scripts["fish"].read_text(), re.MULTILINE)
    assert sorted(f"--{option}" for option in fish) == sorted(options)


def test_what_is_offered_for_a_value_is_permitted(offered, fails):
    """The tool itself lists the choices that it permits where it refuses another."""
    seen = 0
    for name in SUBCOMMANDS:
        for option, label in options_of([name]):
            words = offered(name, option, "")
            parts = label.split("|") if "|" in label else []
            assert words == [part for part in parts if part.islower() or label in ("G|E|C", "I|QU|IQU")], (name, option)
            permitted = re.search(rf"{option} = nonsense: must be one of (.*)", call(name, "IN", "OUT", option, "nonsense").err)
            if permitted:
                assert words == permitted[1].split(", ")
                seen += 1
    assert seen > 20


def test_other_shells_are_refused(fails):
    assert "--completion = tcsh: must be one of bash, zsh, fish" in fails(2, "--completion", "tcsh")
    assert call("--completion=fish").out == call("--completion", "fish").out


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_of_its_shell(scripts, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", scripts[shell]], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes(scripts, tmp_path):
    (tmp_path / "sky.fits").touch()

    def ask(line):
        done = subprocess.run(["fish", "-c", f"source {scripts['fish']}; complete -C '{line}'"], capture_output=True, text=True, cwd=tmp_path)
        return [one.split("\t")[0] for one in done.stdout.splitlines()]

    assert sorted(ask("zonal ")) == sorted(SUBCOMMANDS)
    assert ask("zonal smooth --fw") == ["--fwhm", "--fwhm-in"]
    assert sorted(ask("zonal smooth --mask-mode ")) == ["error", "renormalize", "zero"]
    assert ask("zonal smooth --beam s") == ask("zonal smooth s") == ["sky.fits"] and ask("zonal smooth --fwhm s") == []
