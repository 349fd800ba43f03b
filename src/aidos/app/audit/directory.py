"""The directory of an audit, which is for its owner alone.

    finding.json   everything that was found, to be compared and marked later
    report.html    the page about it
    recipe.toml    how it was learned
    topics.npz     the topic model, where topics were learned from the results

It comes into being whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.core.jsontext import parse_json
from aidos.engine.files import directory_when_done, write_text
from aidos.engine.inputs import read_text
from aidos.errors import InputError

if TYPE_CHECKING:
    from aidos.model.latent.model import TopicModel
    from aidos.rooms.audit.findings import AuditFinding
    from aidos.rooms.audit.page import AuditStory

__all__ = ["FINDING", "MODEL", "RECIPE", "REPORT", "keep_audit", "new_directory", "read_finding", "refuse_taken"]

FINDING, REPORT, RECIPE, MODEL = "finding.json", "report.html", "recipe.toml", "topics.npz"
LARGEST = 1 << 28


def refuse_taken(path: Path) -> None:
    """Refuse a place where something is already, before any work is done."""
    if path.resolve() == Path.cwd():
        raise InputError("the directory you are in cannot become an audit", hint="name a new one in it")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        what = "an audit" if path.is_dir() and (path / FINDING).is_file() else "something else"
        raise InputError(f"{path} holds {what} already", hint="choose another directory")
    if not path.absolute().parent.is_dir():
        raise InputError(f"the directory of {path} does not exist", hint=f"make it first: mkdir -p {path.parent}")


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """A directory under another name, which takes its own when all went well, and is removed otherwise."""
    refuse_taken(path)
    with directory_when_done(path, private=True) as partial:
        yield partial


def keep_audit(directory: Path, story: AuditStory, model: TopicModel | None = None) -> None:
    """Write the files of one audit into a directory that is there."""
    from aidos.report.page import render
    from aidos.rooms.audit.findings import finding_to_json
    from aidos.rooms.audit.page import audit_page

    text = json.dumps(finding_to_json(story.finding), ensure_ascii=False, allow_nan=False, indent=1)
    write_text(directory / FINDING, f"{text}\n", private=True)
    write_text(directory / REPORT, render(audit_page(story)), private=True)
    if story.recipe:
        write_text(directory / RECIPE, story.recipe, private=True)
    if model is not None:
        model.save(directory / MODEL)
        (directory / MODEL).chmod(0o600)


def read_finding(place: Path) -> AuditFinding:
    """The finding of a directory, or of its finding.json."""
    from aidos.rooms.audit.findings import finding_from_json

    path = place / FINDING if place.is_dir() else place
    hint = "name a directory that `aidos audit learn -o` wrote"
    try:
        content = parse_json(read_text(path, most=LARGEST, hint=hint))
    except ValueError as error:
        raise InputError(f"{path} is no JSON", hint=hint) from error
    return finding_from_json(content, str(path))
