"""Full text in PostgreSQL (12 or later): a table that is there already, or one made here.

The query is read by ``websearch_to_tsquery``, which accepts whatever a person types: all words must be there, "words in
quotes" are a phrase, ``or`` and ``-word`` mean what they say. ``ts_rank_cd`` (cover density: how near the words stand
to each other) orders the rows, equal ranks are ordered by id. Title and text count alike. Without a column that holds
the tsvector every search computes it anew for every row; `make_table` makes one, with a GIN index.

Searching reads only, within a time limit that the server itself keeps. Whether the connection is encrypted and the
server's certificate is checked is libpq's to decide: for a server elsewhere write ``sslmode=verify-full``. Passwords do
not stand in the connection string; they come as a parameter, or by libpq's own ways (PGPASSWORD, ~/.pgpass).

A connection to PostgreSQL that keeps its time limit, and what the server's errors mean. The server is told the limit
for each statement. Should it not answer at all (a host that fell asleep, a network that swallows packets), the client
stops waiting by itself a little later. Trouble with the connection may pass and is tried again; so are errors of a
server that is full, starting or stopping. Everything else is final.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from aidos.errors import InputError, ParameterError
from aidos.service.base import Clock, Result, Retries, SearchService, check_request, persist

from psycopg import sql  # isort: skip
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import field
from math import ceil
from typing import Any, TypeVar

from aidos.errors import MissingExtraError, ServiceError
from aidos.service.base import PassingError

__all__ = ["Link", "Login", "Postgres", "TextTable", "TimedConnection", "make_table"]

# After the link, which says what to install when psycopg is missing.


HEADLINE = 'StartSel="", StopSel="", MaxFragments=1, MaxWords=30, MinWords=10'
SEARCH = """
    WITH asked AS (SELECT websearch_to_tsquery({language}::regconfig, %(words)s) AS terms),
    found AS (
        SELECT {id}::text AS object_id, {title}::text AS title, {text}::text AS content,
            ts_rank_cd({vector}, asked.terms) AS score
        FROM {table} AS source, asked WHERE {vector} @@ asked.terms
        ORDER BY 4 DESC, {id}::text COLLATE "C" LIMIT %(size)s
    )
    SELECT object_id, coalesce(title, ''),
        ts_headline({language}::regconfig, coalesce(content, ''), asked.terms, {headline}), score
    FROM found, asked ORDER BY score DESC, object_id COLLATE "C"
"""
VECTOR = "to_tsvector({language}::regconfig, coalesce({title}::text, '') || ' ' || coalesce({text}::text, ''))"
CREATE = """
    CREATE TABLE {table} (
        {id} text PRIMARY KEY, {title} text NOT NULL, {text} text NOT NULL,
        {vector} tsvector GENERATED ALWAYS AS ({expression}) STORED
    )
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """Where the texts are, in the words of the database; names are quoted, so that any name will do."""

    table: str = "documents"
    """The table or view; "schema.table" where needed."""
    id: str = "id"
    """The column that names a row."""
    title: str = "title"
    """The column with the title."""
    text: str = "text"
    """The column with the text."""
    vector: str = ""
    """The column with the tsvector of title and text; computed for every row unless given."""
    language: str = "english"
    """The text search configuration; "simple" knows no stop words and no stems."""

    def __post_init__(self) -> None:
        names = (self.id, self.title, self.text, self.language, *self.table.split("."))
        if not all(names) or "\0" in "".join((*names, self.vector)):
            raise ParameterError(
                "the table, its columns and the language need names",
                hint="only the column of the tsvector may be left out",
            )


