"""Search exposure for people: what is looked up becomes a story, with words instead of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from aidos.model.text.analyser import Analyser
from aidos.model.text.excerpts import excerpt
from aidos.report.values import Value, fit
from aidos.rooms.exposure.critical.community import Community, Drafted
from aidos.rooms.exposure.critical.lambdarank import TreeModel
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.rank import Ranked, Reasons, rank_member
from aidos.rooms.exposure.memberpage import CriticalQuery, MemberStory, PostRemedy
from aidos.rooms.exposure.queries.answers import Answer
from aidos.rooms.exposure.queries.overlay import query_keys
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.remedies import Remedy, remedies, rewordings
from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = [
    "DRAFT_COLUMNS",
    "MEMBER_COLUMNS",
    "QUERY_COLUMNS",
    "Drafting",
    "answer_rows",
    "critical_rows",
    "critical_values",
    "look_up_draft",
    "look_up_member",
]

MEMBER_COLUMNS = ("query", "rank", "match", "ties", "why", "what would help")
QUERY_COLUMNS = ("rank", "post", "member", "match", "ties")
DRAFT_COLUMNS = ("query", "rank", "match", "ties", "why")
BEGINNING = 60
ABOUT = "the query has a word about "
WITHOUT = "the query has no word about "
"""What a query lacks is no reason that helps anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """What a draft would be found by."""

    queries: int
    whole: int
    certain: int
    rows: Sequence[tuple[Value, ...]]
    """The most critical, under DRAFT_COLUMNS."""


def look_up_member(
    store: ExposureStore, author_id: str, model: CriticalityModel | TreeModel, *, top: int, raw: bool, command: str
) -> MemberStory:
    """Everything a member's page tells."""
    rows = store.member(store.member_number(author_id))
    ranked = rank_member(store, rows, model, top=top, clean=not raw, partial=raw)
    helps = remedies(store, ranked.rows)
    return MemberStory(
        member=author_id,
        k=store.settings.k,
        exposures=len(rows),
        queries=len(np.unique(query_keys(rows.first, rows.second))),
        posts=len(np.unique(rows.posts)),
        sure=int(rows.certain.sum()),
        ranked=ranked.queries,
        dropped=tuple(sorted(ranked.dropped.items(), key=lambda pair: -pair[1])),
        critical=tuple(_critical(store, ranked, helps)),
        remedies=tuple(_post_remedies(store, ranked.rows, helps)),
        model=f"trained on {model.trained_on}" if model.trained_on else "of your own",
        command=command,
    )


def critical_rows(story: MemberStory) -> list[tuple[Value, ...]]:
    """The most critical queries under MEMBER_COLUMNS."""
    return [
        (
            each.query,
            each.rank,
            _match(whole=each.whole),
            _ties(certain=each.certain),
            "; ".join(each.reasons),
            " ".join(each.helps[:1]),
        )
        for each in story.critical
    ]


def critical_values(story: MemberStory, page: Path | None) -> dict[str, object]:
    """The same for machines."""
    told = asdict(story)
    told["page"] = None if page is None else str(page)
    return told


def answer_rows(store: ExposureStore, answer: Answer) -> list[tuple[Value, ...]]:
    """The results of a query under QUERY_COLUMNS."""
    posts = store.posts(answer.posts)
    ids: list[str] = posts.column("post_id").to_pylist()  # type: ignore[assignment]
    authors = store.author(posts.column("member").to_numpy())
    marks = zip(answer.whole.tolist(), answer.certain.tolist(), strict=True)
    return [
        (rank, post, author, _match(whole=whole), _ties(certain=certain))
        for rank, post, author, (whole, certain) in zip(answer.ranks.tolist(), ids, authors, marks, strict=True)
    ]


