"""Saved lists in every form, made from one description of pairs."""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PAIRS: dict[str, dict[str, str]] = {
    "first hushquery": {"vanilla": "abcd", "personalised": "bacd", "again": "abdc"},
    "second hushquery": {"vanilla": "efg", "personalised": "gfe"},
}
"""Queries and their lists; each letter is a page."""

SIDES = ("vanilla", "personalised", "again")


def page(letter: str) -> dict[str, Any]:
    return {
        "url": f"https://site.example/{letter}",
        "title": f"Title {letter}",
        "content": f"Words of {letter}",
    }


def pages(letters: str) -> list[dict[str, Any]]:
    return [page(letter) for letter in letters]


def pair_lines() -> list[dict[str, Any]]:
    return [{"query": query, **{side: pages(x) for side, x in lists.items()}} for query, lists in PAIRS.items()]


def flat_rows() -> list[dict[str, Any]]:
    return [
        {
            "query": query,
            "list": side,
            "position": place,
            "url": page(letter)["url"],
            "title": page(letter)["title"],
            "snippet": page(letter)["content"],
        }
        for query, lists in PAIRS.items()
        for side, letters in lists.items()
        for place, letter in enumerate(letters, start=1)
    ]


def answers(side: str) -> list[dict[str, Any]]:
    """Answers of SearXNG, with the fields that they have."""
    return [
        {
            "query": query,
            "number_of_results": 0,
            "results": [
                {
                    **page(letter),
                    "engine": "one",
                    "template": "default.html",
                    "parsed_url": ["https", "site.example", f"/{letter}", "", "", ""],
                    "engines": ["one", "two"],
                    "positions": [place, place],
                    "score": 1.0 / place,
                    "category": "general",
                    "publishedDate": None,
                }
                for place, letter in enumerate(lists[side], start=1)
            ],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": ["another"],
            "unresponsive_engines": [],
        }
        for query, lists in PAIRS.items()
        if side in lists
    ]


def serps(side: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """WebSearcher: searches, and parsed pages of results with an ad and a box of news."""
    searches, parsed = [], []
    for number, (query, lists) in enumerate(PAIRS.items()):
        if side not in lists:
            continue
        name = f"{side}{number}"
        searches.append(
            {
                "qry": query,
                "loc": "Saarland,Germany",
                "lang": "en",
                "url": "https://engine.example/search?q=x",
                "timestamp": f"2026-03-01T10:0{SIDES.index(side)}:00",
                "response_code": 200,
                "user_agent": "agent",
                "serp_id": name,
                "crawl_id": "",
                "version": "0.6",
                "method": "requests",
            }
        )
        found = [
            {"type": "ad", "sub_type": "standard", "title": "Buy", "url": "https://shop.example/", "text": "now"},
            {"type": "top_stories", "sub_type": None, "title": "News", "url": "https://news.example/", "text": None},
            {"type": "people_also_ask", "sub_type": None, "title": None, "url": None, "text": "why"},
            *(
                {
                    "type": "general",
                    "sub_type": None,
                    "title": page(letter)["title"],
                    "url": page(letter)["url"],
                    "text": page(letter)["content"],
                    "cite": "site.example",
                    "details": None,
                    "error": None,
                }
                for letter in lists[side]
            ),
            {"type": "general", "title": None, "url": None, "text": "x", "details": {"type": "item", "error": "e"}},
        ]
        ranked = [{"section": "main", "cmpt_rank": i, "sub_rank": 0, "serp_rank": i, **x} for i, x in enumerate(found)]
        parsed.append(
            {"crawl_id": "", "serp_id": name, "version": "0.6", "method": "requests", "features": {}, "results": ranked}
        )
    return searches, parsed


def archive(side: str, *, encoded: bool = False, named: bool = True) -> dict[str, Any]:
    """A HAR file of the answers, with a picture and a page between them."""
    entries: list[dict[str, Any]] = [
        {"request": {}, "response": {"content": {"mimeType": "image/png", "text": "AAAA", "encoding": "base64"}}},
        {"request": {}, "response": {"content": {"mimeType": "text/html", "text": "<html></html>"}}},
        {"request": {}, "response": {"content": {"mimeType": "application/json", "text": '{"a": 1}'}}},
    ]
    for answer in answers(side):
        query = answer["query"]
        body = json.dumps({key: value for key, value in answer.items() if named or key != "query"})
        content = {"mimeType": "application/json", "text": body}
        if encoded:
            content |= {"text": base64.b64encode(body.encode()).decode(), "encoding": "base64"}
        request = {"method": "GET", "url": "https://engine.example/", "queryString": [{"name": "q", "value": query}]}
        entries.append(
            {
                "startedDateTime": "2026-03-01T11:00:00.000+01:00",
                "request": request,
                "response": {"status": 200, "content": content},
            }
        )
    return {"log": {"version": "1.2", "creator": {"name": "browser", "version": "1"}, "entries": entries}}


def run(side: str, tag: str = "tag") -> str:
    return "".join(
        f"q{number} Q0 doc-{letter} {place} {10 - place} {tag}\n"
        for number, lists in enumerate(PAIRS.values())
        for place, letter in enumerate(lists.get(side, ""), start=1)
    )


def write_lines(path: Path, entries: list[dict[str, Any]]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return str(path)


def write_json(path: Path, value: object, indent: int | None = None) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
    return str(path)


def write_table(path: Path, rows: list[dict[str, Any]], delimiter: str = ",") -> str:
    held = io.StringIO()
    writer = csv.DictWriter(held, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(held.getvalue(), encoding="utf-8")
    return str(path)


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> str:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)