class Postgres(SearchService):
    """A table of texts in a PostgreSQL database."""

    def __init__(
        self,
        login: Login,
        table: TextTable | None = None,
        *,
        retries: Retries | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Nothing is connected before the first search."""
        self._table = table or TextTable()
        self._retries = retries or Retries()
        self._clock = clock or Clock()
        self._link = Link(self.name, login, self._retries.timeout)
        self._search = _search_statement(self._table)

    @property
    def name(self) -> str:
        """The kind of service and the table."""
        return f"postgres:{self._table.table}"

    def search(self, query: str, size: int = 10) -> list[Result]:
        """The rows with all of the words, by cover density."""
        words = check_request(query, size)
        rows = persist(self.name, lambda: self._ask(words, size), self._retries, self._clock)
        return [
            Result(object_id=object_id, title=title, snippet=snippet, url="", score=score, position=position)
            for position, (object_id, title, snippet, score) in enumerate(rows, start=1)
        ]

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def _ask(self, words: str, size: int) -> list[tuple[str, str, str, float]]:
        with self._link.transaction(read_only=True) as cursor:
            return cursor.execute(self._search, {"words": words, "size": size}).fetchall()


def make_table(login: Login, rows: Iterable[tuple[str, str, str]], table: TextTable, *, timeout: float = 3600.0) -> int:
    """Make a table of (id, title, text) rows with a generated tsvector and a GIN index, all or nothing; count the rows.

    It is tried once, within ``timeout`` seconds: rows that come from a stream are gone by a second attempt.
    """
    if not table.vector:
        raise ParameterError("a new table needs a name for the column of the tsvector", hint='such as vector="words"')
    name, once = f"postgres:{table.table}", Retries(attempts=1, timeout=timeout)
    link = Link(name, login, timeout)
    try:
        return persist(name, lambda: _fill(link, rows, table), once, Clock())
    finally:
        link.close()


def _fill(link: Link, rows: Iterable[tuple[str, str, str]], table: TextTable) -> int:
    names = {**_names(table), "vector": sql.Identifier(table.vector)}
    number = 0
    with link.transaction(read_only=False) as cursor:
        cursor.execute(sql.SQL(CREATE).format(**names, expression=sql.SQL(VECTOR).format(**names)))
        with cursor.copy(sql.SQL("COPY {table} ({id}, {title}, {text}) FROM STDIN").format(**names)) as lines:
            for number, row in enumerate(rows, start=1):
                _refuse_no_text(row, number)
                lines.write_row(row)
        cursor.execute(sql.SQL("CREATE INDEX ON {table} USING gin ({vector})").format(**names))
    return number


def _refuse_no_text(row: tuple[str, str, str], number: int) -> None:
    text = "".join(row)
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(
            f"row {number} holds a zero byte or half of a character, which PostgreSQL cannot keep",
            hint="clean the texts; nothing was written",
        )


def _names(table: TextTable, *source: str) -> dict[str, sql.Composable]:
    """What stands for the names in a statement; ``source`` goes before the columns, to tell them from our own."""
    return {
        "table": sql.Identifier(*table.table.split(".")),
        "id": sql.Identifier(*source, table.id),
        "title": sql.Identifier(*source, table.title),
        "text": sql.Identifier(*source, table.text),
        "language": sql.Literal(table.language),
        "headline": sql.Literal(HEADLINE),
    }


def _search_statement(table: TextTable) -> sql.Composed:
    # psycopg looks for placeholders in the whole statement, names in quotes included.
    table = TextTable(**{key: name.replace("%", "%%") for key, name in asdict(table).items()})
    names = _names(table, "source")
    column = sql.Identifier("source", table.vector) if table.vector else sql.SQL(VECTOR).format(**names)
    return sql.SQL(SEARCH).format(**names, vector=column)


try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise MissingExtraError("PostgreSQL", extra="services") from error


Value = TypeVar("Value")

SECRETS = ("password", "sslpassword")
PASSWORD_HINT = "set AIDOS_SERVICE_USER and AIDOS_SERVICE_PASSWORD, or use ~/.pgpass"  # noqa: S105 - a hint, no password
PASSING = ("08", "53", "57P")
"""How the codes of errors begin that may pass: the connection, resources, a server that starts or stops."""
FINAL_HINTS = {
    "28": PASSWORD_HINT,
    "42501": "ask for the right to do so",
    "42703": "check the names of the columns: id, title, text, vector",
    "42704": "is there such a language? \\dF in psql lists them",
    "42P01": "check the name of the table, with its schema where needed",
    "42P07": "choose another name",
    "57014": "allow more time, or search a column with the tsvector and a GIN index",
}
"""What to do, by the code of the error or its beginning. The server's own words are kept back: they may quote data."""
SECONDS_OF_GRACE = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Which database, and who asks."""

    dsn: str = field(default="", repr=False)
    """A connection string of libpq without a password: "host=... dbname=..." or "postgresql://host/name"."""
    user: str = field(default="", repr=False)
    """The user, where the string does not name one."""
    password: str = field(default="", repr=False)
    """The password, where the server wants one."""

    def __post_init__(self) -> None:
        try:
            known = conninfo_to_dict(self.dsn)
        except psycopg.ProgrammingError:
            # Not quoted: what cannot be read may hold a password.
            raise ParameterError(
                "the connection string cannot be read", hint="write host=HOST dbname=NAME or postgresql://HOST/NAME"
            ) from None
        if any(known.get(secret) for secret in SECRETS):
            raise ParameterError("the connection string carries a password", hint=PASSWORD_HINT)

    def arguments(self) -> dict[str, Any]:
        """What psycopg wants to know beside the string."""
        given = {"user": self.user, "password": self.password}
        return {key: value for key, value in given.items() if value}


class Link:
    """One connection, made when it is first needed and again when it broke."""

    def __init__(self, name: str, login: Login, timeout: float) -> None:
        """``timeout``: seconds that a transaction may take."""
        self._name = name
        self._login = login
        self._timeout = timeout
        self._connection: TimedConnection | None = None

    @contextmanager
    def transaction(self, *, read_only: bool) -> Iterator[psycopg.Cursor[Any]]:
        """A transaction with the time limit; raises PassingError or ServiceError."""
        try:
            connection = self._connected()
            connection.deadline = time.monotonic() + self._timeout + SECONDS_OF_GRACE
            connection.read_only = read_only
            with connection.transaction(), connection.cursor() as cursor:
                limit = str(ceil(self._timeout * 1000))
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", (limit,))
                yield cursor
        except TimeoutError:
            self.close()
            raise PassingError(f"did not answer within {self._timeout:g} s", hint="allow more time") from None
        except psycopg.Error as error:
            if self._connection is None or self._connection.broken:
                self.close()
            raise self._meaning(error) from None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> TimedConnection:
        if self._connection is None or self._connection.closed:
            # libpq takes whole seconds, and 1 for 2.
            seconds = max(2, ceil(self._timeout))
            self._connection = TimedConnection.connect(
                self._login.dsn, connect_timeout=seconds, application_name="aidos", **self._login.arguments()
            )
        return self._connection

    def _meaning(self, error: psycopg.Error) -> Exception:
        code = error.sqlstate or ""
        # While connecting there are no codes; a server that says FATAL was reached and knows its mind.
        refused = not code and "FATAL" in str(error) and "too many" not in str(error) and "starting" not in str(error)
        if refused:
            hint = f"check the database, the user and the password: {PASSWORD_HINT}"
            return ServiceError(f"{self._name}: the server refuses the connection (tried once)", hint=hint)
        if code.startswith(PASSING) or (not code and isinstance(error, psycopg.OperationalError)):
            return PassingError(
                "could not be reached or broke off", hint="does the server run, and is it the right one?"
            )
        hint = next((words for start, words in FINAL_HINTS.items() if code.startswith(start)), "check the options")
        kind = type(error).__name__
        return ServiceError(f"{self._name} refused: {kind} (SQLSTATE {code or 'unknown'}, tried once)", hint=hint)


class TimedConnection(psycopg.Connection[Any]):
    """A connection of psycopg that stops waiting when time is over."""

    deadline = float("inf")

    def wait(self, gen: Generator[Any, Any, Value], *given: Any, **named: Any) -> Value:
        """Wait for the server, until the deadline."""
        return super().wait(_until(gen, lambda: time.monotonic() > self.deadline), *given, **named)


def _until(steps: Generator[Any, Any, Value], late: Callable[[], bool]) -> Generator[Any, Any, Value]:
    """The same steps, broken off when it is late; whoever drives them looks in every tenth of a second."""
    try:
        asked = next(steps)
        while True:
            ready = yield asked
            if late():
                steps.close()
                raise TimeoutError
            asked = steps.send(ready)
    except StopIteration as end:
        value: Value = end.value
        return value
