"""Entries that were counted before: left out when they come again, and refused when they come changed.

An entry is known by its name (see `aidos.app.risk.entries`). One that comes with the same person, time and text is the
same, however often it comes; with another one of these, somebody changed it or gave its name away, and nobody here can
tell which of the two is right. Entries without a name are all different.
"""

from __future__ import annotations

from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError

__all__ = ["leave_out_repeats"]

PARTS = {
    "the person": "author_id",
    "the time": "timestamp",
    "the text": "concat_ws(chr(31), coalesce(title, ''), text)",
}


def leave_out_repeats(entries: EmbeddedTable, known: EmbeddedTable | None = None) -> EmbeddedTable:
    """The entries that are not among the known ones, each once."""
    _refuse_changed(entries, known)
    columns = ", ".join(entries.columns)
    old = f"select known_by from {known.name} where known_by is not null" if known else ""
    other = f"and known_by not in ({old})" if old else ""
    # Texts are large: only those that come twice are put side by side.
    twice = _twice(f"select known_by from {entries.name}")
    once = "row_number() over (partition by known_by)"
    return entries.select(
        f"select {columns} from {{table}} where known_by is null or (known_by not in ({twice}) {other}) union all "
        f"select {columns} from (select *, {once} as again from {{table}} where known_by in ({twice}) {other}) "
        "where again = 1"
    )


def _twice(names: str) -> str:
    """SQL for the names that are more than once among these."""
    return f"select known_by from ({names}) where known_by is not null group by known_by having count(*) > 1"


def _refuse_changed(entries: EmbeddedTable, known: EmbeddedTable | None) -> None:
    columns = "known_by, author_id, timestamp, title, text"
    old = f" union all select {columns} from {known.name}" if known else ""
    both = f"select {columns} from {entries.name}{old}"
    own = f"select known_by from {entries.name} where known_by is not null"
    differ = ", ".join(
        f"sum((count(distinct {part}) + max(({part} is null)::int) > 1)::int) over ()" for part in PARTS.values()
    )
    found = entries.rows(
        f"select count(*) over (), {differ} from ({both}) where known_by in ({own}) "
        f"and known_by in ({_twice(f'select known_by from ({both})')}) "
        f"group by known_by having count(distinct (author_id, timestamp, {PARTS['the text']})) > 1 limit 1"
    )
    if found:
        changed, *counts = (int(str(value)) for value in found[0])
        what = " or ".join(name for name, count in zip(PARTS, counts, strict=True) if count)
        raise InputError(
            f"{changed:,} {'entry comes' if changed == 1 else 'entries come'} twice under the same name, "
            f"but {what} is not the same",
            hint="give every post a name (post_id) of its own; one that was changed must be forgotten first: "
            "aidos risk forget --post NAME --in DIR",
        )
