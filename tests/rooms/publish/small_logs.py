"""Small search logs for tests, from rows in plain words."""

from datetime import datetime, timedelta

import pyarrow as pa

MORNING = datetime.fromisoformat("2024-03-05T09:00:00")
SCHEMA = pa.schema(
    [
        ("client_id", pa.string()),
        ("timestamp", pa.timestamp("us")),
        ("user_query", pa.string()),
        ("session_id", pa.string()),
        ("query_id", pa.string()),
        ("action", pa.string()),
        ("object_id", pa.string()),
        ("position", pa.int32()),
    ]
)


def row(person, minute, query, clicked=None, session=None):
    return {
        "client_id": person,
        "timestamp": MORNING + timedelta(minutes=minute),
        "user_query": query,
        "session_id": session,
        "query_id": None,
        "action": "click" if clicked else "query",
        "object_id": clicked,
        "position": 1 if clicked else None,
    }


def log_of(engine, rows):
    return engine.table(pa.Table.from_pylist(list(rows), schema=SCHEMA))


def crowd(number, queries, name="person"):
    """So many people who each ask these queries, one after another."""
    return [row(f"{name}{p}", minute, query) for p in range(number) for minute, query in enumerate(queries)]
