"""Every job gives the same answer, and refuses the same question, from Python, on the command line and by a recipe."""

import html
import json
import re
import shutil
import stat
from pathlib import Path
from typing import get_args, get_origin

import pytest
from questions import ASK_OTHERS, QUESTIONS, SLOW_QUESTIONS, prepare

import aidos
from aidos.errors import AidosError
from aidos.jobs.answer import Finding
from aidos.jobs.asking import bare, json_schema, parameters_of
from aidos.jobs.job import Named, Negative, Several
from aidos.surfaces.cli import run
from aidos.surfaces.registry import JOBS, find_job

ALL = {**QUESTIONS, **SLOW_QUESTIONS}
VOLATILE = {"seconds", "processor_seconds", "elapsed", "command", "id", "opened", "head"}
"""Facts that are never the same twice, or tell how the question was asked."""


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        prepare(place)
    return place


@pytest.fixture
def elsewhere(home, tmp_path, monkeypatch):
    """A function that leads to a fresh copy of the prepared files: what one surface writes, another does not see."""

    def lead(name):
        shutil.copytree(home, tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        shutil.rmtree(tmp_path / "registry", ignore_errors=True)
        monkeypatch.setenv("AIDOS_REGISTRY", str(tmp_path / "registry"))
        return tmp_path / name

    return lead


def option(asked):
    """The name of a parameter on the command line."""
    marks = getattr(asked.kind, "__metadata__", ())
    return next((mark.name for mark in marks if isinstance(mark, Named)), "--" + asked.name.replace("_", "-"))


def as_arguments(job, given):
    """Parameters as somebody would type them."""
    words = []
    for each in sorted(parameters_of(job), key=lambda one: not one.first):
        if each.name not in given:
            continue
        value, marks = given[each.name], getattr(each.kind, "__metadata__", ())
        if value is False:
            words.append(next(mark.name for mark in marks if isinstance(mark, Negative)))
        elif value is True:
            words.append(option(each))
        elif Several() in marks:
            words += [option(each), *value]
        else:
            for one in value if isinstance(value, list) else [value]:
                words += [str(one)] if each.first else [option(each), str(one)]
    return words


def as_recipe(words, given):
    lines = [f"{name} = {json.dumps(value)}" for name, value in {"job": words, **given}.items()]
    return "\n".join(lines) + "\n"


def steady(facts):
    """Facts without those that are never the same twice."""
    if isinstance(facts, dict):
        return {name: steady(value) for name, value in facts.items() if name not in VOLATILE}
    return [steady(each) for each in facts] if isinstance(facts, list) else facts


def files(place):
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.suffix != ".toml")


def loads_opens_and_saves(words, answer, place):
    """Every answer loads as a table, opens as a page, and saves; it prints in one line, and shows in a notebook."""
    assert "\n" not in repr(answer)
    assert answer._repr_html_()
    try:
        table = answer.to_arrow()
    except AidosError as error:  # its rows went to the output
        assert "written to" in error.message
        assert error.hint
    else:
        assert table.column_names == list(answer.to_pandas().columns) == answer.to_polars().columns
        assert table.num_rows == len(answer.to_pandas())
    title = answer.page().title
    answer.save(place / "saved.html")
    answer.save(place / "saved.json")
    assert title in html.unescape((place / "saved.html").read_text())
    saved = (place / "saved.json").read_text()
    assert json.loads(saved)
    if words != "shield rerank":  # that writes the list in the form it came in
        assert saved == answer.to_json() + "\n"
    private = isinstance(answer, Finding)
    assert stat.S_IMODE((place / "saved.json").stat().st_mode) == (0o600 if private else 0o644)


def test_every_job_has_a_question():
    assert ALL.keys() | ASK_OTHERS == JOBS.keys()


