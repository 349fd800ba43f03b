"""Adding and deleting posts: only the queries that are affected are computed again, and the result is exact.

A post changes the queries of its own words: each of them alone, and each pair it holds. When it comes to the best posts
of a word under the score of a two-word query, or leaves them, it may also change every pair of that word, as a partial
match. Those queries are computed as they were and as they are, and what differs is kept as the next generation (see
`overlay`). Scores stay pinned to the statistics of the last full computation, so the result is that of computing all
again with these statistics; how far the collection has moved from them, a store tells (`ExposureStore.drift`).

A change is whole or not made at all, whatever happens meanwhile: the manifest is replaced last, in one step. One writer
at a time; a second one is told so at once. Deleting hides a post from every look-up, but the words of a post that was
there at the last full computation stay in the files until the next one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.engine.files import sweep_leftovers
from aidos.errors import InputError, Problem
from aidos.rooms.exposure.queries.additions import find_posts, read_additions
from aidos.rooms.exposure.queries.estimate import ROOM_FOR_CHANGES, Room, estimate_change
from aidos.rooms.exposure.queries.ground import column
from aidos.rooms.exposure.queries.kernels.live import list_pairs
from aidos.rooms.exposure.queries.live import Wanted, pair_lists, term_lists
from aidos.rooms.exposure.queries.manifest import RENEWED, Facts, alone, write
from aidos.rooms.exposure.queries.overlay import (
    CHANGES,
    SINGLES,
    Overlay,
    lists_of,
    remove_other_generations,
    write_overlay,
)
from aidos.rooms.exposure.queries.recomputed import Recomputed, differing
from aidos.rooms.exposure.queries.records import Lists
from aidos.rooms.exposure.queries.state import State, open_state

__all__ = ["Change", "add", "delete"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Rows = tuple[Longs, Ints, Ints]
"""Where the words of each post begin, their terms, and how often each stands there."""

TOGETHER = 256
"""Words whose pairs are computed before anything is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an addition or a deletion did."""

    posts: int
    """Posts added or deleted."""
    queries: int
    """Queries whose results, or what is told of them, changed."""
    exposures_before: int
    """Rows of these queries before."""
    exposures_after: int
    """Rows of these queries now."""
    hidden: int = 0
    """Deleted posts whose text and words stay in the files until the next full computation."""


def add(path: Path, posts: pa.Table, *, room: Room = ROOM_FOR_CHANGES, skip_taken: bool = False) -> Change:
    """Add posts with the columns of POSTS; all of them (or all that are new) or, when one is refused, none."""
    with alone(path):
        facts, state = _open(path)
        new = read_additions(state, posts, skip_taken=skip_taken)
        if not new.posts.num_rows:
            return Change(posts=0, queries=0, exposures_before=0, exposures_after=0)
        old = state.overlay
        tokens = old.tokens + int(column(new.posts, "length").sum())
        overlay = replace(
            old,
            added=pa.concat_tables([old.added, new.posts]).combine_chunks(),
            members=_with_names(old.members, new.members),
            words=_with_names(old.words, new.words),
            counts=_counts(old, tokens, old.cut_posts + new.cut_posts),
        )
        numbers = np.arange(state.posts, state.posts + new.posts.num_rows)
        later = State(state.base, overlay)
        rows = later.rows_by_term(numbers)
        room.require(path, estimate_change(np.diff(rows[0]), facts.settings))
        return _change(path, facts, (state, later), rows, len(numbers))


def delete(path: Path, post_ids: Sequence[str]) -> Change:
    """Delete posts by their ids; all of them or, when one is not there, none. An id named twice counts once."""
    with alone(path):
        facts, state = _open(path)
        ids = pa.array(list(dict.fromkeys(post_ids)), type=pa.large_string())
        numbers = find_posts(state, ids)
        if unknown := int(np.count_nonzero(numbers < 0)):
            problem = Problem(
                kind="unknown-id",
                file="posts",
                sentence=f"{unknown:,} of {len(ids):,} posts to delete are not there",
                remedy="name posts by the post_id they have, and only those that are not deleted yet",
                column="post_id",
                count=unknown,
            )
            raise InputError(f"{problem.sentence}; nothing was deleted", hint=problem.remedy, problems=[problem])
        if not len(numbers):
            return Change(posts=0, queries=0, exposures_before=0, exposures_after=0)
        rows = state.rows_by_term(numbers)
        later = State(state.base, _without(state, numbers, int(rows[2].sum())))
        change = _change(path, facts, (state, later), rows, -len(numbers))
        return replace(change, hidden=int(np.count_nonzero(numbers < state.base.posts)))


def _open(path: Path) -> tuple[Facts, State]:
    """The state; what a change that was cut off wrote is gone before, also where this one is refused."""
    facts, state = open_state(path, held=True)
    shutil.rmtree(path / RENEWED, ignore_errors=True)  # of a run that forgets and was stopped before it was done
    sweep_leftovers(path, inside=True, blank=True)
    remove_other_generations(path, facts.generation)
    return facts, state


def _change(path: Path, facts: Facts, states: tuple[State, State], rows: Rows, posts: int) -> Change:
    """Compute what is affected by posts with these rows, before and after, and write it as the next generation."""
    state, later = states
    terms = np.unique(rows[1])
    ones, twos = (term_lists(later.ground, terms, words=words) for words in (1, 2))
    moved = _moved(state, terms, twos)
    later = State(later.base, replace(later.overlay, singles=_with_singles(later, terms, ones, twos)))
    before = replace(later.ground, shards=state.ground.shards)
    parts = [differing(later, term_lists(before, terms), ones)]
    for wanted, done in _wanted(later, rows, terms[moved] if not later.ground.both_only else terms[:0]):
        old = _joined(pair_lists(before, wanted, state.singles.twos), done)
        new = _joined(pair_lists(later.ground, wanted, later.singles.twos), done)
        parts.append(differing(later, old, new))
    found = Recomputed.concatenate(parts)
    overlay = found.laid_over(later.overlay)
    now = replace(
        facts,
        generation=facts.generation + 1,
        posts=facts.posts + posts,
        members=later.members,
        words=later.words,
        queries=facts.queries + found.created - found.vanished,
        exposures=facts.exposures + found.exposures.num_rows - found.rows_before,
        cut_posts=overlay.cut_posts,
    )
    kept = {name: file for name, file in facts.files.items() if not name.startswith(f"{CHANGES}/")}
    files = {**kept, **write_overlay(path, now.generation, overlay)}
    write(path, replace(now, files=files))
    remove_other_generations(path, now.generation)
    return Change(
        posts=abs(posts),
        queries=len(found),
        exposures_before=found.rows_before,
        exposures_after=found.exposures.num_rows,
    )


def _wanted(later: State, rows: Rows, moved: Ints) -> Iterator[tuple[list[Wanted], Ints]]:
    """The pairs to compute: all of words whose best posts moved, and those that the changed posts hold.

    With them come words whose pairs have been computed already.
    """
    starts, terms, _ = rows
    sizes = np.diff(starts)
    keys = np.empty(int((sizes * (sizes - 1) // 2).sum()), dtype=np.int64)
    distinct, places = np.unique(terms, return_inverse=True)
    spread = np.array([later.ground.spread(term) for term in distinct.tolist()], dtype=np.int64)
    list_pairs(starts, terms, spread[places], keys)
    keys = np.unique(keys)
    rarer, other = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    left = ~(np.isin(rarer, moved) | np.isin(other, moved))
    scanned, begins = np.unique(rarer[left], return_index=True)
    pieces = np.split(other[left], begins[1:])
    for at, term in enumerate(moved.tolist()):
        yield [(term, None)], moved[:at]
    listed: list[Wanted] = list(zip(scanned.tolist(), pieces, strict=False))
    for at in range(0, len(listed), TOGETHER):
        yield listed[at : at + TOGETHER], moved


def _joined(parts: list[Lists], done: Ints) -> Lists:
    lists = Lists.concatenate(parts)
    return lists.take(np.flatnonzero(~np.isin(lists.others, done)))


def _moved(state: State, terms: Ints, twos: Lists) -> NDArray[np.bool_]:
    """Whether the best posts of words are others than before."""
    old = state.singles.twos(terms)
    same: NDArray[np.bool_] = np.diff(old.starts) == np.diff(twos.starts)
    for at in np.flatnonzero(same).tolist():
        mine, theirs = slice(*old.starts[at : at + 2]), slice(*twos.starts[at : at + 2])
        same[at] = np.array_equal(old.posts[mine], twos.posts[theirs])
    return ~same


def _with_singles(later: State, terms: Ints, ones: Lists, twos: Lists) -> pa.Table:
    """The table of best posts with those of some words replaced."""
    words, room = later.word_numbers(terms), later.settings.k + 1
    starts = np.arange(len(words) + 1, dtype=np.int64) * room
    columns: list[pa.Array[Any]] = [pa.array(words)]
    for lists in (ones, twos):
        for values, nothing in ((lists.posts, -1), (lists.scores, 0.0)):
            padded = np.full((len(words), room), nothing, dtype=values.dtype)
            padded[np.arange(room) < np.diff(lists.starts)[:, None]] = values
            columns.append(lists_of(starts, padded.ravel()))
    old = later.overlay.singles
    kept = old.filter(pc.invert(pc.is_in(old.column("word"), value_set=columns[0])))
    return pa.concat_tables([kept, pa.table(columns, schema=SINGLES)]).sort_by("word").combine_chunks()


def _without(state: State, numbers: Longs, tokens: int) -> Overlay:
    """The overlay without posts; nothing is kept of those that were added."""
    old, base = state.overlay, state.base.posts
    deleted = np.union1d(state.deleted, numbers[numbers < base]).astype(np.int32)
    gone = column(old.added, "gone").copy()
    gone[numbers[numbers >= base] - base] = True
    keep = pa.array(~gone)
    added = old.added.set_column(old.added.column_names.index("gone"), "gone", pa.array(gone))
    for name, nothing in (("text", ""), ("post_id", ""), ("terms", []), ("frequencies", []), ("length", 0)):
        at = added.column_names.index(name)
        blank = pa.array([nothing] * len(gone), type=added.schema.field(name).type)
        added = added.set_column(at, name, pc.if_else(keep, added.column(name), blank))
    return replace(
        old,
        added=added.combine_chunks(),
        deleted=pa.table([deleted], schema=old.deleted.schema),
        counts=_counts(old, old.tokens - tokens, old.cut_posts),
    )


def _with_names(table: pa.Table, names: list[str]) -> pa.Table:
    return pa.concat_tables([table, pa.table([names], schema=table.schema)]).combine_chunks()


def _counts(old: Overlay, tokens: int, cut_posts: int) -> pa.Table:
    return pa.table([[tokens], [cut_posts]], schema=old.counts.schema)
