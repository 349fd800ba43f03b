r"""Apache Solr, through ``/select`` with the eDisMax parser.

Tested on recorded exchanges, written after the documentation of Solr; it was not run against a live server.

What a person types is plain words: every character and every word that means something to the parser is escaped
(``\+``, ``\AND``), and fields cannot be named (``uf=-*``). Equal scores are ordered by id. An answer that Solr marks as
partial is tried again and then refused, since a ranking without some of the documents looks like a whole one.
"""

from __future__ import annotations

import re
from typing import Any

from aidos.errors import ParameterError
from aidos.service.access import Access
from aidos.service.answers import ShapeError, need_list, need_object, need_text, read_number, read_text
from aidos.service.base import Fields, PassingError, Result, SearchService, check_request
from aidos.service.http import JsonClient

__all__ = ["Solr"]

LARGEST = 10_000
SNIPPET_LETTERS = 200
SPECIAL = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]')
OPERATORS = frozenset({"AND", "OR", "NOT"})
ID_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Solr(SearchService):
    """One core or collection of a Solr server; the address ends with its name."""

    def __init__(self, access: Access, *, fields: Fields | None = None, id_field: str = "id") -> None:
        """``id_field``: the unique key of the schema."""
        if not ID_NAME.fullmatch(id_field):
            raise ParameterError("the id has no possible field name", hint="letters, digits and underscores")
        self._client = JsonClient(f"solr:{access.address}", access, hints={404: "is there such a core or collection?"})
        self._fields = fields or Fields()
        self._id = id_field

    @property
    def name(self) -> str:
        """The kind of service and its address."""
        return self._client.name

    def search(self, query: str, size: int = 10) -> list[Result]:
        """The best ``size`` documents, at most 10,000."""
        words = check_request(query, size, largest=LARGEST)
        return self._client.ask("/select", self._read, form=self._form(words, size))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _form(self, words: str, size: int) -> dict[str, str]:
        fields = self._fields
        return {
            "q": _escape(words),
            "defType": "edismax",
            "qf": " ".join(fields.searched),
            "uf": "-*",
            "q.op": "OR",
            "rows": str(size),
            "fl": ",".join((self._id, fields.title, fields.url, "score")),
            "sort": f"score desc, {self._id} asc",
            "wt": "json",
            "hl": "true",
            "hl.method": "unified",
            "hl.fl": fields.text,
            "hl.snippets": "1",
            "hl.fragsize": str(SNIPPET_LETTERS),
            "hl.defaultSummary": "true",
            "hl.tag.pre": "",
            "hl.tag.post": "",
        }

    def _read(self, answer: dict[str, Any]) -> list[Result]:
        header = need_object(answer.get("responseHeader"), "responseHeader")
        if header.get("partialResults"):
            raise PassingError("answered in part", hint="a shard is missing or too slow; look at the collection")
        if header.get("status") != 0:
            raise ShapeError("responseHeader.status is not 0")
        documents = need_list(need_object(answer.get("response"), "response").get("docs"), "response.docs")
        snippets = need_object(answer.get("highlighting", {}), "highlighting")
        return [
            self._result(need_object(document, f"response.docs[{place}]"), snippets, place)
            for place, document in enumerate(documents)
        ]

    def _result(self, document: dict[str, Any], snippets: dict[str, Any], place: int) -> Result:
        object_id = need_text(document.get(self._id), f"response.docs[{place}].{self._id}")
        return Result(
            object_id=object_id,
            title=read_text(document, self._fields.title),
            snippet=read_text(need_object(snippets.get(object_id, {}), "highlighting"), self._fields.text),
            url=read_text(document, self._fields.url),
            score=read_number(document, "score"),
            position=place + 1,
        )


def _escape(words: str) -> str:
    escaped = (SPECIAL.sub(r"\\\g<0>", word) for word in words.split())
    return " ".join(f"\\{word}" if word in OPERATORS else word for word in escaped)
