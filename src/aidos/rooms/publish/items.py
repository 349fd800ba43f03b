"""What is counted: the items that each person contributed, each once.

An item is counted by the people who have it, not by how often it occurs (Götz et al. 2012), so a contribution is a
distinct pair of a person and an item. Persons and items are text, whatever their type in the log, and rows that lack
either are no contribution. Everything here looks at one person's rows at a time: that is what lets the mechanisms say
that a person changes her own contributions and nobody else's.

Not only logs: `table_contributions` takes any table with a column of persons and columns of items, and
`set_contributions` makes the sets of items that people have (baskets, diagnoses). Keywords and pairs are no more than a
log is long. Sets multiply: whoever makes them keeps at most `items_for_sets` items of each person first.

Nothing here is private, and nothing is bounded: see `aidos.rooms.publish.counts`.

What each person did, in order: queries asked, results clicked, one query after another. Everything here looks at one
person at a time. That is what makes the limits sound: no row of anybody else can change which of a person's actions are
kept.

An *asking* is one use of the search box. A row of the log starts one when it is no click, or when its query is another
than that of the row before (some logs have a row only for each click). A visit ends with a pause of more than 30
minutes, or where the log says so in ``session_id``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from types import MappingProxyType

from aidos.core.records import PAUSE_MINUTES
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.errors import ParameterError

__all__ = [
    "KINDS",
    "LARGEST_SET",
    "ItemKind",
    "askings",
    "contributions",
    "first_askings",
    "first_clicks",
    "first_transitions",
    "item_columns",
    "items_for_sets",
    "set_contributions",
    "table_contributions",
]

PERSON = "person"
RESERVED = frozenset({PERSON, "people", "row", "weight", "size"})
"""Columns that the steps of a release add."""
LARGEST_SET = 5
"""A person with n items has n^k / k! sets of size k; beyond this size nobody wants them all."""
MOST_SETS = 1000
"""Sets that are made of one person's items, unless more are kept of each person."""


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item of a search log."""

    name: str
    columns: tuple[str, ...]
    """The columns that make one item, as they are published."""
    needs: tuple[str, ...]
    """The columns of the log that it is made from."""
    about: str


KINDS: Mapping[str, ItemKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ItemKind("keywords", ("keyword",), ("user_query",), "a word of a query, as white space divides it"),
            ItemKind("queries", ("user_query",), ("user_query",), "a query"),
            ItemKind(
                "clicks", ("user_query", "object_id"), ("user_query", "object_id"), "a result clicked for a query"
            ),
            ItemKind(
                "pairs",
                ("user_query", "next_query"),
                ("user_query", "timestamp"),
                "a query and the next, another one, of the same person in the same session",
            ),
        )
    }
)


def contributions(log: Table, kind: ItemKind) -> Table:
    """The items of each person: columns person and those of the kind; distinct, and nothing runs yet.

    Sessions are those of ``session_id``; where it is missing, a pause of more than 30 minutes ends one. Rows of equal
    time are taken in the order of their queries, so that the order of the file does not matter.
    """
    known = log.columns
    _refuse_missing(known, ("client_id", *kind.needs))
    match kind.name:
        case "keywords":
            words = r"unnest(regexp_split_to_array(user_query, '\s+')) as keyword"
            made = log.select(f"select client_id, {words} from {{table}}").select(
                "select * from {table} where keyword <> ''"
            )
        case "clicks":
            clicked = "where coalesce(lower(action), 'click') = 'click'" if "action" in known else ""
            made = log.select(f"select client_id, user_query, object_id from {{table}} {clicked}")
        case "pairs":
            made = log.select(_pairs("session_id" if "session_id" in known else "cast(null as varchar)"))
        case _:
            made = log
    return table_contributions(made, "client_id", kind.columns)


def table_contributions(table: Table, person: str, columns: Sequence[str]) -> Table:
    """The items of each person in any table: columns person and ``columns``; distinct, and nothing runs yet."""
    if not columns:
        raise ParameterError("an item needs at least one column")
    if taken := sorted(RESERVED & set(columns)):
        raise ParameterError(f"items cannot have a column called {', '.join(taken)}", hint="rename it in the table")
    _refuse_missing(table.columns, (person, *columns))
    texts = ", ".join(f"cast({quote_name(name)} as varchar) as {quote_name(name)}" for name in columns)
    present = " and ".join(f"{quote_name(name)} is not null" for name in (person, *columns))
    return table.select(
        f"select distinct cast({quote_name(person)} as varchar) as {PERSON}, {texts} from {{table}} where {present}"
    )


def set_contributions(single: Table, largest: int) -> Table:
    """The sets of up to ``largest`` items of each person's contributions: columns person and items; nothing runs yet.

    The item is one column. A set is written as its items in order with " & " between; an ampersand of an item is
    doubled, so that two sets are never written alike.
    """
    if not 1 <= largest <= LARGEST_SET:
        raise ParameterError(f"sets have between 1 and {LARGEST_SET} items, got {largest}")
    (item,) = (quote_name(name) for name in item_columns(single))
    written = f"replace(n.{item}, '&', '&&')"
    grown = [single.select(f"select n.{PERSON}, n.{item} as last, {written} as items from {{table}} n")]
    for _ in range(largest - 1):
        grown.append(
            grown[-1].select(
                f"select s.{PERSON}, n.{item} as last, s.items || ' & ' || {written} as items "
                f"from {{table}} s join {single.name} n on n.{PERSON} = s.{PERSON} and n.{item} > s.last"
            )
        )
    every = " union all ".join(f"select {PERSON}, items from {sets.name}" for sets in grown)
    return single.select(every)


def items_for_sets(largest: int, kept: int) -> int:
    """How many items of a person sets are made from: the most that make `MOST_SETS`, and enough for ``kept`` sets.

    It depends on public numbers alone, so that no person can make the work long.
    """
    items = largest
    while _sets(items + 1, largest) <= MOST_SETS or _sets(items, largest) < kept:
        items += 1
    return items


def _sets(items: int, largest: int) -> int:
    return sum(comb(items, size) for size in range(1, largest + 1))


def item_columns(contributions: Table) -> tuple[str, ...]:
    """The columns of a table of contributions that make the item."""
    columns = tuple(contributions.columns)
    if columns[:1] != (PERSON,) or len(columns) < 2:
        raise ParameterError(
            f"contributions have a column {PERSON} and then those of the item",
            hint="make them with contributions(), table_contributions() or set_contributions()",
        )
    return columns[1:]


def _pairs(session: str) -> str:
    """Each row with the query of the next one in its session."""
    pause = f'epoch_us(lead("timestamp") over visit) - epoch_us("timestamp") > {PAUSE_MINUTES * 60_000_000}'
    return f"""
        select client_id, user_query, next_query from (
            select client_id, user_query, lead(user_query) over visit as next_query,
                session is null and {pause} as parted
            from (
                select client_id, user_query, "timestamp", {session} as session from {{table}}
                where user_query is not null and "timestamp" is not null
            )
            window visit as (partition by client_id, session order by "timestamp", user_query)
        ) where next_query <> user_query and not parted
    """


def _refuse_missing(known: Mapping[str, str], wanted: Sequence[str]) -> None:
    if missing := [name for name in wanted if name not in known]:
        raise ParameterError(f"the table has no column {', '.join(missing)}", hint=f"it has {', '.join(known)}")


def askings(columns: Collection[str]) -> str:
    """SQL over ``{table}``: client_id, place (1, 2, ... in the person's order), visit, user_query.

    ``columns`` are those that the log has; sessions and clicks may be missing.
    """
    session = "session_id" if "session_id" in columns else "cast(null as varchar)"
    clicked = "object_id" if "object_id" in columns else "cast(null as varchar)"
    return f"""
        select client_id, visit, user_query, row_number() over (partition by client_id order by row_place) as place
        from (
            select client_id, user_query, row_place,
                sum(if(new_visit, 1, 0)) over (partition by client_id order by row_place) as visit,
                new_visit or clicked is null or user_query is distinct from query_before as is_asking
            from (
                select client_id, user_query, clicked, row_number() over person as row_place,
                    lag(user_query) over person as query_before,
                    coalesce(
                        if(session is null and lag(session) over person is null,
                            epoch_us("timestamp") - epoch_us(lag("timestamp") over person)
                                > {PAUSE_MINUTES * 60_000_000},
                            session is distinct from lag(session) over person),
                        true) as new_visit
                from (select client_id, user_query, "timestamp", {session} as session, {clicked} as clicked
                    from {{table}} where client_id is not null and user_query is not null)
                window person as (partition by client_id order by "timestamp", user_query, clicked nulls first)
            )
        )
        where is_asking
    """


def first_askings(columns: Collection[str], allowed: str, limit: int) -> str:
    """SQL over a log: client_id, place, visit, user_query of the first so many askings of each person that are allowed.

    ``allowed`` is a condition on ``user_query``. It must depend on public facts alone where a promise rests on it.
    """
    return f"""
        select client_id, place, visit, user_query from ({askings(columns)}) where {allowed}
        qualify row_number() over (partition by client_id order by place) <= {limit}
    """


def first_transitions(limit: int) -> str:
    """SQL over askings: client_id, user_query, next_query of the first so many transitions of each person.

    Two askings make a transition when one directly follows the other in the whole log, within one visit, and the
    queries differ. So a person with n askings has at most n - 1.
    """
    return f"""
        select client_id, query_before as user_query, user_query as next_query
        from (
            select *, lag(user_query) over person as query_before, lag(place) over person as place_before,
                lag(visit) over person as visit_before
            from {{table}} window person as (partition by client_id order by place)
        )
        where place_before = place - 1 and visit_before = visit and query_before <> user_query
        qualify row_number() over (partition by client_id order by place) <= {limit}
    """


def first_clicks(columns: Collection[str], allowed: str, limit: int) -> str:
    """SQL over a log: client_id, user_query, object_id of the first so many clicks of each person that are allowed.

    ``allowed`` is a condition on ``user_query`` and ``object_id``, as in `first_askings`.
    """
    if "object_id" not in columns:
        return "select client_id, user_query, user_query as object_id from {table} where false"
    return f"""
        select client_id, user_query, object_id from {{table}}
        where client_id is not null and user_query is not null and object_id is not null and {allowed}
        qualify row_number() over (partition by client_id order by "timestamp", user_query, object_id) <= {limit}
    """
