"""OpenSearch and Elasticsearch, through ``_search``, which is the same in both.

Tested on recorded exchanges, written after the documentation of both; it was not run against a live cluster.

What a person types is plain words ("match", "multi_match") unless "simple_query_string" is asked for, whose operators
(``+ | - " *``) then hold; none of the three fails on odd input. An answer of which shards are missing, or that ran out
of time, is no answer: it is tried again and then refused, since a ranking without some of the documents looks like a
whole one. Equal scores stand in the engine's own order, which may differ between copies of a shard.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from aidos.errors import ParameterError
from aidos.service.access import Access
from aidos.service.answers import ShapeError, need_list, need_object, need_text, read_number, read_text
from aidos.service.base import Fields, PassingError, Result, SearchService, check_request
from aidos.service.http import JsonClient

__all__ = ["OpenSearch"]

LARGEST = 10_000
"""The engines' own limit (index.max_result_window)."""
SNIPPET_LETTERS = 200
INDEX_NAME = re.compile(r"[a-z0-9*][a-z0-9._,*+-]*")


class OpenSearch(SearchService):
    """One index (or alias, or several divided by commas) of a cluster."""

    def __init__(
        self,
        access: Access,
        *,
        index: str,
        fields: Fields | None = None,
        query: Literal["match", "multi_match", "simple_query_string"] = "multi_match",
    ) -> None:
        if not INDEX_NAME.fullmatch(index):
            raise ParameterError("the index has no possible name", hint="small letters, digits, dots and hyphens")
        if query not in {"match", "multi_match", "simple_query_string"}:
            raise ParameterError(f"query must be match, multi_match or simple_query_string, got {query}")
        self._fields = fields or Fields()
        if query == "match" and len(self._fields.searched) != 1:
            raise ParameterError("match searches one field", hint="name one field, or use multi_match")
        self._query = query
        self._index = index
        hints = {404: "is there such an index?"}
        self._client = JsonClient(f"opensearch:{access.address.rstrip('/')}/{index}", access, hints=hints)

    @property
    def name(self) -> str:
        """The kind of service, its address and index."""
        return self._client.name

    def search(self, query: str, size: int = 10) -> list[Result]:
        """The best ``size`` hits; at most 10,000, which is the engine's own limit."""
        words = check_request(query, size, largest=LARGEST)
        path = f"/{self._index}/_search?allow_partial_search_results=false"
        return self._client.ask(path, self._read, body=self._body(words, size), code=_error_type)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _body(self, words: str, size: int) -> dict[str, Any]:
        fields = self._fields
        clause: dict[str, Any] = {"query": words, "fields": list(fields.searched)}
        if self._query == "match":
            clause = {fields.searched[0]: {"query": words}}
        snippet = {"number_of_fragments": 1, "fragment_size": SNIPPET_LETTERS, "no_match_size": SNIPPET_LETTERS}
        return {
            "size": size,
            "query": {self._query: clause},
            "_source": [fields.title, fields.url],
            "track_total_hits": False,
            "highlight": {"pre_tags": [""], "post_tags": [""], "fields": {fields.text: snippet}},
        }

    def _read(self, answer: dict[str, Any]) -> list[Result]:
        _refuse_parts(answer)
        hits = need_list(need_object(answer.get("hits"), "hits").get("hits"), "hits.hits")
        return [self._result(need_object(hit, f"hits.hits[{place}]"), place) for place, hit in enumerate(hits)]

    def _result(self, hit: dict[str, Any], place: int) -> Result:
        where = f"hits.hits[{place}]"
        source = need_object(hit.get("_source", {}), f"{where}._source")
        snippets = need_object(hit.get("highlight", {}), f"{where}.highlight")
        return Result(
            object_id=need_text(hit.get("_id"), f"{where}._id"),
            title=read_text(source, self._fields.title),
            snippet=read_text(snippets, self._fields.text),
            url=read_text(source, self._fields.url),
            score=read_number(hit, "_score"),
            position=place + 1,
        )


def _refuse_parts(answer: dict[str, Any]) -> None:
    shards = need_object(answer.get("_shards"), "_shards")
    failed, total = shards.get("failed"), shards.get("total")
    if not isinstance(failed, int) or not isinstance(total, int):
        raise ShapeError("_shards has no counts")
    if failed:
        raise PassingError(f"could not search {failed} of {total} shards", hint="look at the health of the cluster")
    if answer.get("timed_out"):
        raise PassingError("ran out of time and answered in part", hint="look at the load of the cluster")


def _error_type(answer: dict[str, Any]) -> str:
    """The engine's name for an error, such as index_not_found_exception; its sentence may quote the query."""
    error = answer.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    return kind if isinstance(kind, str) and kind.endswith("_exception") else ""
