"""What the columns of a table are called in the wild, and which one the user probably meant.

Names are compared without case and punctuation: ``Anon-ID``, ``anon_id`` and ``AnonID`` are one name.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence

from aidos.core.records import JUDGEMENTS, POSTS, RUN, SEARCH_LOG, Schema
from aidos.errors import ParameterError, Problem
from aidos.ingest.problems import describe

__all__ = ["check_given", "choose_schema", "map_columns", "missing_columns", "plain_name"]

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
        ),
        "timestamp": ("querytime", "time", "ts", "datetime", "eventtime", "createdat", "date"),
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
        ),
        "session_id": ("session", "sid", "visit", "visitid"),
        "query_id": ("qid",),
        "action": ("actionname", "event", "eventtype", "eventaction"),
        "object_id": ("clickurl", "clickedurl", "url", "docid", "documentid", "docno", "itemid"),
        "position": ("itemrank", "rank", "clickrank", "pos"),
    },
    POSTS.name: {
        "post_id": ("id", "post"),
        "author_id": ("owneruserid", "userid", "author", "user", "memberid", "member"),
        "timestamp": ("created", "creationdate", "createdat", "datetime", "time", "ts", "date"),
        "text": ("body", "content", "message", "title"),
        "title": ("subject",),
        "forum": ("site", "community", "subreddit", "topic"),
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
CLOSE = 0.6


def plain_name(name: str) -> str:
    """The name without case and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def map_columns(names: Sequence[str], schema: Schema, given: Mapping[str, str]) -> dict[str, str]:
    """Column of the schema to column of the file: as given, or else of its own name, or else of an alias."""
    by_plain = {plain_name(name): name for name in reversed(names)}
    mapping: dict[str, str] = {}
    for column in schema.names():
        if column in given:
            mapping[column] = given[column]
            continue
        for alias in (plain_name(column), *ALIASES[schema.name][column]):
            if alias in by_plain:
                mapping[column] = by_plain[alias]
                break
    return mapping


def choose_schema(names: Sequence[str], given: Mapping[str, str]) -> Schema:
    """The kind of table whose required columns are there; of those that lack some, the one that lacks the fewest."""
    fitting = [schema for schema in PREFERENCE if set(given) <= set(schema.names())] or [SEARCH_LOG]
    return min(fitting, key=lambda schema: len(_missing(schema, map_columns(names, schema, given))))


def check_given(given: Mapping[str, str]) -> None:
    """Refuse ``--column`` names that no kind of table has."""
    known = {name for schema in PREFERENCE for name in schema.names()}
    if strange := sorted(set(given) - known):
        raise ParameterError(
            f"aidos has no column called {', '.join(strange)}",
            hint=f"the columns of a search log are {', '.join(SEARCH_LOG.names())}",
        )


def missing_columns(
    file: str, names: Sequence[str], schema: Schema, mapping: Mapping[str, str], *, line: int | None = 1
) -> list[Problem]:
    """Required columns that nothing maps to, and given ones that the file does not have, each with a suggestion."""
    absent = [column for column, name in mapping.items() if name not in names and name.split(".")[0] not in names]
    free = [name for name in names if name not in mapping.values()]
    return [
        describe(
            "missing-column",
            file,
            lines=() if line is None else (line,),
            column=column,
            meaning=f"{column} ({schema.column(column).about})",
            columns=", ".join(names),
            assignment=shlex.quote(f"{column}={_nearest(mapping.get(column, column), schema, column, free) or 'NAME'}"),
        )
        for column in [*_missing(schema, mapping), *absent]
    ]


def _missing(schema: Schema, mapping: Mapping[str, str]) -> list[str]:
    return [column.name for column in schema.columns if column.required and column.name not in mapping]


def _nearest(wanted: str, schema: Schema, column: str, free: Sequence[str]) -> str:
    """The free column whose name comes closest to what was wanted, or to one of its aliases."""
    plain = {plain_name(name): name for name in reversed(free)}
    for target in (plain_name(wanted), plain_name(column), *ALIASES[schema.name][column]):
        close = difflib.get_close_matches(target, plain, n=1, cutoff=CLOSE)
        contained = [name for name in plain if len(target) > 2 and target in name]
        if close or contained:
            return plain[(close or contained)[0]]
    return ""
