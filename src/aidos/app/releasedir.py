"""A release as a directory that can be handed over: files, manifest, a page and a letter to the reader.

It appears whole or not at all: everything is written beside it under another name, which takes its place by one rename.
The manifest names every file with its hash, so that whoever receives the directory can check that nothing was lost or
changed on the way. It proves integrity, not origin: it is not signed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aidos.core.jsontext import parse_json
from aidos.engine.files import check_new, directory_when_done, write_text
from aidos.engine.inputs import open_input, read_text
from aidos.errors import InputError
from aidos.report.values import write_sheet

__all__ = [
    "MANIFEST",
    "new_directory",
    "read_manifest",
    "verify_release",
    "write_files",
    "write_histogram",
]

MANIFEST = "MANIFEST.json"


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """A directory beside ``target`` that takes its name when all went well, and is removed otherwise."""
    check_new(target)
    with directory_when_done(target) as partial:
        yield partial


def write_histogram(directory: Path, name: str, table: pa.Table) -> None:
    """One table as Parquet and as CSV; in the CSV, nothing acts on a spreadsheet or a terminal."""
    pq.write_table(table, directory / f"{name}.parquet", compression="zstd")
    write_sheet(table, directory / f"{name}.csv")


def write_files(directory: Path, manifest: Mapping[str, object], *, page: str, letter: str) -> None:
    """The page, the letter, and last the manifest with the hashes of all files."""
    write_text(directory / "report.html", page)
    write_text(directory / "README.md", letter)
    files = {path.name: _describe(path) for path in sorted(directory.iterdir()) if not path.name.startswith(".")}
    write_text(directory / MANIFEST, json.dumps({**manifest, "files": files}, indent=2, ensure_ascii=False) + "\n")


def _describe(path: Path) -> dict[str, object]:
    described: dict[str, object] = {"sha256": _hash(path), "bytes": path.stat().st_size}
    if path.suffix == ".parquet":
        metadata = pq.read_metadata(path)
        described |= {"rows": metadata.num_rows, "columns": metadata.schema.names}
    return described


def _hash(path: Path) -> str:
    with open_input(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(directory: Path) -> dict[str, object]:
    """The manifest of a release, or InputError that says what is wrong with it."""
    path = directory / MANIFEST
    if not path.is_file():
        raise InputError(f"{directory} is no release: it has no {MANIFEST}", hint="name the directory that aidos wrote")
    try:
        manifest = parse_json(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} is damaged: it is not JSON", hint="ask for the release again") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise InputError(f"{path} is not a manifest of aidos: it lists no files", hint="ask for the release again")
    return manifest


def verify_release(directory: Path) -> list[str]:
    """What does not agree with the manifest, in sentences; empty when everything does."""
    listed = read_manifest(directory)["files"]
    expected = {str(name): about for name, about in listed.items()} if isinstance(listed, dict) else {}
    present = {path.name for path in directory.iterdir()} - {MANIFEST}
    missing = [f"{name} is missing" for name in sorted(expected.keys() - present)]
    strange = [f"{name} is not in the manifest" for name in sorted(present - expected.keys())]
    changed = [
        f"{name} was changed after the release was made"
        for name in sorted(expected.keys() & present)
        if not isinstance(expected[name], dict) or _hash(directory / name) != expected[name].get("sha256")
    ]
    return missing + strange + changed
