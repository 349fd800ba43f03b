"""What an exposure directory says of itself: its settings, how far the work has come, and of which posts it is.

The manifest is replaced in one step, so that it is the old one or the new one. It is read before anything else, and
says in words why a directory cannot be used: there is none, it is unfinished, of another version, damaged, or made of
other posts or with other settings. It holds counts and settings, no words of anybody.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.engine.files import spoken_errors, sync
from aidos.engine.sealed import StoredFile, stored_entries
from aidos.errors import AidosError, InputError
from aidos.rooms.exposure.queries.layout import ABOUT, MANIFEST
from aidos.rooms.exposure.queries.settings import SearchExposure

__all__ = [
    "ENTRIES",
    "RENEWED",
    "WRITTEN",
    "Facts",
    "State",
    "alone",
    "check_same",
    "check_settings",
    "is_finished",
    "is_renewed",
    "make_directory",
    "read",
    "take_renewed",
    "write",
]

RENEWED = "renewed"
"""Where everything is computed anew, within the directory; see `forgetting`."""
WRITTEN = ("statistics", "singles", "queries", "exposures")
"""Directories whose files the manifest knows."""
ENTRIES = (*(f"{name}.parquet" for name in ("posts", "members", "words")), "index", *WRITTEN)
"""What a finished directory consists of, beside its manifest."""
State = Literal["preparing", "computing", "finished"]
TEXTS = ("fingerprint", "state")
MOST = 1 << 48
"""No count is larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a community's exposure without looking at it."""

    settings: SearchExposure
    """How its search behaves."""
    fingerprint: str
    """The same for the same posts in any order, and for no others."""
    state: State
    """How far the work has come; only a finished directory answers."""
    posts: Annotated[int, Ge(0), Le(MOST)] = 0
    """Posts that are searched."""
    members: Annotated[int, Ge(0), Le(MOST)] = 0
    """Authors of posts."""
    words: Annotated[int, Ge(0), Le(MOST)] = 0
    """Distinct words, each of them a query."""
    queries: Annotated[int, Ge(0), Le(MOST)] = 0
    """Single words, and pairs that some post holds together."""
    exposures: Annotated[int, Ge(0), Le(MOST)] = 0
    """Triples of member, post and query."""
    cut_posts: Annotated[int, Ge(0), Le(MOST)] = 0
    """Posts of which only the first words are searched, since they are too long."""
    documents: Annotated[int, Ge(0), Le(MOST)] = 0
    """Posts when it was computed: scores go by what the collection looked like then."""
    tokens: Annotated[int, Ge(0), Le(MOST)] = 0
    """Words of all posts, repeated ones as often, when it was computed."""
    generation: Annotated[int, Ge(0), Le(MOST)] = 0
    """Rises with every change since it was computed."""
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    """Size and checksum of every file, by its place in the directory."""

    def __post_init__(self) -> None:
        check_parameters(self)


make_directory = ABOUT.make
"""A directory that only its owner may read, or a word why there can be none."""
alone = ABOUT.held
"""Hold the directory so that nobody else writes to it; refused at once when somebody does."""


def write(path: Path, facts: Facts) -> None:
    """Make ``facts`` what the directory says, in one step."""
    ABOUT.write(path, asdict(facts))


def read(path: Path, *, unfinished: bool = False) -> Facts:
    """What the directory says, or why it cannot be used; ``unfinished`` ones only when they are asked for."""
    if not path.is_dir():
        raise ABOUT.missing(path)
    said = ABOUT.read(path)
    with ABOUT.understood(path):
        facts = _facts(said)
    if facts.state != "finished" and not unfinished:
        raise InputError(f"{path} is unfinished", hint="run the same aidos expose compute again: it goes on from there")
    return facts


def is_renewed(path: Path) -> bool:
    """Whether files that were computed anew wait to take the place of the old ones."""
    there = path / RENEWED
    return (there / MANIFEST).is_file() and read(there, unfinished=True).state == "finished"


def take_renewed(path: Path) -> Facts:
    """Let what was computed anew take the place of all else; whoever holds the directory alone may go on with it.

    The old manifest goes last: as long as it is there, `is_renewed` says that this has to be brought to its end.
    """
    there = path / RENEWED
    facts = read(there)
    with spoken_errors(path):
        for old in sorted(path.iterdir()):
            # What was renewed already is not among the new files any more, and must stay.
            if old.name not in (MANIFEST, RENEWED, *ENTRIES) or (there / old.name).exists():
                shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
        for name in ENTRIES:
            if (there / name).exists():
                (there / name).rename(path / name)
        sync(there)
        sync(path)
        (there / MANIFEST).replace(path / MANIFEST)
        shutil.rmtree(there)
        sync(path)
    return facts


def is_finished(path: Path) -> bool:
    """Whether the directory holds a computation that is done."""
    return (path / MANIFEST).is_file() and read(path, unfinished=True).state == "finished"


def check_settings(path: Path, facts: Facts, settings: SearchExposure) -> None:
    """Refuse what was computed with other settings."""
    mine, others = asdict(settings), asdict(facts.settings)
    if other := [name for name in mine if mine[name] != others[name]]:
        raise InputError(
            f"{path} was computed with another {' and another '.join(other)}",
            hint="choose another directory, or remove this one",
        )


def check_same(path: Path, facts: Facts, settings: SearchExposure, fingerprint: str) -> None:
    """Refuse to go on with the work of other settings or other posts, or with posts that have changed since."""
    check_settings(path, facts, settings)
    if facts.fingerprint != fingerprint:
        raise InputError(
            f"{path} was computed from other posts",
            hint="choose another directory or remove this one; to add or delete a few posts, change it instead",
        )
    if facts.generation:
        raise InputError(
            f"{path} has been changed {facts.generation} times since it was computed from these posts",
            hint="compute the posts as they are now into another directory",
        )


def _facts(said: dict[str, Any]) -> Facts:
    """The facts of a manifest; ValueError or TypeError where it says something else."""
    usual = asdict(SearchExposure())
    settings, files = dict(said.pop("settings")), stored_entries(said.pop("files"))
    strange = [name for name, value in settings.items() if type(value) is not type(usual[name])]
    strange += [name for name, value in said.items() if type(value) is not (str if name in TEXTS else int)]
    if strange:
        raise TypeError(strange)
    try:
        return Facts(settings=SearchExposure(**settings), files=files, **said)
    except AidosError as error:
        raise ValueError(error.message) from error
