"""Every command and every option that takes a path, given a pipe that nobody writes to: refused, never waited for."""

import json
import os
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from aidos.errors import InputError
from aidos.jobs.asking import ask_job, parameters_of
from aidos.surfaces.cli import grow, run
from aidos.surfaces.registry import find_job, places

PIPE = "pipe"
FILES = ("FILES", "SOURCE", "SOURCES", "RUNS", "RANKINGS", "PAIRS")
"""Texts that name files, or patterns of them; what reads these has refused pipes before any other was asked."""

CHILD = """
import json, sys
from aidos.surfaces.cli import run
for arguments in json.load(sys.stdin):
    print("asked", *arguments, file=sys.stderr, flush=True)
    print("code", run(arguments), *arguments, flush=True)
"""


WHOLE = grow()


def commands(known=WHOLE, words=()):
    for name in known:
        if not name.startswith("-"):
            below = known[name]
            if any(not part.startswith("-") for part in below):
                yield from commands(below, (*words, name))
            else:
                yield (*words, name), below


def takes_path(argument):
    return "Path" in str(argument.hint)


def value_of(argument):
    """Something harmless for what a command cannot do without."""
    if takes_path(argument) or argument.names[0] in FILES:
        return "there.tsv"
    choices = getattr(argument.hint, "__args__", ())
    return (
        str(choices[0]) if choices and isinstance(choices[0], str) else "0.5" if "float" in str(argument.hint) else "1"
    )


def command_lines():
    """A line for every path of every command: the pipe in its place, something harmless in the others."""
    for words, command in commands():
        arguments = [argument for argument in command.assemble_argument_collection() if not is_dataclass(argument.hint)]
        for asked in filter(takes_path, arguments):
            line = list(words)
            for argument in arguments:
                if argument is not asked and not argument.required:
                    continue
                value = PIPE if argument is asked else value_of(argument)
                positional = not argument.names[0].startswith("-")
                line += [value] if positional else [argument.names[0], value]
            yield line


def test_every_path_of_every_command_refuses_a_pipe(tmp_path):
    os.mkfifo(tmp_path / PIPE)
    (tmp_path / "there.tsv").write_text("id\tparent\tname\nr\t\tR\n")
    lines = list(command_lines())
    assert len(lines) > 120
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    try:
        out, err = child.communicate(json.dumps(lines), timeout=240)
    except subprocess.TimeoutExpired:
        child.kill()
        _, err = child.communicate()
        pytest.fail(f"it waits: {err.rpartition('asked ')[2]}")
    codes = [line for line in out.splitlines() if line.startswith("code ")]
    assert len(codes) == len(lines)
    assert [line for line in codes if not line.startswith("code 2 ")] == []
    silent = [told.splitlines()[0] for told in f"{err}{out}".split("asked ")[1:] if "a pipe" not in told]
    assert silent == []


def asked_paths():
    """Every path that a job takes, with the pipe in its place, as Python and recipes give it."""
    for words in places():
        parameters = list(parameters_of(find_job(words)))
        for asked in parameters:
            if "Path" in str(asked.kind):
                given = {each.name: ["x"] if "tuple" in str(each.kind) else "x" for each in parameters if each.required}
                yield words, {**given, asked.name: [PIPE] if "tuple" in str(asked.kind) else PIPE}


def test_every_path_of_every_job_refuses_a_pipe_whoever_asks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(PIPE)
    questions = list(asked_paths())
    assert len(questions) > 120
    for words, given in questions:
        with pytest.raises(InputError, match="pipe is a pipe"):
            ask_job(find_job(words), given, called=words)


def test_what_a_recipe_writes_takes_the_place_of_no_pipe(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(PIPE)
    Path("recipe.toml").write_text('job = "risk topics"\nexport = "pipe"\n')
    assert run(["run", "recipe.toml"]) == 2
    assert "pipe is a pipe" in capsys.readouterr().err
    assert Path(PIPE).is_fifo()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
@pytest.mark.parametrize(
    "line", ["taxonomy show --taxonomy {}", "verify {}", "ledger show {}", "sample log -o {}", "check {}"]
)
def test_devices_are_neither_read_nor_replaced(device, line, capsys):
    before = Path(device).stat()
    assert run(line.format(device).split()) == 2
    assert "device" in "".join(capsys.readouterr())
    assert os.path.samestat(before, Path(device).stat())


def test_a_pipe_within_a_release_is_refused(tmp_path, capsys):
    release = tmp_path / "release"
    release.mkdir()
    os.mkfifo(release / "queries.csv")
    (release / "MANIFEST.json").write_text(json.dumps({"files": {"queries.csv": {"sha256": "0"}}}))
    assert run(["verify", str(release)]) == 2
    assert "is a pipe" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "verify {directory}",
        "ledger show {file}",
        "shield profile show {file}",
        "shield rerank {file} --query x",
        "audit evidence {directory}",
        "publish x.tsv --recipe {file} -o {directory}/out --ledger l",
        "shield rerank x.json --query x --rules {file}",
        "check {file}",
        "taxonomy show --taxonomy {file}",
    ],
)
@pytest.mark.parametrize("content", ["[" * 100_000, "x = " + "[" * 100_000, '{"a":' * 5000, "9" * 10_000])
def test_deep_texts_are_refused(tmp_path, line, content, capsys):
    for name in ("MANIFEST.json", "finding.json", "file"):
        (tmp_path / name).write_text(content)
    Path(tmp_path / "x.json").write_text("[]")
    assert run(line.format(directory=tmp_path, file=tmp_path / "file").split()) == 2
    assert "bug" not in capsys.readouterr().err
