"""Posts on their way into an exposure directory: checked, read, numbered, and placed among equals.

All problems are told at once and by counts, never by content. New posts are numbered behind all others, by author, time
and id; new members behind all members, by name; new words behind all words, in the order in which they come.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError, Problem
from aidos.model.retrieval.kernels.postings import count_terms
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.exposure.queries.collection import cut_texts
from aidos.rooms.exposure.queries.ground import column
from aidos.rooms.exposure.queries.layout import BETWEEN
from aidos.rooms.exposure.queries.overlay import ADDED, lists_of
from aidos.rooms.exposure.queries.state import State

__all__ = ["Additions", "find_posts", "read_additions", "refuse_without_language"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
EMPTY = pa.scalar("", pa.large_string())
NEEDED = ("post_id", "author_id", "timestamp", "text")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Additions:
    """What is new."""

    posts: pa.Table
    """See `ADDED`."""
    members: list[str]
    words: list[str]
    cut_posts: int


def read_additions(state: State, table: pa.Table, *, skip_taken: bool = False) -> Additions:
    """Read new posts; refused as a whole when one of them cannot be used. Those that are there may be left out."""
    posts = _readable(table)
    if skip_taken:
        posts = posts.filter(pa.array(find_posts(state, _strings(posts, "post_id")) < 0))
    _refuse_bad_rows(state, posts)
    posts = posts.sort_by([("author_id", "ascending"), ("timestamp", "ascending"), ("post_id", "ascending")])
    texts, cut_posts = cut_texts(_strings(posts, "text"), state.analyser, state.settings.longest_post)
    members, new_members = _numbered_members(state, posts.column("author_id"))
    rows, new_words = _rows(state, texts)
    refuse_without_language(state, new_words)
    times = posts.column("timestamp").cast(pa.int64())
    columns = {
        "post_id": posts.column("post_id"),
        "member": pa.array(members),
        "timestamp": times,
        "text": texts,
        "gone": pa.array(np.zeros(len(posts), dtype=np.bool_)),
        "gap": pa.array(_gaps(state, times.to_numpy(), _names(posts.column("post_id")))),
        **rows,
    }
    made = pa.table([columns[name] for name in ADDED.names], schema=ADDED)
    return Additions(posts=made, members=new_members, words=new_words, cut_posts=cut_posts)


def find_posts(state: State, post_ids: pa.LargeStringArray) -> Longs:
    """The numbers of posts by their ids, -1 where there is none, or none any more."""
    found = np.full(len(post_ids), -1, dtype=np.int64)
    # The ids asked for make the table, the many others run past it.
    asked = pc.index_in(state.base.post_ids, value_set=post_ids)
    there = np.flatnonzero(asked.is_valid())
    found[asked.take(there).to_numpy()] = there
    found[(found >= 0) & state.gone(np.maximum(found, 0))] = -1
    # An id that was deleted may have been given again.
    later = {name: at for at, name in enumerate(state.overlay.added.column("post_id").to_pylist())}
    gone = column(state.overlay.added, "gone")
    for place in np.flatnonzero(found < 0).tolist():
        at = later.get(post_ids[place].as_py(), -1)
        if at >= 0 and not gone[at]:
            found[place] = state.base.posts + at
    return found


def refuse_without_language(state: State, words: Sequence[str]) -> None:
    """Scores are pinned to the words that were there; where there were none, nothing can be scored."""
    if words and not state.reference.tokens:
        raise InputError(
            "no post held a word when the exposure was computed, so nothing can be compared with it",
            hint="compute it again with the new posts",
        )


def _readable(table: pa.Table) -> pa.Table:
    if missing := [name for name in NEEDED if name not in table.column_names]:
        raise InputError(
            f"the posts have no column {' and no column '.join(missing)}",
            hint=f"say which columns hold them; there are {', '.join(table.column_names)}",
        )
    try:
        strings = {name: table.column(name).cast(pa.large_string()) for name in ("post_id", "author_id", "text")}
        if "title" in table.column_names:
            title: Any = pc.fill_null(table.column("title").cast(pa.large_string()), EMPTY)
            joined: Any = pc.binary_join_element_wise(title, strings["text"], pa.scalar(" ", pa.large_string()))
            alone: Any = pc.or_(pc.equal(title, EMPTY), pc.equal(title, strings["text"]))
            titled: Any = pc.if_else(pc.equal(title, EMPTY), strings["text"], title)
            strings["text"] = pc.if_else(pc.fill_null(alone, False), strings["text"], pc.coalesce(joined, titled))
        times = table.column("timestamp").cast(pa.timestamp("us"))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            "the posts have a column of the wrong kind", hint="ids and texts are strings, timestamps are times"
        ) from error
    return pa.table({**strings, "timestamp": times})


def _refuse_bad_rows(state: State, posts: pa.Table) -> None:
    ids = _strings(posts, "post_id")
    empty = {name: posts.column(name).null_count for name in ("timestamp", "text")}
    for name in ("post_id", "author_id"):
        empty[name] = sum(not value for value in posts.column(name).to_pylist())
    found = [
        (f"missing-{name}", name, count, f"have no {name}", f"leave them out, or say which column holds {name}")
        for name, count in empty.items()
    ]
    if not empty["post_id"]:
        repeated = len(ids) - len(ids.unique())
        taken = int(np.count_nonzero(find_posts(state, ids) >= 0))
        remedy = "leave out what is there already; to replace a post, delete it first"
        found.append(("duplicate-id", "post_id", repeated, "have the post_id of another one", remedy))
        found.append(("taken-id", "post_id", taken, "have a post_id that is there already", remedy))
    problems = [
        Problem(
            kind=kind,
            file="posts",
            sentence=f"{count:,} of {len(ids):,} posts {what}",
            remedy=remedy,
            column=name,
            count=count,
        )
        for kind, name, count, what, remedy in found
        if count
    ]
    if problems:
        told = "; ".join(problem.sentence for problem in problems)
        raise InputError(f"{told}; nothing was added", hint=problems[0].remedy, problems=problems)


def _numbered_members(state: State, authors: pa.ChunkedArray[Any]) -> tuple[Ints, list[str]]:
    names = sorted(set(_names(authors)))
    wanted = pa.array(names, type=pa.large_string())
    known = pc.index_in(wanted, value_set=state.base.authors.cast(pa.large_string())).to_pylist()
    later = {name: state.base.members + at for at, name in enumerate(_names(state.overlay.members.column("name")))}
    new = [name for name, number in zip(names, known, strict=True) if number is None and name not in later]
    later |= {name: state.members + at for at, name in enumerate(new)}
    numbers = {name: later[name] if number is None else number for name, number in zip(names, known, strict=True)}
    return np.array([numbers[name] for name in _names(authors)], dtype=np.int32), new


def _rows(state: State, texts: pa.Array[Any]) -> tuple[dict[str, pa.Array[Any]], list[str]]:
    """The words of texts by term, counted; a new word's term is its number."""
    own = Vocabulary()
    found = analyse(texts, own, analyser=state.analyser)
    starts, often = np.zeros_like(found.starts), np.empty_like(found.terms)
    count_terms(found.terms, found.starts, np.zeros(len(own), dtype=np.int64), starts, often)
    words = list(own)
    numbers = state.find_words(words)
    new = [word for word, number in zip(words, numbers, strict=True) if number < 0]
    terms = np.empty(len(words), dtype=np.int32)
    terms[numbers >= 0] = state.terms(numbers[numbers >= 0])
    terms[numbers < 0] = state.words + np.arange(len(new), dtype=np.int32)
    size = int(starts[-1])
    return {
        "length": pa.array(np.diff(found.starts).astype(np.int32)),
        "terms": lists_of(starts, terms[found.terms[:size]]),
        "frequencies": lists_of(starts, often[:size]),
    }, new


def _strings(table: pa.Table, name: str) -> pa.LargeStringArray:
    return cast("pa.LargeStringArray", table.column(name).combine_chunks())


def _names(strings: pa.ChunkedArray[Any]) -> list[str]:
    return [str(name) for name in strings.to_pylist()]


def _gaps(state: State, times: Longs, ids: list[str]) -> Longs:
    """How many posts of the base come before each post among equals."""
    base, ties = state.base, state.settings.ties
    precedence = base.array("statistics/precedence")
    turn = np.empty(len(precedence), dtype=np.int64)
    turn[precedence >> BETWEEN] = np.arange(len(precedence))
    lows, highs = np.zeros(len(times), dtype=np.int64), np.full(len(times), len(turn))
    if ties != "id":
        sign = -1 if ties == "newest" else 1
        sorted_times = sign * base.array("statistics/timestamps")[turn]
        lows = np.searchsorted(sorted_times, sign * times)
        highs = np.searchsorted(sorted_times, sign * times, side="right")
    names = base.post_ids
    places = zip(lows.tolist(), highs.tolist(), ids, strict=True)
    found = [bisect_left(turn, name, low, high, key=lambda post: str(names[int(post)])) for low, high, name in places]
    return np.array(found, dtype=np.int64)
