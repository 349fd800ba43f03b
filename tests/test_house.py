"""The house keeps its own rules: floors, sizes, names, documentation, no address and no socket."""

import ast
import importlib
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import aidos
from aidos.app.cli import COMMANDS
from aidos.ingest.formats.base import LineFormat

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "aidos"
MODULES = sorted(SOURCE.rglob("*.py"))
MODULE_NAMES = [aidos.__name__, *(found.name for found in pkgutil.walk_packages(aidos.__path__, "aidos."))]
ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|wss?)://[^\s\"'<>)]+")
HARMLESS_ADDRESS = re.compile(r"https?://[^/]*\bexample(\.(org|com|net))?\b")
"""Names that are reserved for examples and belong to nobody."""


def by_path(path):
    return str(path.relative_to(ROOT))


def functions(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def docstring_lines(node):
    documented = ast.get_docstring(node) is not None
    return node.body[0].end_lineno - node.body[0].lineno + 1 if documented else 0


@pytest.fixture(params=MODULE_NAMES)
def module(request):
    return importlib.import_module(request.param)


def test_every_floor_is_in_the_law_of_gravity():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    listed = {name.strip() for layer in contracts[0]["layers"] for name in layer.split("|")}
    floors = {f"aidos.{path.name}" for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert listed == floors | {"aidos.errors"}


@pytest.mark.parametrize("path", MODULES, ids=by_path)
def test_modules_stay_short_and_start_with_a_docstring(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    assert ast.get_docstring(ast.parse(text))
    assert not path.stem.startswith("_") or path.stem in {"__init__", "__main__"}
    assert path.stem not in {"utils", "helpers", "misc", "common"}


@pytest.mark.parametrize("path", MODULES, ids=by_path)
def test_functions_stay_short(path):
    sizes = {node.name: node.end_lineno - node.lineno + 1 - docstring_lines(node) for node in functions(path)}
    assert {name: size for name, size in sizes.items() if size > 40} == {}


@pytest.mark.parametrize("path", MODULES, ids=by_path)
def test_nobody_imports_the_package_root(path):
    imported = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom | ast.Import)]
    for node in imported:
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            assert "aidos" not in names
        elif node.module == "aidos":
            assert names == ["__version__"], "children that import the package root make import cycles"


def test_public_names_are_exported_exist_and_are_documented(module):
    defined = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (inspect.isclass(value) or inspect.isfunction(value))
    }
    exported = set(getattr(module, "__all__", ()))
    assert defined <= exported, f"public but not in __all__: {sorted(defined - exported)}"
    for name in exported:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{module.__name__}.{name} has no docstring"
        if inspect.isclass(value) and value.__module__ == module.__name__:
            for method, function in vars(value).items():
                # What implements LineFormat is documented there, once.
                if not method.startswith("_") and inspect.isfunction(function) and not hasattr(LineFormat, method):
                    assert inspect.getdoc(getattr(value, method)), f"{module.__name__}.{name}.{method}"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented_with_examples(command):
    function = getattr(importlib.import_module(f"aidos.app.commands.{command}"), command)
    assert f"aidos {command}" in inspect.getdoc(function)
    written = [path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts]
    guides = "".join(path.read_text() for path in [*written, ROOT / "README.md"])
    assert f"aidos {command}" in guides


@pytest.mark.parametrize("path", [*MODULES, *SOURCE.rglob("*.html*"), *SOURCE.rglob("*.css")], ids=by_path)
def test_no_foreign_address_in_what_we_ship(path):
    found = [
        address for address in ADDRESS.findall(path.read_text(encoding="utf-8")) if not HARMLESS_ADDRESS.match(address)
    ]
    assert found == []


CONNECTS = "src/aidos/service/http.py"
"""The one module that may connect: to a search service that its user named."""


@pytest.mark.parametrize("path", [path for path in MODULES if by_path(path) != CONNECTS], ids=by_path)
def test_the_library_opens_no_socket(path):
    network = {"socket", "ssl", "http.client", "urllib.request", "requests", "httpx", "aiohttp", "asyncio"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert imported & network == set()


@pytest.mark.parametrize("path", MODULES, ids=by_path)
def test_user_input_is_never_asserted(path):
    asserts = [node.lineno for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Assert)]
    assert asserts == []


def test_constraints_pin_hashes_and_name_no_address():
    text = (ROOT / "constraints.txt").read_text()
    assert not ADDRESS.search(text)
    assert "--index" not in text
    assert "--find-links" not in text
    entries = re.split(r"\n(?=[^ ])", text.partition("\n")[2].strip())
    assert len(entries) > 40
    assert all(re.match(r"[\w.-]+(\[[\w,]+\])?==[^ ]+ ", entry) and "--hash=sha256:" in entry for entry in entries)
