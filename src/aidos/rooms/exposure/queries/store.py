"""Look-ups in a community's exposure: by member, by query, for a draft; and changes that keep it current.

A store is what the directory held when it was opened. Opening reads a small file; all else is mapped or read when it
is asked for, and kept. Posts, members and words go by numbers (see `layout`); a deleted post's number is not given
again. Anybody may read while one writes: who has opened the store before goes on with what it was.

What is found is the truth about people, for the person herself and those who guard the collection: never a release.

What counts over everybody walks through all exposures, some members at a time. Members come in the order of their
numbers, each whole in one portion, in memory that is bounded by the portion and by the member with most rows. Changes
since the last full computation are in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.model.retrieval.scorers import Collection
from aidos.rooms.exposure.queries.answers import Answer, answer
from aidos.rooms.exposure.queries.base import Base
from aidos.rooms.exposure.queries.ground import column
from aidos.rooms.exposure.queries.layout import arrow_of
from aidos.rooms.exposure.queries.manifest import Facts
from aidos.rooms.exposure.queries.overlay import query_keys
from aidos.rooms.exposure.queries.records import Exposures
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.state import State, open_state

if TYPE_CHECKING:
    from aidos.rooms.exposure.queries.changes import Change
    from aidos.rooms.exposure.queries.estimate import Room
    from aidos.rooms.exposure.queries.ties import TiedOut

__all__ = ["Drift", "ExposureStore", "exposures_of", "walk"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
STALE = 0.1
"""Share by which the collection may have grown or shrunk before it should be computed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How far the collection has moved from the statistics that scores are pinned to."""

    changes: int
    """Additions and deletions since the last full computation."""
    documents: tuple[int, int]
    """Posts then and now."""
    tokens: tuple[int, int]
    """Words of all posts then and now."""

    @property
    def hint(self) -> str:
        """What to do about it; empty while it is small."""
        moved = max(abs(now - then) / max(1, then) for then, now in (self.documents, self.tokens))
        if moved < STALE:
            return ""
        return f"the posts have changed by {moved:.0%} since the last full computation: compute it again"


class ExposureStore:
    """One community's exposure, opened; what only some questions need is imported with them."""

    def __init__(self, path: Path, facts: Facts, state: State) -> None:
        self.path = path
        self.facts = facts
        self.state = state

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a directory that was computed."""
        return cls(path, *open_state(path))

    @property
    def settings(self) -> SearchExposure:
        """How the search behaves."""
        return self.state.settings

    @property
    def drift(self) -> Drift:
        """How far the collection has moved since the last full computation."""
        base = self.state.base.reference
        return Drift(
            changes=self.facts.generation,
            documents=(base.documents, self.facts.posts),
            tokens=(base.tokens, self.state.overlay.tokens),
        )

    @property
    def reference(self) -> Collection:
        """The statistics that scores are pinned to, by word."""
        return self.state.reference

    def member_number(self, author_id: str) -> int:
        """The number of a member, by the name in the posts."""
        state, name = self.state, pa.scalar(author_id, pa.large_string())
        found = int(pc.index(state.base.authors, name).as_py())
        if found < 0:
            found = int(pc.index(state.overlay.members.column("name"), name).as_py())
            if found < 0:
                raise InputError("no member of that name has posted", hint="give the author_id as the posts have it")
            found += state.base.members
        return found

    def members(self) -> pa.Table:
        """Every member by name, with how many of their posts there are, and how often one of them is returned."""
        state, number = self.state, self.state.members
        if not self.facts.generation:
            return state.base.file("members").read(0, number, ["author_id", "posts", "exposures"])
        written = np.arange(state.posts)
        posts = np.bincount(state.members_of(written[~state.gone(written)]), minlength=number)
        returned = np.zeros_like(posts)
        for rows in walk(state):
            returned += np.bincount(rows.members, minlength=number)
        return pa.table({"author_id": self.author(np.arange(number)), "posts": posts, "exposures": returned})

    def left_out(self, number: int, most: int) -> int:
        """How many exposures `member` leaves out; about, where posts were added or deleted since."""
        return self.state.base.left_out(number, most) if number < self.state.base.members else 0

    def member(self, number: int, most: int | None = None) -> Exposures:
        """Every query that returns a post of theirs, by post, first and second word.

        Where that is more than ``most``, about so many of them, spread from the oldest post to the newest.
        """
        if not 0 <= number < self.state.members:
            raise InputError("there is no member of that number", hint=f"numbers go up to {self.state.members - 1}")
        table = self.state.exposures(number, most)
        return exposures_of(table)

    def answer(self, query: str) -> Answer:
        """The results of a query of one or two distinct words; see `answers`."""
        return answer(self.state, query)

    def tied_out(self, number: int) -> TiedOut:
        """Queries of all words of a member's posts that miss them by a tie; see `ties`."""
        from aidos.rooms.exposure.queries.ties import tied_out

        return tied_out(self.state, self.posts_of(number))

    def draft(self, text: str, *, member: int | None = None, when: datetime) -> Exposures:
        """Every query that would return a post with this text, if it were posted then; see `draft`."""
        from aidos.rooms.exposure.queries.draft import draft

        return draft(self.state, text, member=member, when=when)

    def posts(self, numbers: NDArray[Any] | Sequence[int]) -> pa.Table:
        """Number, post_id, member, timestamp and text of posts, in the order asked; deleted ones are refused."""
        asked = np.asarray(numbers, dtype=np.int64)
        state = self.state
        if len(asked) and (asked.min() < 0 or asked.max() >= state.posts or state.gone(asked).any()):
            raise InputError("there is no post of that number", hint="ask for posts that are not deleted")
        old = asked < state.base.posts
        known = state.base.file("posts").take(asked[old])
        if old.all():
            return known
        later = state.overlay.added.take(asked[~old] - state.base.posts)
        added = pa.table(
            [
                pa.array(asked[~old].astype(np.int32)),
                later.column("post_id"),
                later.column("member"),
                later.column("timestamp").cast(pa.timestamp("us")),
                later.column("text"),
            ],
            schema=known.schema,
        )
        places = np.argsort(np.concatenate([np.flatnonzero(old), np.flatnonzero(~old)]))
        return pa.concat_tables([known, added]).take(places)

    def posts_of(self, member: int) -> Longs:
        """The numbers of a member's posts, rising."""
        state = self.state
        mine = np.flatnonzero(column(state.overlay.added, "member") == member) + state.base.posts
        if member < state.base.members:
            first, end = state.base.array("statistics/first_posts")[member : member + 2]
            mine = np.concatenate([np.arange(first, end), mine])
        return mine[~state.gone(mine)]

    def author(self, members: NDArray[Any] | Sequence[int]) -> list[str]:
        """The names of members, as the posts have them."""
        asked, state = np.asarray(members, dtype=np.int64), self.state
        later = state.overlay.members.column("name").to_pylist()
        known = iter(state.base.authors.take(arrow_of(asked[asked < state.base.members])).to_pylist())
        return [
            str(next(known) if at < state.base.members else later[at - state.base.members]) for at in asked.tolist()
        ]

    def words(self, numbers: NDArray[Any] | Sequence[int]) -> list[str]:
        """The words of numbers."""
        return self.state.word_texts(np.asarray(numbers, dtype=np.int64))

    def word_numbers(self, words: Sequence[str]) -> Ints:
        """The numbers of words, -1 for those that no post ever held. Words are as the analyser gives them."""
        return self.state.find_words(words)

    def documents_of(self, words: NDArray[Any]) -> Longs:
        """In how many posts words stood when it was computed; 1 for those that came later."""
        found: Longs = self.state.reference.document_counts[words]
        return found

    def counts_of(self, words: NDArray[Any]) -> Longs:
        """How often words stood in the posts when it was computed; 1 for those that came later."""
        found: Longs = self.state.reference.term_counts[words]
        return found

    def terms_of(self, posts: NDArray[Any] | Sequence[int]) -> tuple[Longs, Ints, Ints]:
        """Words of posts and how often each stands there; those of post i from ``starts[i]`` to ``starts[i + 1]``."""
        return self.state.rows(np.asarray(posts, dtype=np.int64))

    def add(self, posts: pa.Table, *, room: Room | None = None, skip_taken: bool = False) -> Change:
        """Add posts (columns of POSTS), all of them or none; ``skip_taken`` those alone whose ids are new."""
        from aidos.rooms.exposure.queries import changes
        from aidos.rooms.exposure.queries.estimate import ROOM_FOR_CHANGES

        return self._changed(changes.add(self.path, posts, room=room or ROOM_FOR_CHANGES, skip_taken=skip_taken))

    def delete(self, post_ids: Sequence[str]) -> Change:
        """Delete posts, all of them or none; see `changes`."""
        from aidos.rooms.exposure.queries import changes

        return self._changed(changes.delete(self.path, post_ids))

    def _changed(self, change: Change) -> Change:
        self.facts, self.state = open_state(self.path)
        return change


