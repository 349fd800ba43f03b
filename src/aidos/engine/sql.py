"""Queries over the tables of the house, one function each; ``{table}`` stands for the table they are asked of."""

from __future__ import annotations

__all__ = ["sessions_by_column", "sessions_by_gap"]


def sessions_by_gap(minutes: float) -> str:
    """A search log whose sessions end with a pause of more than so many minutes; ids are person and number."""
    pause = f'epoch_us("timestamp") - epoch_us(lag("timestamp") over person) > {round(minutes * 60_000_000)}'
    return f"""
        select * exclude (starts) replace (client_id || '-' || cast(sum(starts) over person as varchar) as session_id)
        from (
            select *, if(coalesce({pause}, true), 1, 0) as starts from {{table}}
            window person as (partition by client_id order by "timestamp")
        )
        window person as (partition by client_id order by "timestamp" range unbounded preceding)
        order by client_id, "timestamp"
    """


def sessions_by_column(column: str) -> str:
    """A search log whose sessions are told apart by another of its columns, within each person."""
    return f"select * replace (client_id || '-' || cast({column} as varchar) as session_id) from {{table}}"