@pytest.mark.parametrize(
    "words", [*QUESTIONS, *(pytest.param(words, marks=pytest.mark.slow) for words in SLOW_QUESTIONS)]
)
def test_the_same_question_has_the_same_answer_on_every_surface(words, elsewhere, capsys):
    job, given = find_job(words), ALL[words]
    told, written = {}, {}

    place = elsewhere("terminal")
    code = run([*words.split(), *as_arguments(job, given), "--json", "--quiet"])
    shown = capsys.readouterr()
    assert code in {0, 1}, shown.err
    told["terminal"], written["terminal"] = steady(json.loads(shown.out)), files(place)

    place = elsewhere("recipe")
    Path("question.toml").write_text(as_recipe(words, given))
    assert run(["run", "question.toml", "--json", "--quiet"]) == code
    told["recipe"], written["recipe"] = steady(json.loads(capsys.readouterr().out)), files(place)

    place = elsewhere("python")
    answer = aidos.ask(words, **given)
    told["python"], written["python"] = steady(json.loads(answer.to_json())), files(place)
    assert answer.exit_code == code
    assert written["python"] == files(place)
    loads_opens_and_saves(words, answer, place)

    assert told["terminal"] == told["recipe"] == told["python"]
    assert written["terminal"] == written["recipe"] == written["python"]


@pytest.mark.parametrize("words", ALL)
def test_the_same_mistake_is_told_on_every_surface(words, elsewhere, capsys):
    job, given = find_job(words), {**ALL[words], "no_such_thing": 1}
    elsewhere("wrong")
    assert run([*words.split(), *as_arguments(job, given), "--no-such-thing", "1"]) == 2
    assert "--no-such-thing" in capsys.readouterr().err
    Path("question.toml").write_text(as_recipe(words, given))
    assert run(["run", "question.toml"]) == 2
    assert "no_such_thing" in capsys.readouterr().err
    with pytest.raises(AidosError, match="no_such_thing") as caught:
        aidos.ask(words, **given)
    assert caught.value.hint


WILD = (10**400, -1, 2**63)
UNREADABLE = 10**5_000
"""Python itself refuses to write it in digits, and to read it from them."""


def whole_numbers(job):
    """The parameters of a job that are whole numbers, or lists of them."""
    return [each for each in parameters_of(job) if int in (bare(each.kind), *get_args(bare(each.kind)))]


@pytest.mark.parametrize("words", [words for words in [*QUESTIONS, *SLOW_QUESTIONS] if whole_numbers(find_job(words))])
def test_a_number_that_nobody_means_is_refused_at_once_on_every_surface(words, elsewhere, capsys):
    job = find_job(words)
    elsewhere("wild")
    for each in whole_numbers(job):
        many = get_origin(bare(each.kind)) is tuple
        with pytest.raises(AidosError, match=each.name):
            aidos.ask(words, **{**ALL[words], each.name: [UNREADABLE] if many else UNREADABLE})
        for number in WILD:
            given = {**ALL[words], each.name: [number] if many else number}
            with pytest.raises(AidosError, match=each.name) as caught:
                aidos.ask(words, **given)
            assert caught.value.hint, each.name
            assert len(str(caught.value)) < 500, each.name
            code = run([*words.split(), *as_arguments(job, given), "--quiet"])
            assert code == 2, each.name
            told = capsys.readouterr().err
            assert option(each).lstrip("-").replace("-", "_") in told.replace("-", "_")
            assert "Traceback" not in told


@pytest.mark.parametrize("words", ALL)
def test_a_job_describes_itself(words, capsys, monkeypatch):
    job = find_job(words)
    schema = json_schema(job)
    assert schema["properties"].keys() >= ALL[words].keys()
    assert set(schema["required"]) <= ALL[words].keys()
    assert all(each["description"] for each in schema["properties"].values())
    assert run(["describe", *words.split()]) == 0
    shown = capsys.readouterr().out
    assert f'job = "{words}"' in shown
    assert all(name in shown for name in schema["properties"])
    monkeypatch.setenv("COLUMNS", "200")
    assert run([*words.split(), "--help"]) == 0
    options = re.findall(r"(?<![\w-])--[a-z][a-z-]*", capsys.readouterr().out.partition("╭")[2])
    assert {option(each) for each in parameters_of(job) if not each.first} <= set(options)
