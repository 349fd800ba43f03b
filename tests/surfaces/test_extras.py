"""What pyproject declares, what the code imports and what the commands say they need are the same."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from aidos.demo import showing as demo
from aidos.errors import DISTRIBUTION, MissingExtraError
from aidos.jobs.asking import parameters_of
from aidos.jobs.extras import EXTRAS, NEEDS, NEEDS_BY_OPTION, checked, missing, needs
from aidos.surfaces import cli

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]
COMES_ALONG = {"markupsafe": "jinja2", "pydantic_core": "pydantic"}
"""Packages that belong to another one, which is declared."""
BY_NAME = ("ir_datasets", "simple_icd_10_cm")
"""Brought in by the name of a file, wherever one may be given."""
ON_THE_WAY = ("fair export", "fair import", "fair store", "taxonomy show", "taxonomy import")
"""They pass by parts of modules that they do not use: the test of a core install runs them."""


THE_CALLERS_OWN = {"polars"}
"""Whoever asks for a Polars table has Polars, or is told what to install: no command and no extra needs it."""


@cache
def paths():
    """Every module of aidos and its file."""
    found = {}
    for path in sorted((SOURCE / "aidos").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree):
    """What a piece of code imports when it runs: modules of aidos and names of packages."""
    if isinstance(tree, ast.If) and getattr(tree.test, "id", "") == "TYPE_CHECKING":
        tree = ast.Module(body=tree.orelse, type_ignores=[])
    if isinstance(tree, ast.Import):
        yield from (each.name for each in tree.names)
    elif isinstance(tree, ast.ImportFrom):
        assert tree.level == 0, "imports are absolute"
        for each in tree.names:
            inner = f"{tree.module}.{each.name}"
            yield inner if inner in paths() else tree.module
    elif isinstance(tree, ast.Call) and getattr(tree.func, "id", "") in {"import_module", "find_spec"}:
        yield from (each.value for each in tree.args[:1] if isinstance(each, ast.Constant))
    for child in ast.iter_child_nodes(tree):
        yield from imported(child)


@cache
def imports_of(module):
    return frozenset(imported(ast.parse(paths()[module].read_text())))


def foreign(names):
    """The packages among them that Python does not bring."""
    roots = {name.partition(".")[0] for name in names}
    return {COMES_ALONG.get(root, root) for root in roots - {"aidos"} - THE_CALLERS_OWN - sys.stdlib_module_names}


def reached(names):
    """Every package that can be imported on the way from these modules, now or later."""
    waiting, seen, packages = list(names), set(), set()
    while waiting:
        name = waiting.pop()
        packages |= foreign([name])
        while name not in paths() and "." in name:
            name = name.rpartition(".")[0]
        if name in paths() and name not in seen and name != "aidos":
            seen.add(name)
            waiting += imports_of(name)
    return packages


def used_by(function):
    """The modules that a function names, and those that functions of its own module name for it."""
    tree = ast.parse(paths()[function.__module__].read_text())
    known = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    waiting, seen, names = [function.__name__], set(), set()
    while waiting:
        name = waiting.pop()
        if name in known and name not in seen:
            seen.add(name)
            names |= set(imported(known[name]))
            waiting += [each.id for each in ast.walk(known[name]) if isinstance(each, ast.Name)]
    top = (each for each in tree.body if not isinstance(each, ast.FunctionDef | ast.ClassDef))
    return names.union(*map(imported, top))


def lines(app, words=()):
    """Every command line that works, with its function."""
    for name in app:
        if not name.startswith("-"):
            line = (*words, name)
            parts = [part for part in app[name] if not part.startswith("-")]
            yield from lines(app[name], line) if parts else [(" ".join(line), app[name].default_command)]


@cache
def commands():
    return dict(lines(cli.grow()))


@cache
def modules_by_distribution():
    modules = {}
    for module, names in packages_distributions().items():
        for name in names:
            modules.setdefault(plain(name), set()).add(module)
    return modules


def declared(requirements):
    """Names as they are imported, for requirements as pyproject has them."""
    modules = modules_by_distribution()
    wanted = [plain(re.split(r"[\[<>=;~ ]", each)[0]) for each in requirements]
    assert set(wanted) <= modules.keys(), "this test needs every package that a user may need"
    return {frozenset(modules[name]) for name in wanted}


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def has(groups, package):
    return any(package in group for group in groups)


def packages_of(names):
    return {package for extra in names for package in EXTRAS[extra].packages}


def possible(command):
    """The extras that a command may need, whatever its options are."""
    return needs(command) | {extra for (line, _, _), extra in NEEDS_BY_OPTION.items() if line == command}


@cache
def core():
    return declared(PROJECT["dependencies"])


def test_the_table_of_extras_is_that_of_pyproject():
    assert EXTRAS.keys() == OPTIONAL.keys() - {"all", "peers"}
    for extra, (_, packages) in EXTRAS.items():
        groups = declared(OPTIONAL[extra])
        assert len(groups) == len(packages), extra
        assert all(has(groups, package) for package in packages), extra


def test_the_extra_all_is_every_other_but_peers():
    assert OPTIONAL["all"] == [f"{DISTRIBUTION}[{','.join(sorted(EXTRAS))}]"]
    assert PROJECT["name"] == DISTRIBUTION


def test_the_first_page_of_the_documentation_says_of_every_extra_what_doctor_says():
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    listed = re.findall(r"(?m)^\| `([a-z-]+)` \| (.+) \|$", page)
    assert [(extra, purpose.replace("`", "")) for extra, purpose in listed] == [
        (extra, EXTRAS[extra].purpose) for extra in sorted(EXTRAS)
    ]


def extras_named(text):
    """What a page tells to install, or calls an extra; and what code asks for."""
    groups = re.findall(rf'(?:{DISTRIBUTION}|"\.)\[([a-z,-]+)\]', text)
    groups += re.findall(r"\bextras? `([a-z-]+)`", text) + re.findall(
        r'MissingExtraError\([^)]*extra="([a-z][a-z,-]*)"', text
    )
    return {extra for group in groups for extra in group.split(",")}


def test_only_extras_that_there_are_get_named():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {path: extras_named(path.read_text(encoding="utf-8")) for path in [*pages, *paths().values()]}
    assert set().union(*named.values()) >= EXTRAS.keys()
    offenders = {str(path.relative_to(ROOT)): sorted(names - OPTIONAL.keys()) for path, names in named.items()}
    assert {path: unknown for path, unknown in offenders.items() if unknown} == {}


def test_every_import_is_declared():
    brought = packages_of(EXTRAS)
    offenders = {
        f"{module}: {package}"
        for module in paths()
        for package in foreign(imports_of(module)) - brought
        if not has(core(), package)
    }
    assert not offenders


def asked_by(function):
    """The modules that a command names: a job's are those of its class, and of the classes that it inherits."""
    if not hasattr(function, "job"):
        return used_by(function.__wrapped__)
    own = [kind for kind in function.job.__mro__ if kind.__module__.partition(".")[0] == "aidos"]
    return set().union(*map(used_by, own))


