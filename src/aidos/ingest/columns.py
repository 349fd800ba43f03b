"""What the columns of a table are called in the wild.

Names are compared without case and punctuation: ``Anon-ID``, ``anon_id`` and ``AnonID`` are one name. Only names that
mean one thing are mapped unasked; others are suggested, see `aidos.ingest.advice`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from aidos.core.records import JUDGEMENTS, POSTS, RUN, SEARCH_LOG, Schema
from aidos.errors import ParameterError

__all__ = ["check_given", "choose_schema", "lacking", "map_columns", "match_columns", "plain_name"]

CLICKED = (
    "clickurl",
    "clickedid",
    *(
        f"clicked{thing}{key}"
        for thing in ("url", "uri", "link", "sku", "asin", "product", "item", "document", "doc", "object", "article")
        for key in ("", "id")
    ),
    "clickedresultid",
    "clickedresulturl",
)
"""Names of what was clicked; a SKU or product alone may as well have been shown or bought."""

ALIASES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    SEARCH_LOG.name: {
        "client_id": (
            "anonid",
            "user",
            "userid",
            "uid",
            "cookie",
            "cookieid",
            "visitor",
            "visitorid",
            "person",
            "searcher",
            "userpseudoid",
            "idvisitor",
            "fullvisitorid",
        ),
        "timestamp": (
            "querytime",
            "time",
            "ts",
            "datetime",
            "eventtime",
            "eventtimestamp",
            "servertimestamp",
            "searchtime",
            "createdat",
            "date",
        ),
        "user_query": (
            "query",
            "q",
            "searchterm",
            "searchquery",
            "querytext",
            "searchterms",
            "keywords",
            "keyword",
            "term",
            "searchkeyword",
            "searchphrase",
            "searchstring",
            "searchtext",
            "sitesearchkeyword",
        ),
        "session_id": ("session", "sid", "visit", "visitid", "idvisit"),
        "query_id": ("qid",),
        "action": ("actionname", "event", "eventtype", "eventaction"),
        "object_id": (*CLICKED, "url", "docid", "documentid", "docno", "itemid"),
        "position": ("itemrank", "rank", "clickrank", "clickedrank", "clickposition", "clickedposition", "pos"),
    },
    POSTS.name: {
        "post_id": ("id", "post"),
        "author_id": ("owneruserid", "userid", "author", "user", "memberid", "member", "username"),
        "timestamp": ("created", "creationdate", "createdat", "datetime", "time", "ts", "date"),
        "text": ("body", "content", "message", "raw", "postraw", "title"),
        "title": ("subject", "topictitle"),
        "forum": ("site", "community", "subreddit", "topic", "category"),
        "kind": ("type", "posttype"),
        "parent_id": ("parent", "inreplyto"),
        "tags": ("tag",),
        "score": ("votes", "points"),
    },
    RUN.name: {
        "query_id": ("qid", "topic"),
        "object_id": ("docno", "docid", "documentid"),
        "position": ("rank",),
        "score": (),
        "system": ("tag", "run", "runid"),
    },
    JUDGEMENTS.name: {
        "query_id": ("qid", "topic"),
        "object_id": ("docno", "docid", "documentid"),
        "relevance": ("label", "grade", "rel"),
    },
}
PREFERENCE = (SEARCH_LOG, POSTS, JUDGEMENTS, RUN)


def plain_name(name: str) -> str:
    """The name without case and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def map_columns(names: Sequence[str], schema: Schema, given: Mapping[str, str]) -> dict[str, str]:
    """Column of the schema to column of the file: as given, or else of its own name, or else of an alias."""
    return match_columns(names, {column: ALIASES[schema.name][column] for column in schema.names()}, given)


def match_columns(
    names: Sequence[str], aliases: Mapping[str, tuple[str, ...]], given: Mapping[str, str]
) -> dict[str, str]:
    """The same for any columns and their aliases, in their order; names are compared without case and punctuation."""
    by_plain = {plain_name(name): name for name in reversed(names)}
    mapping: dict[str, str] = {}
    for column, others in aliases.items():
        if column in given:
            mapping[column] = given[column]
            continue
        for alias in (plain_name(column), *others):
            if alias in by_plain:
                mapping[column] = by_plain[alias]
                break
    return mapping


def choose_schema(names: Sequence[str], given: Mapping[str, str]) -> Schema:
    """The kind of table whose required columns are there; of those that lack some, the one that lacks the fewest.

    Of those that lack as many, it is the one that has more of its columns; a person is in most of them.
    """
    fitting = [schema for schema in PREFERENCE if set(given) <= set(schema.names())] or [SEARCH_LOG]

    def rank(schema: Schema) -> tuple[int, int]:
        mapped = map_columns(names, schema, given)
        missing = len(lacking(schema, mapped))
        return missing, -len(mapped.keys() - {schema.person}) if missing else 0

    return min(fitting, key=rank)


def check_given(given: Mapping[str, str]) -> None:
    """Refuse ``--column`` names that no kind of table has."""
    known = {name for schema in PREFERENCE for name in schema.names()}
    if strange := sorted(set(given) - known):
        raise ParameterError(
            f"aidos has no column called {', '.join(strange)}",
            hint=f"the columns of a search log are {', '.join(SEARCH_LOG.names())}",
        )


def lacking(schema: Schema, mapping: Mapping[str, str]) -> list[str]:
    """Required columns that nothing maps to."""
    return [column.name for column in schema.columns if column.required and column.name not in mapping]
