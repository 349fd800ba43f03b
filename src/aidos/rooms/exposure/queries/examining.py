"""Looking posts through before anything is computed: whether they are posts, and every row can be used.

Rows that lack an author, a time, a text or an id of their own are refused with their number, since leaving them out
silently would be a wrong answer for somebody. The fingerprint recognises the same posts again, in whatever order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError, Problem

__all__ = ["Examined", "examine", "searched_text"]

LARGEST = 2**31 - 1
NEEDED = ("post_id", "author_id", "timestamp", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What is known of a table of posts that can be used."""

    posts: int
    fingerprint: str
    """The same for the same posts in any order."""


def examine(table: EmbeddedTable) -> Examined:
    """Look the posts through, and refuse what is no table of posts or has rows that cannot be used."""
    columns = table.columns
    if missing := [name for name in NEEDED if name not in columns]:
        if "user_query" in columns:
            raise InputError(
                f"this is a {SEARCH_LOG.title}, not a table of {POSTS.title}",
                hint="exposure is computed from what people posted: give post_id, author_id, timestamp, text",
            )
        raise InputError(
            f"the posts have no column {' and no column '.join(missing)}",
            hint=f"say which columns hold them; there are {', '.join(columns)}",
        )
    cells = (
        "post_id",
        "author_id",
        'cast(epoch_us(cast("timestamp" as timestamp)) as varchar)',
        searched_text(columns),
    )
    joined = " || ".join(f"length({cell}) || ' ' || {cell}" for cell in cells)
    title = "coalesce(title, '') = '' and " if "title" in columns else ""
    lacking = {"timestamp": '"timestamp" is null', "text": f"{title}text is null"}
    lacking |= {name: f"{name} is null or {name} = ''" for name in ("post_id", "author_id")}
    counts = ", ".join(f"count(*) filter (where {test})" for test in lacking.values())
    found = table.rows(
        f"select count(*), count(distinct post_id), sum(md5_number_lower({joined})), {counts} from {{table}}",
        label="looking the posts through",
    )[0]
    posts, distinct, total, *bad = (int(str(value or 0)) for value in found)
    _complain(posts, distinct, dict(zip(lacking, bad, strict=True)))
    return Examined(posts=posts, fingerprint=f"{posts}-{total:x}")


def searched_text(columns: Mapping[str, str]) -> str:
    """SQL for what is searched of a post: its title, where it has one of its own, and its text."""
    if "title" not in columns:
        return "text"
    joined = "coalesce(title || ' ' || text, title)"
    return f"if(coalesce(title, '') in ('', text), text, {joined})"


def _complain(posts: int, distinct: int, lacking: dict[str, int]) -> None:
    if not posts:
        raise InputError("there are no posts", hint="name a file with posts in it")
    problems = [
        Problem(
            kind=f"missing-{name}",
            file="posts",
            sentence=f"{number:,} of {posts:,} posts have no {name}",
            remedy=f"leave them out, or say which column holds {name}",
            column=name,
            count=number,
        )
        for name, number in lacking.items()
        if number
    ]
    if not problems and distinct < posts:
        problems = [
            Problem(
                kind="duplicate-id",
                file="posts",
                sentence=f"{posts - distinct:,} of {posts:,} posts have the post_id of another one",
                remedy="give every post an id of its own, or leave the repeated ones out",
                column="post_id",
                count=posts - distinct,
            )
        ]
    if problems:
        sentences = "; ".join(problem.sentence for problem in problems)
        raise InputError(sentences, hint=problems[0].remedy, problems=problems)
    if posts > LARGEST:
        raise InputError(f"there are {posts:,} posts, more than {LARGEST:,}", hint="compute parts of the community")
