"""SearXNG, a meta search engine that one can run at home, through its JSON answers.

Tested on recorded exchanges, written after the documentation of SearXNG; it was not run against a live instance.

The instance must allow the format: ``search: formats: [html, json]`` in its settings.yml; where it does not, it answers
403, and most public instances do not. It gives results by the page and cannot be asked for a number, so pages are asked
until there are enough. Its own syntax ("!images", ":de") holds in queries. When some of the engines behind it fail, the
results of the others count; when all results are missing because engines failed, that is an error and no empty list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aidos.service.access import Access
from aidos.service.answers import need_list, need_object, need_text, read_number, read_text
from aidos.service.base import PassingError, Result, SearchService, check_request
from aidos.service.http import JsonClient

__all__ = ["SearXNG"]

MOST_PAGES = 10
FORBIDDEN = "the instance must allow JSON: add json to search.formats in its settings.yml; or it takes you for a robot"


class SearXNG(SearchService):
    """An instance of SearXNG."""

    def __init__(self, access: Access, *, language: str = "") -> None:
        """``language``: a code such as "en"; the instance's own choice unless given."""
        self._client = JsonClient(f"searxng:{access.address}", access, hints={403: FORBIDDEN})
        self._language = language

    @property
    def name(self) -> str:
        """The kind of service and its address."""
        return self._client.name

    def search(self, query: str, size: int = 10) -> list[Result]:
        """The first ``size`` results, each address once."""
        words = check_request(query, size)
        found: dict[str, Result] = {}
        for page in range(1, MOST_PAGES + 1):
            fresh = [hit for hit in self._page(words, page) if hit.url not in found]
            # SearXNG repeats its last page when engines ignore the number of the page.
            if not fresh:
                break
            for hit in fresh:
                found.setdefault(hit.url, hit)
            if len(found) >= size:
                break
        return [replace(hit, position=rank) for rank, hit in enumerate(list(found.values())[:size], start=1)]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _page(self, words: str, page: int) -> list[Result]:
        form = {"q": words, "format": "json", "pageno": str(page)}
        if self._language:
            form["language"] = self._language
        return self._client.ask("/search", lambda answer: _read(answer, page), form=form)


def _read(answer: dict[str, Any], page: int) -> list[Result]:
    results = need_list(answer.get("results"), "results")
    failed = need_list(answer.get("unresponsive_engines", []), "unresponsive_engines")
    if not results and failed and page == 1:
        engines = "engine" if len(failed) == 1 else "engines"
        raise PassingError(f"found nothing, since {len(failed)} {engines} behind it failed", hint="try again later")
    return [_result(need_object(entry, f"results[{place}]"), place) for place, entry in enumerate(results)]


def _result(entry: dict[str, Any], place: int) -> Result:
    address = need_text(entry.get("url"), f"results[{place}].url")
    return Result(
        object_id=address,
        title=read_text(entry, "title"),
        snippet=read_text(entry, "content"),
        url=address,
        score=read_number(entry, "score"),
        position=place + 1,
    )
