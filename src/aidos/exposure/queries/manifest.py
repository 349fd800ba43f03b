"""What an exposure directory says of itself: its settings, how far the work has come, and of which posts it is.

The manifest is replaced in one step, so that it is the old one or the new one. It is read before anything else, and
says in words why a directory cannot be used: there is none, it is unfinished, of another version, damaged, or made of
other posts or with other settings. It holds counts and settings, no words of anybody.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.engine.files import write_text
from aidos.errors import AidosError, EngineError, InputError
from aidos.exposure.queries.layout import FORMAT, KIND, MANIFEST
from aidos.exposure.queries.settings import SearchExposure

__all__ = ["Facts", "State", "alone", "check_same", "is_finished", "make_directory", "read", "write"]

State = Literal["preparing", "computing", "finished"]
AGAIN = "compute it again from the posts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a community's exposure without looking at it."""

    settings: SearchExposure
    """How its search behaves."""
    fingerprint: str
    """The same for the same posts in any order, and for no others."""
    state: State
    """How far the work has come; only a finished directory answers."""
    posts: Annotated[int, Ge(0)] = 0
    """Posts that are searched."""
    members: Annotated[int, Ge(0)] = 0
    """Authors of posts."""
    words: Annotated[int, Ge(0)] = 0
    """Distinct words, each of them a query."""
    queries: Annotated[int, Ge(0)] = 0
    """Single words, and pairs that some post holds together."""
    exposures: Annotated[int, Ge(0)] = 0
    """Triples of member, post and query."""
    cut_posts: Annotated[int, Ge(0)] = 0
    """Posts of which only the first words are searched, since they are too long."""
    documents: Annotated[int, Ge(0)] = 0
    """Posts when it was computed: scores go by what the collection looked like then."""
    tokens: Annotated[int, Ge(0)] = 0
    """Words of all posts, repeated ones as often, when it was computed."""
    generation: Annotated[int, Ge(0)] = 0
    """Rises with every change since it was computed."""

    def __post_init__(self) -> None:
        check_parameters(self)


def make_directory(path: Path) -> None:
    """A directory that only its owner may read, or a word why there can be none."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, a directory was expected", hint="choose another name")
    if not path.absolute().parent.is_dir():
        raise InputError(f"the directory of {path} does not exist", hint=f"make it first: mkdir -p {path.parent}")
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EngineError(f"{path} cannot be made: {error.strerror}", hint="choose another place") from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the directory so that nobody else writes to it; refused at once when somebody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _missing(path) from error
    except OSError as error:
        raise EngineError(f"{path} cannot be opened: {error.strerror}", hint="only its owner may read it") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise EngineError(f"somebody else is writing to {path}", hint="wait until they are done") from error
    try:
        yield
    finally:
        os.close(descriptor)


def write(path: Path, facts: Facts) -> None:
    """Make ``facts`` what the directory says, in one step."""
    said = {"kind": KIND, "format": FORMAT, **asdict(facts)}
    write_text(path / MANIFEST, json.dumps({**said, "checksum": _seal(said)}, indent=1) + "\n", private=True)


def read(path: Path, *, unfinished: bool = False) -> Facts:
    """What the directory says, or why it cannot be used; ``unfinished`` ones only when they are asked for."""
    said = _read(path)
    if said.get("format") != FORMAT:
        raise InputError(
            f"{path} has format {said.get('format')}, this aidos reads {FORMAT}", hint=f"update aidos, or {AGAIN}"
        )
    if said.pop("checksum", None) != _seal(said):
        raise InputError(f"{path / MANIFEST} is damaged: its checksum is not the one that was written", hint=AGAIN)
    try:
        settings = SearchExposure(**said.pop("settings"))
        facts = Facts(settings=settings, **{key: said[key] for key in said if key not in {"kind", "format"}})
    except (AidosError, TypeError) as error:
        raise InputError(f"{path / MANIFEST} is damaged: it does not say what it should", hint=AGAIN) from error
    if facts.state != "finished" and not unfinished:
        raise InputError(f"{path} is unfinished", hint="run the same aidos expose compute again: it goes on from there")
    return facts


def is_finished(path: Path) -> bool:
    """Whether the directory holds a computation that is done."""
    return (path / MANIFEST).is_file() and read(path, unfinished=True).state == "finished"


def check_same(path: Path, facts: Facts, settings: SearchExposure, fingerprint: str) -> None:
    """Refuse to go on with the work of other settings or other posts, or with posts that have changed since."""
    mine, others = asdict(settings), asdict(facts.settings)
    if other := [name for name in mine if mine[name] != others[name]]:
        raise InputError(
            f"{path} was computed with another {' and another '.join(other)}",
            hint="choose another directory, or remove this one",
        )
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


def _read(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    if not path.is_dir():
        raise _missing(path)
    if not file.is_file():
        raise InputError(
            f"{path} is no exposure directory: it has no {MANIFEST}", hint="name one that aidos expose compute made"
        )
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise EngineError(f"{file} cannot be read: {error.strerror}", hint="only its owner may read it") from error
    except ValueError as error:
        raise InputError(f"{file} is damaged: it is no JSON", hint=AGAIN) from error
    if not isinstance(said, dict) or said.get("kind") != KIND:
        raise InputError(
            f"{file} is not the manifest of an exposure directory", hint="name one that aidos expose compute made"
        )
    return said


def _missing(path: Path) -> InputError:
    return InputError(
        f"there is no exposure directory {path}", hint="make one: aidos expose compute POSTS -o DIRECTORY"
    )


def _seal(said: Mapping[str, object]) -> int:
    return zlib.crc32(json.dumps(said, sort_keys=True).encode("utf-8"))