def test_a_command_needs_what_it_can_import():
    offenders = {}
    for command, function in commands().items():
        packages = {each for each in reached(asked_by(function)) if not has(core(), each)}
        packages -= packages_of(possible(command)) | {"vl_convert", *BY_NAME}
        if command.startswith("expose"):
            packages -= {"lightgbm"}  # a model of trees says what it needs when it is opened
        if command in ON_THE_WAY or command == "demo":
            packages = set()
        if packages:
            offenders[command] = packages
    assert not offenders


def test_a_chapter_of_the_demo_needs_what_it_can_import():
    for chapter, lines in demo.CHAPTERS.items():
        packages = {each for each in reached([f"aidos.demo.{chapter}"]) if not has(core(), each)}
        named = packages_of(extra for line in lines for extra in needs(line))
        assert not packages - named - {"vl_convert", "lightgbm", *BY_NAME}, chapter


def test_every_need_names_commands_and_extras_that_there_are():
    known = {" ".join(line.split()[:length]) for line in commands() for length in range(1, 4)}
    assert NEEDS.keys() <= known
    assert {extra for each in NEEDS.values() for extra in each} <= EXTRAS.keys()
    for (line, name, _), extra in NEEDS_BY_OPTION.items():
        function = commands()[line].__wrapped__
        asked = parameters_of(function.job) if hasattr(function, "job") else ()
        assert name in {*function.__code__.co_varnames, *(each.name for each in asked)}
        assert extra in EXTRAS


