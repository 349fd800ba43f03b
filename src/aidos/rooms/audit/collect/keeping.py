"""Where collected lists are kept: a directory with one row for each result, written whole after every query.

    lists.jsonl        query, list, position, url, title, snippet, when, order, place
    .collection.json   which site they are from, so that lists of two sites are not mixed

It holds what somebody searches for, so only its owner may read it. Whoever is killed loses the query that was under
way: its lists are asked again, all of them, since lists of one query belong to one moment.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aidos.core.jsontext import parse_json
from aidos.engine.files import replace_when_done, sweep_leftovers
from aidos.engine.store import Manifest
from aidos.errors import InputError
from aidos.ingest.sources import find_sources, opened_lines
from aidos.rooms.audit.collect.site import Site

__all__ = ["ABOUT", "LISTS", "Collection", "opened_collection"]

LISTS = "lists.jsonl"
ABOUT = Manifest(
    file=".collection.json",
    kind="aidos collection of result lists",
    version=1,
    noun="a collection of result lists",
    named="name a new directory, or one that aidos audit collect made",
    again="collect into a new directory",
)


@dataclass(slots=True)
class Collection:
    """An open collection: the lists so far, held as they are written."""

    path: Path
    lines: list[str] = field(default_factory=list)
    queries: dict[str, None] = field(default_factory=dict)
    """What was asked, in order."""
    lists: int = 0

    @property
    def file(self) -> Path:
        """Where the rows are."""
        return self.path / LISTS

    def add(self, query: str, rows: Sequence[dict[str, Any]]) -> None:
        """The lists of one more query, on the disk when this returns."""
        # Half a character, of a page or of a text that was cut in it, is no text of a file.
        lines = [json.dumps(row, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n" for row in rows]
        with replace_when_done(self.file, private=True) as partial, partial.open("w", encoding="utf-8") as stream:
            stream.writelines(self.lines)
            stream.writelines(lines)
        self.lines += lines
        self.count(query, rows)

    def count(self, query: str, rows: Sequence[dict[str, Any]]) -> None:
        """Remember that a query was asked."""
        self.queries[query] = None
        self.lists += len({row["list"] for row in rows})


@contextmanager
def opened_collection(path: Path, site: Site) -> Iterator[Collection]:
    """The collection of a directory, held for one writer; it is made where there is none."""
    known = {"site": site.host, "rules": zlib.crc32(json.dumps(asdict(site), sort_keys=True).encode())}
    if path.exists() and not (path / ABOUT.file).is_file() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} exists already, and is not {ABOUT.noun}", hint=ABOUT.named)
    ABOUT.make(path)
    with ABOUT.held(path):
        sweep_leftovers(path, inside=True)
        if not (path / ABOUT.file).is_file():
            ABOUT.write(path, known)
        elif ABOUT.read(path) != known:
            raise InputError(
                f"{path} holds lists that were collected by another file of a site",
                hint="lists that were read in two ways do not compare: collect into a new directory",
            )
        yield _read(path)


def _read(path: Path) -> Collection:
    found = Collection(path)
    if not found.file.is_file():
        return found
    sources, problems = find_sources([str(found.file)])
    if problems:
        raise InputError(str(problems[0]), hint=problems[0].remedy)
    held: dict[str, list[dict[str, Any]]] = {}
    with opened_lines(sources[0]) as lines:
        for number, line in lines:
            try:
                line.encode()  # it is written again: bytes that are no text are damage
                row = parse_json(line)
                held.setdefault(str(row["query"]), []).append({"list": str(row["list"])})
            except (ValueError, TypeError, KeyError) as error:
                raise ABOUT.damage(found.file, f"line {number} is no row of a list") from error
            found.lines.append(line)
    for query, rows in held.items():
        found.count(query, rows)
    return found
