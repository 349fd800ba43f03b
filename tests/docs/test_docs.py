"""The documentation keeps to the code: links, commands, options, numbers and examples. Nothing is built here."""

import importlib
import re
import shlex
import sys
from functools import cache
from types import ModuleType

import pytest
from transcripts import LAST_DIGITS, PAGES, ROOT, commands, play, same

from aidos.core.mechanism import PublicFacts
from aidos.errors import DISTRIBUTION
from aidos.rooms.publish.catalogue import BUILT_IN, find_mechanism
from aidos.surfaces.cli import grow
from aidos.surfaces.registry import COMMANDS

DOCS = ROOT / "docs"
GENERATED = DOCS / "reference" / "generated"
AT_THE_TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
WRITTEN = [ROOT / name for name in AT_THE_TOP] + sorted(
    path for path in DOCS.rglob("*.md") if "_build" not in path.parts and GENERATED not in path.parents
)
FENCED = re.compile(r"(?ms)^```.*?^```$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
DOC_ROLE = re.compile(r"\{doc\}`([^`]+)`")
TOCTREE = re.compile(r"(?ms)^```\{toctree\}\n(.*?)^```$")
CALIBRATED = re.compile(r"(?m)^\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \|$")
NUMBER = re.compile(r"(?m)^\| [^|]+ \| ([0-9.]+) \| `(\w+)\.(\w+)(?:\[(\d+)\])?` \|$")


def by_path(path):
    return str(path.relative_to(ROOT))


def prose(path):
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def is_there(target):
    """Whether a page exists, or will be generated from a module that exists."""
    if target.parent == GENERATED:
        module = ROOT / "src" / target.stem.replace(".", "/")
        return target.stem in {"commands", "jobs"} or module.is_dir() or module.with_suffix(".py").is_file()
    return target.exists()


def toctree_entries(path):
    trees = TOCTREE.findall(path.read_text(encoding="utf-8"))
    return [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]


def anchors(path):
    headings = re.findall(r"(?m)^#+ (.+)$", prose(path))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(path, link):
    file, _, anchor = link.partition("#")
    target = (path.parent / file).resolve() if file else path
    return not is_there(target) or (anchor and anchor not in anchors(target))


def test_links_lead_somewhere():
    """Pages stand on their own: they name a source, and do not link to it."""
    links = [(path, link) for path in WRITTEN for link in LINK.findall(prose(path))]
    assert [f"{by_path(path)}: {link}" for path, link in links if "://" in link or leads_nowhere(path, link)] == []


def test_pages_named_in_roles_and_toctrees_exist():
    named = [
        (path, name)
        for path in sorted(set(WRITTEN) & set(DOCS.rglob("*.md")))
        for name in [*DOC_ROLE.findall(path.read_text(encoding="utf-8")), *toctree_entries(path)]
    ]
    missing = [(path, name) for path, name in named if not is_there((path.parent / f"{name}.md").resolve())]
    assert [f"{by_path(path)}: {name}" for path, name in missing] == []


def test_every_page_is_in_a_toctree():
    listed = set()
    for path in DOCS.rglob("*.md"):
        for tree in TOCTREE.findall(path.read_text(encoding="utf-8")):
            listed |= {
                (path.parent / f"{line}.md").resolve() for line in tree.splitlines() if line[:1] not in {"", ":"}
            }
    assert {path for path in WRITTEN if DOCS in path.parents} - listed == {DOCS / "index.md"}


def test_every_decision_is_in_the_index_and_says_what_why_and_when():
    index = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")
    pages = [path for path in (DOCS / "decisions").glob("*.md") if path.name != "index.md"]
    assert pages
    for page in pages:
        assert f"{{doc}}`{page.stem}`" in index
        text = page.read_text(encoding="utf-8")
        assert all(f"**{part}.**" in text for part in ("What", "Why", "What else there was", "When to revisit"))


def test_glossary_is_in_alphabetical_order_without_doubles():
    terms = re.findall(r"(?m)^(\S.*)\n: ", (DOCS / "glossary.md").read_text(encoding="utf-8"))
    assert len(terms) > 20
    assert terms == sorted(set(terms))


def test_readme_and_index_show_the_same_rooms():
    def rooms(path):
        return re.search(r"(?m)^\| room .*\n(?:\|.*\n)+", path.read_text(encoding="utf-8"))[0]

    assert rooms(ROOT / "README.md") == rooms(DOCS / "index.md")


@cache
def options_of(command):
    """The options of a command and of its parts (`ledger open`), and of theirs (`shield profile build`)."""
    parts = [grow([command])[command]]
    for part in parts:
        parts += [part[name] for name in part if not name.startswith("-")]
    return {name for part in parts for argument in part.assemble_argument_collection() for name in argument.names}


def is_possible(line):
    """Whether a command that is shown exists, with the options it is shown with."""
    words = shlex.split(line)
    if words[0] != "aidos" or words[1].startswith("-"):
        return True
    # Standard input, and the mistake that shows what a mistake looks like.
    options = {word.split("=")[0] for word in words[2:] if word.startswith("-")} - {"-", "--formt"}
    return words[1] in COMMANDS and options <= options_of(words[1]) | {"--help"}


def test_commands_and_options_that_are_shown_exist():
    shown = [(path, command) for path in WRITTEN for command, *_ in commands(path)]
    shown += [(path, command) for path in WRITTEN for command in re.findall(r"`(aidos [^`]+)`", prose(path))]
    assert [f"{by_path(path)}: {command}" for path, command in shown if not is_possible(command)] == []


def test_options_named_in_prose_exist():
    known = {option for command in COMMANDS for option in options_of(command)} | {"--help", "--version", "--lenient"}
    named = [(path, code) for path in WRITTEN for code in re.findall(r"`(--[^`]+)`", prose(path))]
    assert [f"{by_path(path)}: {code}" for path, code in named if code.split()[0].split("=")[0] not in known] == []


LONG = {"README.md", "audit.md", "exposure.md", "mediator.md", "publish.md", "risk.md", "utility.md"}
"""Pages whose commands take long."""
PLAYED = [pytest.param(page, marks=pytest.mark.slow if page.name in LONG else ()) for page in PAGES if commands(page)]


@pytest.mark.parametrize("path", PLAYED, ids=by_path)
def test_console_blocks_print_what_the_page_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for command, shown, differs in commands(path):
        printed = play(command)
        assert same(printed, shown, differs), f"$ {command}\n{printed}\n-- the page shows --\n{shown}"


@pytest.mark.parametrize(
    ("printed", "shown", "differs", "expected"),
    [
        ("rows 21", "rows 21", [], True),
        ("rows 21", "rows 22", [], False),
        ("rows  1,021", "rows 921", [], False),
        ("rows  1,021", "rows 921", ["rows"], True),
        ("rows 1\nkept 1", "rows 2\nkept 2", ["rows"], False),
        ("  rows 1\nkept 1", "rows 2\nkept 1", ["kept", "rows"], True),
        ("low 0.48 of 12", "low 0.49 of 12", LAST_DIGITS, True),
        ("low 0.48 of 12", "low 0.50 of 12", LAST_DIGITS, False),
        ("low 0.48 of 12", "low 0.48 of 13", LAST_DIGITS, False),
        ("low -0.01", "low +0.01", LAST_DIGITS, False),
    ],
)
def test_what_is_printed_is_compared_with_its_numbers(printed, shown, differs, expected):
    assert same(printed, shown, differs) is expected


@pytest.mark.parametrize(
    ("page", "last"),
    [
        ("python", "refused"),
        ("publish", "bought"),
        ("fairness", "halves"),
        ("retrieval", "found"),
        ("mediator", "linked"),
        ("risk", "effects"),
        ("exposure", "later"),
        ("shield", "decision"),
        ("audit", "right"),
        ("taxonomy", "search"),
        ("utility", "found"),
    ],
)
def test_python_blocks_of_a_guide_run(page, last, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide = ModuleType("guide")  # a real module: type hints of the guide's dataclass are looked up in it
    monkeypatch.setitem(sys.modules, "guide", guide)
    path = DOCS / "guides" / f"{page}.md"
    for block in re.findall(r"(?ms)^```python\n(.*?)^```$", path.read_text(encoding="utf-8")):
        exec(compile(block, str(path), "exec"), vars(guide))
    assert last in vars(guide)


def test_numbers_of_the_theory_card_are_those_of_the_code():
    rows = NUMBER.findall((DOCS / "theory" / "sample-world.md").read_text(encoding="utf-8"))
    assert len(rows) > 30
    for value, module, name, place in rows:
        found = getattr(importlib.import_module(f"aidos.world.{module}"), name)
        assert float(found[int(place)] if place else found) == float(value), name


def test_noise_and_thresholds_of_the_theory_index_are_those_of_the_code():
    rows = CALIBRATED.findall((DOCS / "theory" / "index.md").read_text(encoding="utf-8"))
    assert len(rows) > 7
    for name, *cells in rows:
        for items, cell in zip((1, 10), cells, strict=True):
            found = find_mechanism(name)(items_per_person=items).calibration(PublicFacts())
            for shown in cell.split(", "):
                label, value = shown.split()
                assert f"{found[label]:.{len(value.partition('.')[2])}f}" == value, (name, items, label)


def test_every_mechanism_has_a_theory_card():
    cards = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "theory").glob("*.md"))
    for name in set(BUILT_IN) - {"log-release"}:
        assert f"`{find_mechanism(name).__name__}`" in cards or f".{find_mechanism(name).__name__}`" in cards, name


def test_install_hints_send_nobody_to_the_project_that_has_our_short_name():
    hints = [
        hint for path in WRITTEN for hint in re.findall(r"pip install [\"']?(aidos[\w-]*)", path.read_text("utf-8"))
    ]
    assert set(hints) == {DISTRIBUTION}
