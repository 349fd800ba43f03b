"""What a search service is, and how patient one is with it.

Every service, whether a file on this disk or an engine far away, is asked in the same way: words in, a list of results
out, best first. Services over a network fail in ways that pass: `persist` tries again, a bounded number of times, with
pauses that grow and vary, so that many clients that failed together do not come back together.

A query is a person's data. No error raised in `aidos.service` quotes the query or what the service answered, and what
is sent over HTTP stands in the body of a request, not in its address, since addresses are what servers write down.

What is not promised: that two services rank alike. Each keeps its own scores and its own idea of a match.

`Fields` says which fields of an engine's documents are searched and shown.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Annotated, Protocol, Self, TypeVar

from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.errors import InputError, ParameterError, ServiceError

__all__ = ["Clock", "Fields", "PassingError", "Result", "Retries", "SearchService", "check_request", "persist"]

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result of one search."""

    object_id: str
    """What the service calls the object; an engine of the web calls it by its address."""
    title: str
    """Its title; empty where it has none."""
    snippet: str
    """A few words of it, as plain text; empty where the service keeps none."""
    url: str
    """Where it can be read; empty where the service does not say."""
    score: float | None
    """The service's own score, greater is better; None where it gives none."""
    position: Annotated[int, Ge(1)]
    """Its rank, counted from 1."""

    def __post_init__(self) -> None:
        check_parameters(self)


class SearchService(Protocol):
    """Something that can be searched, and that wants to be closed."""

    @property
    def name(self) -> str:
        """The kind of service and where it is, for messages; never a secret."""
        ...

    def search(self, query: str, size: int = 10) -> list[Result]:
        """The best results for the words of ``query``, at most ``size`` of them, best first."""
        ...

    def close(self) -> None:
        """Let go of connections and files; closing twice is no mistake."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often to try, and how long to wait."""

    attempts: Annotated[int, Ge(1), Le(10)] = 3
    """How often a request is made, the first time included."""
    first_pause: Annotated[float, Gt(0)] = 0.5
    """Seconds before the second attempt, at most."""
    factor: Annotated[float, Ge(1), Le(10)] = 2.0
    """How much longer each pause is than the one before."""
    longest_pause: Annotated[float, Gt(0)] = 30.0
    """Seconds that no pause exceeds; a service that asks for more is given up."""
    timeout: Annotated[float, Gt(0)] = 10.0
    """Seconds that one attempt may take."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def pause(self, failures: int, draw: float, asked: float | None = None) -> float:
        """Seconds to wait after so many failures; ``draw`` in [0, 1) varies the upper half, ``asked`` is the least."""
        longest = min(self.longest_pause, self.first_pause * self.factor ** (failures - 1))
        varied = longest * (1 + draw) / 2
        return min(self.longest_pause, max(varied, asked or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time and chance, passed in: who tests need not wait."""

    sleep: Callable[[float], None] = time.sleep
    """Waits so many seconds."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds that never run backwards."""
    epoch: Callable[[], float] = time.time
    """Seconds since 1970, to understand dates that services send."""
    draw: Callable[[], float] = random.random
    """A number in [0, 1) that varies the pauses; nothing secret hangs on it."""


class PassingError(Exception):
    """Trouble that may pass, so that another attempt is worth while; `persist` never lets it out."""

    def __init__(self, reason: str, *, hint: str = "", after: float | None = None) -> None:
        """``after``: seconds that the service asks to wait, if it said so."""
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.after = after


def persist(name: str, action: Callable[[], Found], retries: Retries, clock: Clock) -> Found:
    """Do it, and again while the trouble may pass; raise ServiceError when patience ends."""
    attempt = 1
    while True:
        try:
            return action()
        except PassingError as trouble:
            tried = "tried once" if attempt == 1 else f"tried {attempt} times"
            if attempt == retries.attempts:
                raise ServiceError(f"{name} {trouble.reason} ({tried})", hint=trouble.hint) from None
            if trouble.after is not None and trouble.after > retries.longest_pause:
                raise ServiceError(
                    f"{name} {trouble.reason} and asks to wait {trouble.after:.0f} s, "
                    f"longer than the {retries.longest_pause:g} s allowed ({tried})",
                    hint="try again later, or allow longer pauses",
                ) from None
            pause = retries.pause(attempt, clock.draw(), trouble.after)
        # Outside the handler: who interrupts a pause should not see the failure before it.
        clock.sleep(pause)
        attempt += 1


def check_request(query: str, size: int, *, largest: int | None = None) -> str:
    """The query without white space around it, or a clear word on what is wrong with the request."""
    if size < 1 or (largest is not None and size > largest):
        limits = "at least 1" if largest is None else f"between 1 and {largest}"
        raise ParameterError(f"size must be {limits}, got {size}")
    words = query.strip()
    if not words:
        raise InputError("the query is empty", hint="give at least one word to search for")
    if "\0" in words or any("\ud800" <= letter <= "\udfff" for letter in words):
        raise InputError(
            "the query holds characters that are no text (a zero byte, or half of a character)",
            hint="check how the query was decoded; aidos expects UTF-8",
        )
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Names of fields, as the engine knows them."""

    searched: tuple[str, ...] = ("title", "text")
    """The fields that are searched; "title^2" counts twice as much."""
    title: str = "title"
    """The field with the title."""
    text: str = "text"
    """The field of which a snippet is shown."""
    url: str = "url"
    """The field with the address; documents without it have none."""

    def __post_init__(self) -> None:
        """Names are sent in lists that commas and spaces divide, so that none may hold one."""
        if not self.searched:
            raise ParameterError("no field is searched", hint="name at least one")
        if any(
            not name or any(letter in ' ,"' for letter in name)
            for name in (*self.searched, self.title, self.text, self.url)
        ):
            raise ParameterError("a field has a name with a space, a comma or a quote in it, or none at all")