@pytest.mark.parametrize(
    ("command", "given", "extra"),
    [
        ("publish", {}, set()),
        ("risk rank", {}, {"risk"}),
        ("audit check", {}, {"audit"}),
        ("audit bookmarklet", {}, set()),
        ("evaluate statistics", {}, {"search", "studies"}),
        ("evaluate mediator", {}, {"search", "studies"}),
        ("evaluate risk", {}, {"risk", "studies"}),
        ("shield profile build", {"taxonomy": Path("icd-10-cm")}, {"search", "taxonomies"}),
        ("shield rules export", {}, set()),
        ("expose train", {"learner": "linear"}, {"exposure"}),
        ("expose train", {"learner": "lambdarank"}, {"exposure", "lambdarank"}),
        ("taxonomy import", {"source": "icd-10-cm", "index": True}, {"search", "taxonomies"}),
        ("taxonomy import", {"source": "icd.csv", "index": False}, set()),
        ("taxonomy find", {"words": ["icd-10-cm"]}, {"search"}),
        ("mediate assign", {"files": (Path("ir_datasets:aol-ia"),)}, {"search", "ir-datasets"}),
    ],
)
def test_needs_follow_the_options(command, given, extra):
    assert needs(command, given) == extra


def test_all_missing_extras_are_named_in_one_hint_before_the_work(monkeypatch):
    done = []
    work = checked("evaluate utility", lambda *, output: done.append(output))
    work(output=1)
    for package in ("Stemmer", "ir_measures"):
        monkeypatch.setitem(sys.modules, package, None)
    assert missing(["risk", "fairness", "report", "search", "risk"]) == ["fairness", "risk", "search"]
    with pytest.raises(MissingExtraError) as caught:
        work(output=2)
    assert done == [1]
    assert caught.value.message == "evaluate utility needs packages that are not installed"
    assert caught.value.hint == f'pip install "{DISTRIBUTION}[search,studies]"'


HIDE = f"import sys; sys.modules.update(dict.fromkeys({sorted(packages_of(EXTRAS))!r}));"


def on_a_core_install(code, directory):
    """What a Python says in which none of the optional packages can be imported."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", f"{HIDE} from aidos.surfaces.cli import main, run; {code}"]
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.slow
def test_the_demo_of_a_core_install_shows_what_it_can_and_says_at_once_what_is_missing(tmp_path):
    done = on_a_core_install("main(['demo', '--size', 'tiny', '-o', 'demo'])", tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stderr.splitlines()
    assert "without utility, mediator, shield, audit, exposure, risk, fairness" in first
    assert f'pip install "{DISTRIBUTION}[audit,exposure,fairness,report,risk,search,studies]"' in second
    page = (tmp_path / "demo" / "index.html").read_text()
    assert '<svg class="chart' not in page
    assert "Queries by the number of people who asked them" in page
    assert "What is left out" in page


def test_what_needs_no_extra_works_on_a_core_install(tmp_path):
    (tmp_path / "topics.txt").write_text("sport > football\nsport > chess\n")
    for line in (
        "sample rankings --size tiny -o rankings.parquet",
        "fair rerank rankings.parquet --system changing -o served.jsonl --store attention.store",
    ):
        assert cli.run([str(tmp_path / each) if "." in each else each for each in line.split()]) == 0
    lines = (
        "fair store attention.store",
        "fair export attention.store -o attention.parquet",
        "fair import attention.parquet --store another.store",
        "taxonomy show",
        "taxonomy import topics.txt --format paths -o topics.tsv",
        "doctor",
    )
    done = on_a_core_install(f"print([run(line.split()) for line in {lines!r}])", tmp_path)
    assert done.stdout.splitlines()[-1] == str([0] * len(lines)), done.stderr


def test_every_command_of_a_core_install_has_help(tmp_path):
    lines = [command for command in commands() if needs(command)]
    done = on_a_core_install(f"print([run([*line.split(), '--help']) for line in {lines!r}])", tmp_path)
    assert done.stdout.splitlines()[-1] == str([0] * len(lines)), done.stderr
