"""What counts as one query of a search log: a query, with the clicks that came of it.

Where a log names its queries (``query_id``), rows of one name are one entry. Where it does not, as in the layout of the
AOL log, a row for every click repeats the query: rows of one person and one text at the same time are one entry, and a
click belongs to the entry before it if that is not older than half an hour, the usual end of a session. The same query
asked again at another time, without a click, is an entry of its own.
"""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["searches"]

SESSION = 30 * 60
"""Seconds after which a click is no longer of the query before it."""


def searches(columns: Collection[str]) -> str:
    """SQL over ``{table}``, a log with these columns: person, text, time in microseconds, and id (empty without)."""
    own = "coalesce(cast(query_id as varchar), '')" if "query_id" in columns else "''"
    time = 'epoch_us("timestamp")' if "timestamp" in columns else "cast(null as bigint)"
    clicked = "coalesce(cast(object_id as varchar), '') <> ''" if "object_id" in columns else "false"
    rows = f"select cast(client_id as varchar) as person, user_query as text, {own} as id, {time} as time, "
    gap = "time - lag(time) over same"
    begins = (
        f"case when id <> '' or time is null or {gap} = 0 or (clicked and {gap} <= {SESSION} * 1000000) "
        "then 0 else 1 end"
    )
    return (
        "select person, text, min(time) as time, id from (select *, sum(begins) over same as turn from ("
        f"select *, {begins} as begins from ({rows}{clicked} as clicked from {{table}}) "
        "window same as (partition by person, text, id order by time, clicked)) "
        "window same as (partition by person, text, id order by time, clicked rows unbounded preceding)) "
        "group by person, text, id, turn"
    )