def look_up_draft(
    store: ExposureStore, text: str, author: str | None, model: CriticalityModel | TreeModel, *, top: int
) -> Drafting:
    """By which queries a draft would be found; partial matches come behind, since they say less."""
    member = None if author is None else store.member_number(author)
    found = store.draft(text, member=member, when=datetime.now(UTC))
    view = Drafted(store, text)
    ranked = rank_member(view, found, model, top=top, rows_per_post=None)
    if not len(ranked) and len(found):
        ranked = rank_member(view, found, model, top=top, rows_per_post=None, clean=False, partial=True)
    queries = _texts(view, ranked.rows)
    rows = [
        (
            query,
            int(ranked.rows.ranks[place]),
            _match(whole=bool(ranked.rows.whole[place])),
            _ties(certain=bool(ranked.rows.certain[place])),
            "; ".join(_reasons(ranked.reasons[place])),
        )
        for place, query in enumerate(queries)
    ]
    return Drafting(queries=len(found), whole=int(found.whole.sum()), certain=int(found.certain.sum()), rows=rows)


def _critical(store: ExposureStore, ranked: Ranked, helps: Sequence[Remedy]) -> list[CriticalQuery]:
    """The ranked rows with their posts, reasons and remedies."""
    rows, analyser = ranked.rows, Analyser.parse(store.settings.analyser)
    posts = store.posts(rows.posts)
    texts, times = posts.column("text").to_pylist(), posts.column("timestamp").to_pylist()
    told = []
    for place, query in enumerate(_texts(store, rows)):
        words = query.split()
        told.append(
            CriticalQuery(
                query=query,
                rank=int(rows.ranks[place]),
                whole=bool(rows.whole[place]),
                certain=bool(rows.certain[place]),
                holders=int(rows.documents[place]),
                quotation=excerpt(str(texts[place]), analyser, words),
                when=_day(times[place]),
                reasons=_reasons(ranked.reasons[place]),
                helps=_helps(helps[place], words, store.settings.k),
            )
        )
    return told


def _reasons(found: Reasons) -> tuple[str, ...]:
    """Why it stands there; what the words are about is told in one phrase."""
    topics = [reason.words.removeprefix(ABOUT) for reason in found.up if reason.words.startswith(ABOUT)]
    others = [reason.words for reason in found.up if not reason.words.startswith((ABOUT, WITHOUT))]
    return (*others, *([ABOUT + ", ".join(topics)] if topics else []))


def _helps(remedy: Remedy, words: Sequence[str], k: int) -> tuple[str, ...]:
    """What would lower the rank, the best first."""
    changed = zip(words, (remedy.without_first, remedy.without_second), strict=False)
    ordered = sorted(changed, key=lambda pair: -(pair[1] or k + 1))
    told = [
        f"Another word for {word} takes the post out of the first {k}."
        if rank is None
        else f"Another word for {word} moves the post to rank {rank}."
        for word, rank in ordered
        if rank != remedy.rank
    ]
    return (*told, "Deleting the post, or showing it to fewer people, ends it.")


def _post_remedies(store: ExposureStore, rows: Exposures, helps: Sequence[Remedy]) -> list[PostRemedy]:
    found = sorted(rewordings(rows, helps), key=lambda each: (-each.rows, each.post))
    posts = store.posts(np.array([each.post for each in found], dtype=np.int64))
    texts, times = posts.column("text").to_pylist(), posts.column("timestamp").to_pylist()
    words = store.words(np.array([each.word for each in found], dtype=np.int64))
    return [
        PostRemedy(
            post=fit(str(text), BEGINNING),
            when=_day(time),
            listed=each.rows,
            word=word if each.removed else "",
            ended=each.removed,
        )
        for each, text, time, word in zip(found, texts, times, words, strict=True)
    ]


def _texts(store: Community, rows: Exposures) -> list[str]:
    """The queries of rows as text."""
    numbers = np.unique(np.concatenate([rows.first, rows.second]))
    numbers = numbers[numbers != NO_WORD]
    spelled = {NO_WORD: "", **dict(zip(numbers.tolist(), store.words(numbers), strict=True))}
    pairs = zip(rows.first.tolist(), rows.second.tolist(), strict=True)
    return [f"{spelled[first]} {spelled[second]}".strip() for first, second in pairs]


def _match(*, whole: bool) -> str:
    return "whole" if whole else "partial"


def _ties(*, certain: bool) -> str:
    return "certain" if certain else "tie"


def _day(time: object) -> str:
    return f"{time:%Y-%m-%d}" if isinstance(time, datetime) else ""
