"""Files as they come from the wild, written for these tests after public descriptions of their formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

ROWS = 240
WORDS = ("tent", "stove", "lamp", "rope", "boat", "chair", "garden", "harbour")
START = datetime(2024, 3, 1)  # noqa: DTZ001 (every time of the house is naive UTC)


def shop(clicked: str = "clicked_sku", *, placed: bool = True) -> bytes:
    """A shop's own log: one row a search, with what was clicked, where it stood, and the device."""
    rows = [
        (
            f"v{number % 23}",
            at(number),
            query(number),
            f"SKU-{number % 17}" if number % 2 else "",
            *([number % 9 + 1 if number % 2 else ""] if placed else []),
            ("phone", "desk")[number % 2],
        )
        for number in range(ROWS)
    ]
    names = ["visitor_id", "event_time", "search_term", clicked, *(["position"] if placed else []), "device"]
    return table(names, rows)


def slow_log(users: Sequence[str] = ("storefront",)) -> bytes:
    """Elasticsearch's search slow log in its JSON layout with ECS fields; ``users`` are who it knows."""
    return lines(
        {
            "@timestamp": f"{at(number).replace(' ', 'T')}.{number:03}Z",
            "log.level": ("WARN", "INFO")[number % 2],
            "auth.type": "REALM",
            "elasticsearch.slowlog.id": f"r{number * 7919:x}",
            "elasticsearch.slowlog.message": f"[products][{number % 3}]",
            "elasticsearch.slowlog.search_type": "QUERY_THEN_FETCH",
            "elasticsearch.slowlog.source": json.dumps({"query": {"match": {"title": query(number)}}}),
            "elasticsearch.slowlog.took": f"{number}ms",
            "elasticsearch.slowlog.took_millis": number,
            "elasticsearch.slowlog.total_hits": "4 hits",
            "user.name": users[number % len(users)],
            "user.realm": "native1",
            "ecs.version": "1.2.0",
            "service.name": "ES_ECS",
            "event.dataset": "elasticsearch.index_search_slowlog",
            "process.thread.name": f"elasticsearch[es01][search][T#{number % 8}]",
            "log.logger": "index.search.slowlog.query",
            "trace.id": f"{number * 104_729:032x}",
            "elasticsearch.cluster.uuid": "Zq7",
            "elasticsearch.node.name": "es01",
        }
        for number in range(ROWS)
    )


def discourse(*, with_author: bool = True) -> bytes:
    """Posts of a Discourse forum: the export of an administrator, or of one member, which names no author."""
    if with_author:
        names = ["topic_id", "topic_title", "category", "post_number", "post_id", "raw", "cooked", "created_at"]
        names += ["like_count", "reads", "username"]
        rows = (
            (
                n % 20,
                f"About {query(n)}",
                "General",
                n % 7,
                1000 + n,
                prose(n),
                f"<p>{prose(n)}</p>",
                f"{at(n)} UTC",
                n % 5,
                n % 50,
                f"member{n % 29}",
            )
            for n in range(ROWS)
        )
        return table(names, rows)
    names = ["topic_title", "categories", "is_pm", "post_raw", "post_cooked", "like_count", "reply_count", "url"]
    rows = (
        (f"About {query(n)}", "General", "No", prose(n), f"<p>{prose(n)}</p>", n % 5, n % 3, f"/t/{n}", f"{at(n)} UTC")
        for n in range(ROWS)
    )
    return table([*names, "created_at"], rows)


def movielens() -> bytes:
    """Ratings without a header: user, item, rating, seconds since 1970, with tabs."""
    rows = (
        f"{number * 7 % 31 + 1}\t{number * 13 % 97 + 1}\t{number % 5 + 1}\t{881_250_949 + number}"
        for number in range(ROWS)
    )
    return ("\n".join(rows) + "\n").encode()


def sogou(*, year: int = 2008) -> bytes:
    """Sogou's query log without a header: of 2008 with a time of day and brackets, of 2012 with whole times."""
    rows = []
    for number in range(ROWS):
        person, place, order = f"{number % 37 * 48_271:016d}", number % 10 + 1, number % 4 + 1
        word, url = WORDS[number % 8], f"www.example.org/{number % 60}"
        if year == 2008:
            rows.append(f"{at(number)[11:]}\t{person}\t[{word}]\t{place} {order}\t{url}")
        else:
            rows.append(
                f"{at(number).translate({45: None, 32: None, 58: None})}\t{person}\t{word}\t{place}\t{order}\t{url}"
            )
    return ("\n".join(rows) + "\n").encode()


def google_analytics() -> bytes:
    """Events of Google Analytics 4 as its BigQuery export has them, flattened."""
    names = ["event_date", "event_timestamp", "event_name", "user_pseudo_id", "ga_session_id", "search_term"]
    epoch = 1_709_251_200_000_000
    rows = (
        (
            "20240301",
            epoch + number * 10**6,
            "view_search_results",
            f"{number % 23}.{number % 23}",
            number % 40,
            query(number),
            "https://shop.example/search",
        )
        for number in range(ROWS)
    )
    return table([*names, "page_location"], rows)


def matomo() -> bytes:
    """Site searches of Matomo's visits log."""
    names = ["idSite", "idVisit", "visitorId", "serverTimestamp", "siteSearchKeyword", "pageTitle", "url"]
    rows = (
        (1, number // 3, f"{number // 6 * 65_537:016x}", 1_709_251_200 + number, query(number), "Search", "")
        for number in range(ROWS)
    )
    return table(names, rows)


def at(number: int) -> str:
    return str(START + timedelta(seconds=37 * number))


def query(number: int) -> str:
    return f"{WORDS[number % 8]} {WORDS[number // 8 % 8]}"


def prose(number: int) -> str:
    return " ".join(WORDS[(number * step) % 8] for step in range(1, 12))


def table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue().encode()


def lines(documents: Iterable[object]) -> bytes:
    return "".join(f"{json.dumps(document)}\n" for document in documents).encode()
