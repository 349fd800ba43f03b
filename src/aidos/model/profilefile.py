"""The private file of a profile: one JSON file that only its owner can read, whole or not there.

It is written beside its place and moved into it, so that a crash, a full disk or a kill leaves the old file or the new
one. Who changes one reads it, decides and writes while holding the lock of its directory, so that of several processes
at once none loses what another noted. A file that others can read is refused until its owner mends that. To export a
profile is to copy the file; to import one is to name the copy. What is forgotten is overwritten before it is let go;
disks that keep old blocks (flash, snapshots, back-ups) may hold it longer, which no program can promise to prevent.

Where no file is named it is ``aidos/profile.json`` in the place where programs keep a user's data: $XDG_DATA_HOME where
that is set to an absolute path, ``~/Library/Application Support`` on macOS, ``~/.local/share`` elsewhere.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from aidos.core.jsontext import parse_json
from aidos.core.profile import KeptProfile, Kind, named, tree_digest
from aidos.core.topictree import TopicTree
from aidos.engine.files import overwritten, write_text
from aidos.engine.store import Store, erase
from aidos.errors import InputError
from aidos.model.taxonomies.opened import OpenedTaxonomy, open_named

__all__ = [
    "OpenedProfile",
    "change_profile",
    "default_place",
    "erase_profile",
    "held_profile",
    "is_profile_file",
    "open_profile",
    "read_profile",
    "rewrite_profile",
    "taxonomy_name",
    "to_json",
    "write_profile",
]

FILE = "profile.json"
DEFAULT_TAXONOMY = "the taxonomy that comes with aidos"
MARK = "aidos_profile"
VERSION = 1
KEPT = Store(noun="a profile", version=VERSION, again="build it again", absent="there is no directory {path}")
LARGEST = 1 << 26
FIELDS = frozenset(
    {MARK, "taxonomy", "created", "updated", "sources", "supports", "sensitivities", "hidden", "shown"},
)
ADDED: dict[str, Any] = {"asked": {}, "queries": 0}
"""What files of version 0.1 lack, and what stands for it."""
BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
LONGEST_WAIT = 60.0
"""Seconds that are waited for others who change a profile of the same directory."""
BUILD_AGAIN = "build the profile again, or name the taxonomy it was built with: --taxonomy FILE"


def to_json(kept: KeptProfile) -> dict[str, object]:
    """All of it, as the file holds it."""
    return {
        MARK: VERSION,
        "taxonomy": {"name": kept.taxonomy, "digest": kept.digest},
        "created": kept.created,
        "updated": kept.updated,
        "sources": dict(kept.sources),
        "supports": dict(kept.supports),
        "sensitivities": dict(kept.sensitivities),
        "hidden": list(kept.hidden),
        "shown": list(kept.shown),
        "asked": dict(kept.asked),
        "queries": kept.queries,
    }


@contextmanager
def held_profile(path: Path) -> Iterator[None]:
    """Hold the place of a profile, alone: who changes what a file says reads it, decides and writes within this."""
    with KEPT.held(path.resolve().parent, wait=LONGEST_WAIT):
        yield


def change_profile(
    opened: OpenedProfile, change: Callable[[KeptProfile], KeptProfile], *, blank: bool = False
) -> tuple[KeptProfile, bool]:
    """Change what the file holds now, whatever others wrote since it was opened; what it holds, and whether it changed.

    With ``blank`` the old file is overwritten.
    """
    with held_profile(opened.path):
        now = read_profile(opened.path, opened.taxonomy.tree)
        changed = change(now)
        if changed is not now:
            (rewrite_profile if blank else write_profile)(opened.path, changed)
    return changed, changed is not now


def write_profile(path: Path, kept: KeptProfile) -> None:
    """Write the file for its owner alone, whole or not at all."""
    write_text(path.resolve(), json.dumps(to_json(kept), indent=1, allow_nan=False) + "\n", private=True)


def rewrite_profile(path: Path, kept: KeptProfile) -> None:
    """Write the new file, then overwrite what the old one held."""
    with overwritten(path.resolve()):
        write_profile(path, kept)


def erase_profile(path: Path) -> None:
    """Overwrite the file and delete it, and what an interrupted writing left beside it.

    Whatever is no profile is refused: a slip must not cost another file.
    """
    if not is_profile_file(path):
        raise InputError(f"{path} is no profile of aidos, and is left alone", hint="look at the name")
    erase(path.resolve())
    with suppress(FileNotFoundError):
        path.unlink()  # it may have been a link


def is_profile_file(path: Path) -> bool:
    """Whether the file is a profile, of whatever version."""
    loaded = _load(path)
    return isinstance(loaded, dict) and MARK in loaded


def read_profile(path: Path, tree: TopicTree) -> KeptProfile:
    """The profile of a file, checked against the taxonomy; InputError says what is wrong with it."""
    loaded = _load(path)
    if not isinstance(loaded, dict) or MARK not in loaded:
        raise InputError(f"{path} is no profile of aidos, or is damaged", hint="see: aidos shield profile build --help")
    if path.stat().st_mode & BY_OTHERS:
        raise InputError(
            f"{path} can be read by others than its owner, and a profile is private",
            hint=f"make it private, and think of who may have read it: chmod 600 {path}",
        )
    if loaded[MARK] != VERSION:
        raise InputError(
            f"{path} is of another version than {VERSION}", hint="use the aidos that wrote it, or build it again"
        )
    loaded = ADDED | loaded
    if wrong := _misshapen(loaded):
        raise InputError(f"{path} is damaged: {wrong}", hint="mend it, or build it again")
    _check_topics(path, loaded, tree)
    _check_numbers(path, loaded)
    return KeptProfile(
        taxonomy=loaded["taxonomy"]["name"],
        digest=loaded["taxonomy"]["digest"],
        supports={topic: float(count) for topic, count in loaded["supports"].items()},
        sensitivities={topic: float(weight) for topic, weight in loaded["sensitivities"].items()},
        hidden=tuple(loaded["hidden"]),
        shown=tuple(loaded["shown"]),
        asked={topic: float(weight) for topic, weight in loaded["asked"].items()},
        queries=loaded["queries"],
        sources=loaded["sources"],
        created=loaded["created"],
        updated=loaded["updated"],
    )


def _load(path: Path) -> Any:
    """What the file holds; None where it is no JSON that a profile could be."""
    try:
        known = path.stat()
        if not stat.S_ISREG(known.st_mode) or known.st_size > LARGEST:
            return None
        return parse_json(path.read_bytes(), object_pairs_hook=_without_doubles)
    except FileNotFoundError as error:
        raise InputError(f"there is no profile {path}", hint="make one: aidos shield profile build SOURCE") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", hint="it must be yours to read") from error
    except ValueError:
        return None


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _misshapen(loaded: dict[str, Any]) -> str:
    """What is wrong with the shape of the file; empty where it is right."""
    if missing := sorted(FIELDS - loaded.keys()):
        return f"{', '.join(missing)} are missing" if len(missing) > 1 else f"{missing[0]} is missing"
    if loaded.keys() - FIELDS - ADDED.keys():
        return "it holds fields that a profile does not have"
    about = loaded["taxonomy"]
    if not isinstance(about, dict) or {type(about.get("name")), type(about.get("digest"))} != {str}:
        return "it does not say which taxonomy it is of"
    for name in ("supports", "sensitivities", "sources", "asked"):
        if not isinstance(loaded[name], dict):
            return f"{name} is no table of names and numbers"
    for name in ("hidden", "shown"):
        if not isinstance(loaded[name], list) or not all(isinstance(topic, str) for topic in loaded[name]):
            return f"{name} is no list of topics"
    if not all(isinstance(loaded[name], str) for name in ("created", "updated")):
        return "created and updated must be times"
    return _miscounted(loaded)


def _miscounted(loaded: dict[str, Any]) -> str:
    if type(loaded["queries"]) is not int or loaded["queries"] < 0:
        return "queries must be a number"
    counts = loaded["sources"]
    if not counts.keys() <= set(Kind) or not all(type(count) is int and count >= 0 for count in counts.values()):
        return "sources must be kinds of documents with their number"
    return ""


def _check_topics(path: Path, loaded: dict[str, Any], tree: TopicTree) -> None:
    held = dict.fromkeys(
        (*loaded["supports"], *loaded["sensitivities"], *loaded["hidden"], *loaded["shown"], *loaded["asked"])
    )
    unknown = [topic for topic in held if topic not in tree.places]
    lacking = f"the taxonomy does not have {len(unknown)} of its topics: {named(unknown)}" if unknown else ""
    if loaded["taxonomy"]["digest"] != tree_digest(tree):
        other = f"{path} was built with another taxonomy ({named([loaded['taxonomy']['name']])})"
        raise InputError(f"{other}; {lacking}" if lacking else other, hint=BUILD_AGAIN)
    if lacking:
        raise InputError(f"{path}: {lacking}", hint="correct their names, take them out, or build the profile again")


def _check_numbers(path: Path, loaded: dict[str, Any]) -> None:
    for name, words in (("supports", "supports"), ("sensitivities", "sensitivities"), ("asked", "what was asked")):
        wrong = [topic for topic, value in loaded[name].items() if not _is_above_zero(value)]
        if wrong:
            raise InputError(
                f"{path}: {words} must be numbers above 0; topics concerned: {named(wrong)}",
                hint="correct them, or take these topics out",
            )


def _is_above_zero(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return isfinite(float(value)) and value > 0
    except OverflowError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedProfile:
    """A profile, the file it is kept in, and its taxonomy."""

    path: Path
    kept: KeptProfile
    taxonomy: OpenedTaxonomy


def default_place() -> Path:
    """Where the profile is kept when no file is named."""
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    if given.is_absolute():
        home = given
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Application Support"
    else:
        home = Path.home() / ".local" / "share"
    return home / "aidos" / FILE


def open_profile(file: Path | None, taxonomy: Path | None) -> OpenedProfile:
    """The profile of a file or of the default place, checked against its taxonomy."""
    opened = open_named(taxonomy)
    path = file or default_place()
    return OpenedProfile(path=path, kept=read_profile(path, opened.tree), taxonomy=opened)


def taxonomy_name(opened: OpenedTaxonomy) -> str:
    """What a profile calls its taxonomy: the name of a file, without the directory."""
    return DEFAULT_TAXONOMY if opened.file is None else opened.file.name
