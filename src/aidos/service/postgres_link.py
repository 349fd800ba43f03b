"""A connection to PostgreSQL that keeps its time limit, and what the server's errors mean.

The server is told the limit for each statement. Should it not answer at all (a host that fell asleep, a network that
swallows packets), the client stops waiting by itself a little later. Trouble with the connection may pass and is tried
again; so are errors of a server that is full, starting or stopping. Everything else is final.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Any, TypeVar

from aidos.errors import MissingExtraError, ParameterError, ServiceError
from aidos.service.base import PassingError

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise MissingExtraError("PostgreSQL", extra="services") from error

__all__ = ["Link", "Login", "TimedConnection"]

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
