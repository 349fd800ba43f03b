"""Result pages that were saved as HTML: those of SearXNG's simple theme, whose structure is stable.

Instances of SearXNG often answer in HTML only. Each result is an ``article`` of the class ``result`` with its address
and title in ``h3 a`` and its snippet in ``p.content``; the query stands in the field ``q``. Articles without such a
title (pictures) are left out. Pages of other services change their structure often and are not read: a wrong list
looks like a re-ordered one.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

__all__ = ["read_page"]

Attributes = list[tuple[str, str | None]]


def read_page(page: str) -> dict[str, Any] | None:
    """The query and the results of a page, as SearXNG's answers in JSON have them; None where it is no such page."""
    found = _Page()
    found.feed(page)
    found.close()
    if not found.is_results:
        return None
    return {"query": found.query, "results": [entry for entry in found.results if entry["url"] and entry["title"]]}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.query = ""
        self.is_results = False
        self.results: list[dict[str, str]] = []
        self._within = ""
        """The field of the result that text belongs to now."""
        self._in_result = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        known = dict(attrs)
        classes = (known.get("class") or "").split()
        if tag == "input" and known.get("id") == "q":
            self.query = self.query or known.get("value") or ""
        elif tag == "div" and known.get("id") == "urls":
            self.is_results = True
        elif tag == "article" and "result" in classes and self.is_results:
            self.results.append({"url": "", "title": "", "content": ""})
            self._in_result, self._within = True, ""
        elif not self._in_result:
            return
        elif tag == "h3":
            self._within = "title"
        elif tag == "p" and "content" in classes and "empty_element" not in classes:
            self._within = "content"
        elif tag == "a" and self._within == "title":
            self.results[-1]["url"] = self.results[-1]["url"] or (known.get("href") or "").strip()

    def handle_endtag(self, tag: str) -> None:
        if tag in {"h3", "p"}:
            self._within = ""
        elif tag == "article":
            self._in_result, self._within = False, ""

    def handle_data(self, data: str) -> None:
        if self._in_result and self._within:
            held = f"{self.results[-1][self._within]}{data}"
            self.results[-1][self._within] = " ".join(held.split()) + (" " if held[-1:].isspace() else "")
