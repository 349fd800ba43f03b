"""Forgetting members for good: no byte of theirs is left in any file of the directory.

Deleting hides a post; its words stay in the text, the index and the numbers of all others. So whoever is to be
forgotten needs what a member never touched: the exposure is computed anew from everybody else's posts as they stand,
with new numbers and new statistics, into ``renewed`` within the directory, and then takes the place of the old files,
what changes and killed runs left among them. Posts that were deleted earlier go with it.

The new manifest, finished, is the turning point. Before it the directory is what it was, and ``renewed`` is removed by
the next one who writes; after it whoever opens the directory, to read or to write, first brings the rest to its end.
Who has the old directory open may meet an error and must open it again.

What others wrote about a member, copies of the directory, backups, and blocks of the disk that the system has not
used again are not touched.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.engine.files import sweep_leftovers
from aidos.errors import InputError
from aidos.rooms.exposure.queries import manifest
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.estimate import USUAL_ROOM, Room
from aidos.rooms.exposure.queries.manifest import RENEWED
from aidos.rooms.exposure.queries.settings import MEMORY
from aidos.rooms.exposure.queries.state import State, open_state

__all__ = ["Forgotten", "forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What is not there any more."""

    members: int
    posts: int
    """Their posts, and those that were deleted before."""
    words: int
    """Words that nobody else has written."""
    queries: int
    """Queries that are gone with them."""
    exposures: int
    """Rows of members, posts and queries, fewer than before."""


def forget(  # noqa: PLR0913 (who, where, and with how much)
    path: Path,
    author_ids: Sequence[str],
    engine: EmbeddedEngine,
    *,
    memory: str | int = MEMORY,
    threads: int | None = None,
    progress: Progress = SILENT,
    room: Room = USUAL_ROOM,
) -> Forgotten:
    """Compute the directory anew without some members; all of them or, when one has never posted, none."""
    open_state(path)  # what was turned already is brought to its end before anything is asked
    with manifest.alone(path):
        facts, state = open_state(path, held=True)
        numbers = _numbers_of(state, author_ids)
        sweep_leftovers(path, inside=True)
        shutil.rmtree(path / RENEWED, ignore_errors=True)
        left = _left(path, state, numbers, engine)
        if not left.count():
            raise InputError(
                "nobody else has posted, so nothing would be left", hint=f"remove the directory: rm -r {path}"
            )
        compute(left, facts.settings, path / RENEWED, memory=memory, threads=threads, progress=progress, room=room)
        now = manifest.take_renewed(path)
    return Forgotten(
        members=len(numbers),
        posts=state.posts - now.posts,
        words=state.words - now.words,
        queries=facts.queries - now.queries,
        exposures=facts.exposures - now.exposures,
    )


def _numbers_of(state: State, author_ids: Sequence[str]) -> list[int]:
    """The numbers of members, also of those whose posts are all deleted."""
    names = list(dict.fromkeys(author_ids))
    known = pa.chunked_array([*state.base.authors.chunks, *state.overlay.members.column("name").chunks])
    found = pc.index_in(pa.array(names, pa.large_string()), value_set=known.cast(pa.large_string()))
    if unknown := found.null_count:
        raise InputError(
            f"{unknown} of {len(names)} members have never posted; nobody was forgotten",
            hint="give the author_id as the posts have it",
        )
    return [int(number.as_py()) for number in found]


def _left(path: Path, state: State, members: list[int], engine: EmbeddedEngine) -> EmbeddedTable:
    """The posts of everybody else as they stand, under the columns of POSTS."""
    posts, authors = (quote_text(str(path / f"{name}.parquet")) for name in ("posts", "members"))
    gone = engine.table(pa.table({"number": pa.array(state.deleted)}))
    theirs = engine.table(pa.table({"member": pa.array(members, pa.int32())}))
    later = engine.table(
        pa.table({"member": np.arange(state.base.members, state.members), "author_id": state.overlay.members["name"]})
    )
    added = engine.table(state.overlay.added.select(["post_id", "member", "timestamp", "text", "gone"]))
    named = f"(select number as member, author_id from read_parquet({authors}) union all select * from {later.name})"
    return engine.view(
        f"""
        select post_id, author_id, "timestamp", text from (
            select post_id, member, "timestamp", text from read_parquet({posts})
            where number not in (select number from {gone.name})
            union all
            select post_id, member, make_timestamp("timestamp"), text from {added.name} where not gone
        ) join {named} using (member) where member not in (select member from {theirs.name})
        """
    )
