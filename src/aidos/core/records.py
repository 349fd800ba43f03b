"""The tables that aidos speaks of, column by column.

Names follow OpenSearch User Behavior Insights; every other format is translated on the way in. One row of a
search log is one action: a query that was asked, or a result that was clicked for it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["JUDGEMENTS", "PAUSE_MINUTES", "POSTS", "RUN", "SCHEMAS", "SEARCH_LOG", "Column", "Schema"]

PAUSE_MINUTES = 30
"""The pause that ends a session, where the log does not say."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its type in the engine, whether a row may lack it, and what it holds."""

    name: str
    type: str
    required: bool
    about: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of table."""

    name: str
    title: str
    person: str
    """The column that says whose row it is; empty when no person is in it."""
    columns: tuple[Column, ...]

    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of that name (KeyError when there is none)."""
        return {column.name: column for column in self.columns}[name]


SEARCH_LOG = Schema(
    "search-log",
    "search log",
    "client_id",
    (
        Column("client_id", "VARCHAR", True, "who searched: a pseudonym, a cookie, an account"),
        Column("timestamp", "TIMESTAMP", True, "when, in UTC unless the source says otherwise"),
        Column("user_query", "VARCHAR", True, "the query as it was typed"),
        Column("session_id", "VARCHAR", False, "the visit it belongs to"),
        Column("query_id", "VARCHAR", False, "joins the actions that followed one query"),
        Column("action", "VARCHAR", False, "query, click, or another action name"),
        Column("object_id", "VARCHAR", False, "the result that was clicked: a URL or document id"),
        Column("position", "INTEGER", False, "where that result stood, counted from 1"),
    ),
)

POSTS = Schema(
    "posts",
    "community posts",
    "author_id",
    (
        Column("post_id", "VARCHAR", True, "the post"),
        Column("author_id", "VARCHAR", True, "the member who wrote it"),
        Column("timestamp", "TIMESTAMP", True, "when"),
        Column("text", "VARCHAR", True, "the words of the post, without mark-up"),
        Column("title", "VARCHAR", False, "its title, where it has one"),
        Column("forum", "VARCHAR", False, "the site, forum or topic it was posted to"),
        Column("kind", "VARCHAR", False, "question, answer or post"),
        Column("parent_id", "VARCHAR", False, "the post it answers"),
        Column("tags", "VARCHAR", False, "tags, separated by blanks"),
        Column("score", "INTEGER", False, "votes"),
    ),
)

RUN = Schema(
    "run",
    "ranked results",
    "",
    (
        Column("query_id", "VARCHAR", True, "the query"),
        Column("object_id", "VARCHAR", True, "the result"),
        Column("position", "INTEGER", True, "its rank as written"),
        Column("score", "DOUBLE", True, "its score"),
        Column("system", "VARCHAR", False, "the run's tag"),
    ),
)

JUDGEMENTS = Schema(
    "judgements",
    "relevance judgements",
    "",
    (
        Column("query_id", "VARCHAR", True, "the query"),
        Column("object_id", "VARCHAR", True, "the judged result"),
        Column("relevance", "INTEGER", True, "the grade"),
    ),
)

SCHEMAS = {schema.name: schema for schema in (SEARCH_LOG, POSTS, RUN, JUDGEMENTS)}
"""Every kind of table, by name."""
