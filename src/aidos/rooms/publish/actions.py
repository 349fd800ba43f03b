"""What each person did, in order: queries asked, results clicked, one query after another.

Everything here looks at one person at a time. That is what makes the limits sound: no row of anybody else can change
which of a person's actions are kept.

An *asking* is one use of the search box. A row of the log starts one when it is no click, or when its query is another
than that of the row before (some logs have a row only for each click). A visit ends with a pause of more than 30
minutes, or where the log says so in ``session_id``.
"""

from __future__ import annotations

from collections.abc import Collection

from aidos.core.records import PAUSE_MINUTES

__all__ = ["askings", "first_askings", "first_clicks", "first_transitions"]


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