PORTION = 2_000_000
"""Rows that are read before the members among them are given."""


def walk(state: State, portion: int = PORTION) -> Iterator[Exposures]:
    """Portions of exposures, by member; no member is in two of them."""
    added, reached = state.overlay.exposures, 0
    owners = column(added, "member")
    for table in _whole_members(state.base, portion):
        end = int(column(table, "member")[-1]) + 1
        begin, stop = np.searchsorted(owners, [reached, end]).tolist()
        reached = end
        given = pa.concat_tables([_unchanged(state, table), added.slice(begin, stop - begin)])
        if given.num_rows:
            yield exposures_of(given)
    rest = added.slice(int(np.searchsorted(owners, reached)))
    if rest.num_rows:
        yield exposures_of(rest)


def _whole_members(base: Base, portion: int) -> Iterator[pa.Table]:
    """Rows of the base, cut between members."""
    left: list[pa.Table] = []
    for partition in range(base.partitions):
        file = base.file(f"exposures/{partition:05d}")
        for begin in range(0, len(file), portion):
            table = pa.concat_tables([*left, file.read(begin, min(len(file), begin + portion))])
            members = column(table, "member")
            cut = int(np.searchsorted(members, members[-1]))
            left = [table.slice(cut)]
            if cut:
                yield table.slice(0, cut)
    if left and left[0].num_rows:
        yield left[0]


def _unchanged(state: State, table: pa.Table) -> pa.Table:
    """Without the rows of queries that were computed again."""
    if not len(state.changed):
        return table
    keys = query_keys(column(table, "first"), column(table, "second"))
    at = np.minimum(np.searchsorted(state.changed, keys), len(state.changed) - 1)
    return table.filter(pa.array(state.changed[at] != keys))


def exposures_of(table: pa.Table) -> Exposures:
    """The columns of `layout.EXPOSURE_COLUMNS` as a value."""
    return Exposures(
        members=column(table, "member"),
        posts=column(table, "post"),
        first=column(table, "first"),
        second=column(table, "second"),
        ranks=column(table, "rank").astype(np.int16),
        whole=column(table, "whole"),
        certain=column(table, "certain"),
        documents=column(table, "documents"),
        evenness=column(table, "evenness"),
    )
