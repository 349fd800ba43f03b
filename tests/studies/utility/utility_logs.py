"""A small log for the utility experiments: few people with overlapping queries, some clicks, some visits."""

from datetime import datetime, timedelta

import pyarrow as pa

MORNING = datetime.fromisoformat("2024-03-05T09:00:00")
WORDS = ("jazz", "piano", "jazz piano", "rain", "weather", "weather rain", "cake")


def rows(people=30, clicks=True):
    """Person p asks the first queries in visits of two; the click goes to a page of the query's name."""
    for person in range(people):
        for place in range(1 + person % len(WORDS)):
            query = WORDS[place]
            moment = MORNING + timedelta(days=place // 2, minutes=place % 2)
            asked = {"client_id": f"p{person}", "timestamp": moment, "user_query": query, "object_id": None}
            yield asked
            if clicks and (person + place) % 2:
                yield asked | {"timestamp": moment + timedelta(seconds=5), "object_id": f"https://{query.split()[0]}"}


def table(people=30, clicks=True):
    made = pa.Table.from_pylist(list(rows(people, clicks)))
    return made if clicks else made.drop_columns(["object_id"])
