"""The house keeps its own rules: floors, sizes, names, documentation, no address and no socket."""

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
import tomllib
from functools import cache
from pathlib import Path

import aidos
from aidos.demo.house import FLOORS
from aidos.ingest.formats.base import LineFormat
from aidos.surfaces.cli import grow
from aidos.surfaces.registry import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "aidos"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
MODULES = sorted(SOURCE.rglob("*.py"))
MODULE_NAMES = [aidos.__name__, *(found.name for found in pkgutil.walk_packages(aidos.__path__, "aidos."))]
ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|wss?)://[^\s\"'<>)]+")
HARMLESS_ADDRESS = re.compile(r"https?://[^/]*\bexample(\.(org|com|net))?\b")
"""Names that are reserved for examples and belong to nobody."""


def by_path(path):
    return str(path.relative_to(ROOT))


@cache
def trees():
    """Every module, parsed once, when a rule asks for them."""
    return {by_path(path): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def nodes(tree, *kinds):
    return (node for node in ast.walk(tree) if isinstance(node, kinds))


def docstring_lines(node):
    documented = ast.get_docstring(node) is not None
    return node.body[0].end_lineno - node.body[0].lineno + 1 if documented else 0


def layers():
    """The floors of the import contract, the lowest first: those of one layer do not know each other."""
    contract = PROJECT["importlinter"]["contracts"][0]
    return [[name.strip().removeprefix("aidos.") for name in layer.split("|")] for layer in contract["layers"][::-1]]


def packages(directory):
    return {path.parent.name for path in directory.glob("*/__init__.py")}


def test_every_floor_is_in_the_law_of_gravity():
    assert {name for layer in layers() for name in layer} == packages(SOURCE) | {"errors"}


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = re.search(r"(?ms)^```text\n(src/aidos/\n.*?)^```$", CONTRIBUTING)[1]


def told(indent):
    """What the map lists at an indent, in order."""
    return re.findall(rf"(?m)^ {{{indent}}}(\w+)(?:/|\.py) ", MAP)


def test_the_map_for_contributors_is_the_tree():
    """Floors stand in the order of the import contract, the lowest first, with the rooms; no path leads nowhere."""
    floors, rooms, top = told(2), told(4), re.findall(r"(?m)^(\w+)/ ", MAP)
    height = {name: number for number, layer in enumerate(layers()) for name in layer}
    law = " < ".join(f"({' | '.join(layer)})" if len(layer) > 1 else layer[0] for layer in layers())
    kept = {path.split("/")[1] for path in PROJECT["hatch"]["build"]["targets"]["sdist"]["include"]}
    directories = {name for name in kept if (ROOT / name).is_dir() and not name.startswith(".")} - {"src"}
    wrong = {
        "floors missing in the map": sorted(height.keys() - set(floors)),
        "floors that there are not": sorted(set(floors) - height.keys()),
        "floors that stand too high": [
            name for name, above in itertools.pairwise(floors) if height.get(name, 0) > height.get(above, 99)
        ],
        "rooms missing in the map": sorted(packages(SOURCE / "rooms") - set(rooms)),
        "rooms that there are not": sorted(set(rooms) - packages(SOURCE / "rooms")),
        "floors in the last chapter of the demo": sorted(
            set(FLOORS) ^ {*(height.keys() - {"rooms"}), *(f"rooms.{room}" for room in packages(SOURCE / "rooms"))}
        ),
        "floors in the index of the reference": sorted(
            {"aidos", "aidos.rooms", *(f"aidos.{floor}" for floor in FLOORS)}
            ^ set(re.findall(r"(?m)^\| \[(aidos[\w.]*)\]", (ROOT / "docs" / "reference" / "index.md").read_text()))
        ),
        "directories missing in the map": sorted(directories - set(top)),
        "directories that there are not": sorted(set(top) - directories),
        "the law of gravity": [] if f"`{law}`" in " ".join(CONTRIBUTING.split()) else [f"`{law}`"],
        "paths that lead nowhere": [name for name in paths_named(CONTRIBUTING) if not leads_somewhere(name)],
        "commands that make does not know": sorted(
            set(re.findall(r"\bmake ([a-z-]+)(?: {2,}|`)", CONTRIBUTING)) - targets()
        ),
    }
    assert {rule: names for rule, names in wrong.items() if names} == {}


def paths_named(text):
    """Paths in code marks: `core/mechanism.py`, `tests/promises/`; not those of examples (`NAME.py`)."""
    return [name for name in re.findall(r"`([\w./-]+/[\w./-]*)`", text) if not re.search(r"[A-Z]{3}|^dist/|^\.", name)]


def leads_somewhere(name):
    return any((place / name).exists() for place in (ROOT, SOURCE, SOURCE / "ingest"))


def targets():
    return set(re.findall(r"(?m)^([a-z-]+):.*## ", (ROOT / "Makefile").read_text()))


def test_modules_stay_short():
    sizes = {by_path(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: size for name, size in sizes.items() if size > 400} == {}


def test_modules_start_with_a_docstring():
    assert [name for name, tree in trees().items() if not ast.get_docstring(tree)] == []


def test_modules_are_named_for_their_subject():
    empty = {"utils", "helpers", "misc", "common"}
    hidden = [path for path in MODULES if path.stem.startswith("_") and path.stem not in {"__init__", "__main__"}]
    assert [by_path(path) for path in MODULES if path.stem in empty or path in hidden] == []


def test_functions_stay_short():
    sizes = {
        f"{name}: {node.name}": node.end_lineno - node.lineno + 1 - docstring_lines(node)
        for name, tree in trees().items()
        for node in nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef)
    }
    assert {name: size for name, size in sizes.items() if size > 40} == {}


def test_nobody_imports_the_package_root():
    """Children that import the package root make import cycles."""

    def reaches_up(node):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            return "aidos" in names
        return node.module == "aidos" and names != ["__version__"]

    imports = ((name, node) for name, tree in trees().items() for node in nodes(tree, ast.Import, ast.ImportFrom))
    assert [f"{name}:{node.lineno}" for name, node in imports if reaches_up(node)] == []


def is_documentable(value):
    return inspect.isclass(value) or inspect.isfunction(value)


def test_public_names_are_exported():
    missing = []
    for module in map(importlib.import_module, MODULE_NAMES):
        exported = getattr(module, "__all__", ())
        own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
        missing += [
            f"{module.__name__}.{name}"
            for name in own
            if is_documentable(getattr(module, name)) and not name.startswith("_") and name not in exported
        ]
    assert missing == []


def test_what_is_exported_exists_and_is_documented():
    undocumented = []
    for module in map(importlib.import_module, MODULE_NAMES):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if is_documentable(value) and not inspect.getdoc(value):
                undocumented.append(f"{module.__name__}.{name}")
            if not inspect.isclass(value) or value.__module__ != module.__name__:
                continue
            # What implements LineFormat is documented there, once.
            undocumented += [
                f"{module.__name__}.{name}.{method}"
                for method, function in vars(value).items()
                if not method.startswith("_")
                and inspect.isfunction(function)
                and not hasattr(LineFormat, method)
                and not inspect.getdoc(getattr(value, method))
            ]
    assert undocumented == []


def test_every_command_is_documented_with_examples():
    written = [path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts]
    guides = "".join(path.read_text() for path in [*written, ROOT / "README.md"])
    app = grow(parts=False)
    helps = {command: inspect.getdoc(app[command].default_command) for command in COMMANDS}
    assert [command for command in COMMANDS if f"aidos {command}" not in helps[command]] == []
    assert [command for command in COMMANDS if f"aidos {command}" not in guides] == []


def test_no_foreign_address_in_what_we_ship():
    found = [
        f"{by_path(path)}: {address}"
        for path in [*MODULES, *SOURCE.rglob("*.html*"), *SOURCE.rglob("*.css")]
        for address in ADDRESS.findall(path.read_text(encoding="utf-8"))
        if not HARMLESS_ADDRESS.match(address)
    ]
    assert found == []


CONNECT = {
    "src/aidos/service/http.py": "a search service that its user named",
    "src/aidos/rooms/audit/collect/browser.py": "pages of results that its user named, by a browser",
}
"""The modules that may connect, and to what."""


def test_the_library_opens_no_socket():
    network = {"socket", "ssl", "http.client", "urllib.request", "requests", "httpx", "aiohttp", "asyncio"}
    network |= {"playwright", "playwright.async_api", "playwright.sync_api"}
    found = {}
    for name, tree in trees().items():
        imported = {alias.name for node in nodes(tree, ast.Import) for alias in node.names}
        imported |= {node.module for node in nodes(tree, ast.ImportFrom)}
        if imported & network and name not in CONNECT:
            found[name] = imported & network
    assert found == {}


def test_user_input_is_never_asserted():
    assert [f"{name}:{node.lineno}" for name, tree in trees().items() for node in nodes(tree, ast.Assert)] == []


READERS = {
    "json.loads": "src/aidos/core/jsontext.py",
    "json.load": "src/aidos/core/jsontext.py",
    "tomllib.loads": "src/aidos/core/jsontext.py",
    "tomllib.load": "src/aidos/core/jsontext.py",
    **dict.fromkeys(
        (
            "gzip.open",
            "gzip.decompress",
            "zlib.decompress",
            "bz2.open",
            "lzma.open",
            "bz2.decompress",
            "lzma.decompress",
        ),
        "nobody",
    ),
    **dict.fromkeys(("zstandard.ZstdDecompressor", "zstandard.decompress", "zstandard.open"), "nobody"),
    "pa.CompressedInputStream": "src/aidos/engine/unpacking.py",
}
"""What reads text or packed data of strangers, and the one module that may: everybody else asks it."""


def test_strangers_are_read_in_one_place():
    calls = [
        (name, f"{node.func.value.id}.{node.func.attr}")
        for name, tree in trees().items()
        for node in nodes(tree, ast.Call)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    ]
    assert [(name, call) for name, call in calls if READERS.get(call, name) != name] == []


FILES = {"csv.reader", "pacsv.read_csv", "pajson.read_json", "pq.read_table", "pq.ParquetFile", "np.load"}
FILES |= {"sqlite3.connect", "duckdb.connect"}
BESIDE_THE_READER = {
    "model/archive.py": "models that aidos wrote, with checksums",
    "model/profilefile.py": "the private file of a profile, refused in words of its own",
    "model/retrieval/storage.py": "the manifest that was written the moment before",
    "model/rows.py": "small tables that people write by hand",
    "rooms/exposure/critical/categories.py": "a list that a package brings",
    "rooms/exposure/queries/base.py": "posts that aidos keeps",
    "rooms/exposure/training.py": "which posts were deleted: a table, or Parquet",
    "rooms/fairness/exchange.py": "accounts that were exported",
    "rooms/publish/released.py": "a release, as its manifest lists it",
    "rooms/risk/sources.py": "entries without times, which the reader of posts refuses",
    "rooms/shield/profile/results.py": "one list of results, which goes back in the form that it came in",
    "service/sqlite_fts.py": "a search service",
    "studies/shelf.py": "results of an earlier run",
    "studies/utility/ground.py": "results of an earlier run",
    "studies/utility/originals.py": "results of an earlier run",
}
"""Modules outside of `engine` and `ingest` that open files themselves, and what these are."""


def test_files_are_read_by_the_one_reader():
    """Logs, posts, rankings, pairs and histories are read by `ingest`, small files by `engine.inputs`."""
    found = set()
    for name, tree in trees().items():
        for node in nodes(tree, ast.Call):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            whose = ast.unparse(node.func).removesuffix(f".{method}")
            own = (
                method in {"read_text", "read_bytes"}
                and whose != "inputs"
                and not whose.lstrip("(").startswith("files(")
            )
            if own or f"{whose}.{method}" in FILES:
                found.add(name.removeprefix("src/aidos/"))
    floors = ("engine/", "ingest/")
    assert {name for name in found if not name.startswith(floors)} == BESIDE_THE_READER.keys()


def test_constraints_pin_hashes_and_name_no_address():
    text = (ROOT / "constraints.txt").read_text()
    assert not ADDRESS.search(text)
    assert "--index" not in text
    assert "--find-links" not in text
    entries = re.split(r"\n(?=[^ ])", text.partition("\n")[2].strip())
    assert len(entries) > 40
    assert all(re.match(r"[\w.-]+(\[[\w,]+\])?==[^ ]+ ", entry) and "--hash=sha256:" in entry for entry in entries)
