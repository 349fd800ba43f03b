"""Which column of a file is probably meant where none could be mapped, and which columns are not used.

Candidates are ranked by the words of their names and kept only where their cells look like it. A release believes no
row, so there names alone tell, and nobody is suggested for a person: a column that is the same in every row would make
everybody one person. What is suggested is an option to paste, and never taken by itself.

What a column looks like (`Look`) is told by the first rows. A column that is the same in every row cannot say who
somebody is, nor can one that differs in every row, nor one that holds texts. Names alone do not tell: ``ecs.version``
is spelled much like ``person``.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from aidos.core.records import Schema
from aidos.errors import Problem
from aidos.ingest.columns import ALIASES, plain_name
from aidos.ingest.problems import describe
from aidos.ingest.timestamps import parse_time, suggest_time_format

__all__ = [
    "ROWS_LOOKED_AT",
    "Look",
    "Unused",
    "candidates",
    "heard_columns",
    "look_at",
    "missing_columns",
    "unused_columns",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PERSON = _words("account anon anonid client cookie customer device ip login member person searcher uid user userid")
PERSON |= _words("username visitor visitorid")
WORDS: Mapping[str, frozenset[str]] = {
    "client_id": PERSON,
    "author_id": PERSON | _words("author creator owner poster writer"),
    "timestamp": _words("clock created date datetime day time timestamp ts when"),
    "user_query": _words("asked keyword keywords phrase q queries query querystring search searched term terms typed"),
    "object_id": _words("article asin clicked doc docid docno document href isbn item link listing object page product")
    | _words("result sku uri url"),
    "position": _words("ordinal place pos position rank slot"),
    "session_id": _words("session sid visit"),
    "post_id": _words("comment id message post"),
    "text": _words("body comment content message post raw text words"),
    "title": _words("headline subject title"),
    "forum": _words("board category channel community forum site subreddit topic"),
    "parent_id": _words("parent reply"),
    "tags": _words("label labels tag tags"),
    "score": _words("like likes points score vote votes"),
    "relevance": _words("grade judgement label rating rel relevance"),
}
"""Words of names that are heard for a column; ``query_id``, ``action`` and ``kind`` are never guessed."""
ENDINGS: Mapping[str, frozenset[str]] = {
    "timestamp": _words("at gmt iso micros millis ms on utc"),
    "user_query": _words("orig original phrase raw string text typed value"),
    "object_id": _words("code id ids key location no number path ref"),
    "text": _words("body raw text"),
    "score": _words("count"),
}
KEYS = _words("anon code hash hashed id key name no number pseudo pseudonym token uuid")
"""Words that may stand behind the one that is heard: a user name is a user, a user agent is none."""
OTHERS = _words("avatar icon image previous referer referrer")
"""Words that make a name one of something else."""
NAMES_SHOWN = 20
CLOSE = 0.88
"""How alike two names must be for a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Unused:
    """A column of a file that becomes nothing."""

    name: str
    """As the file calls it."""
    could_be: str = ""
    """The column of aidos that it might be; empty when none comes to mind."""
    option: str = ""
    """The option that says so."""


def unused_columns(
    names: Sequence[str], schema: Schema, mapping: Mapping[str, str], looks: Mapping[str, Look] | None
) -> tuple[Unused, ...]:
    """Every column that nothing maps to, with what it might be: each column of aidos is suggested once."""
    free = _free(names, mapping)
    best = {
        found[0]: column
        for column in reversed([name for name in schema.names() if name not in mapping])
        if (looks is not None or column != schema.person) and (found := candidates(column, schema, free, looks))
    }
    return tuple(Unused(name, best[name], _option(best[name], name)) if name in best else Unused(name) for name in free)


def missing_columns(  # noqa: PLR0913
    file: str,
    names: Sequence[str],
    schema: Schema,
    mapping: Mapping[str, str],
    *,
    line: int | None = 1,
    needed: Collection[str] = (),
    looks: Mapping[str, Look] | None = None,
    named: bool = True,
) -> list[Problem]:
    """Required and ``needed`` columns that nothing maps to, and given ones that the file does not have.

    Without ``looks`` names alone tell; where the file does not name its columns, ``looks`` alone do.
    """
    wanted = [c.name for c in schema.columns if (c.required or c.name in needed) and c.name not in mapping]
    absent = [column for column, name in mapping.items() if name not in names and name.split(".")[0] not in names]
    free = _free(names, mapping)
    problems = []
    for column in [*wanted, *absent]:
        found = candidates(column, schema, free, looks, mapping.get(column, ""))
        if not named:
            found = [name for name in free if looks and _may_be(column, schema, looks[name])]
        elif column == schema.person and looks is None:
            found = []
        is_told = named or (len(found) == 1 and column != schema.person)  # looks alone make nobody a person
        best = found[0] if found and is_told else "NAME"
        told = describe(
            "missing-column",
            file,
            lines=() if line is None else (line,),
            column=column,
            meaning=f"{column} ({schema.column(column).about})",
            columns="",
            assignment=shlex.quote(f"{column}={best}"),
        )
        advice = _advice(column, schema, found, free, looks)
        problems.append(replace(told, remedy=f"{advice}; the file has {_listed(names)}"))
    return problems


def heard_columns(names: Sequence[str], schema: Schema, mapping: Mapping[str, str]) -> list[str]:
    """The columns without a use whose names speak for one: only they need to be looked at."""
    open_columns = [column for column in schema.names() if column not in mapping or mapping[column] not in names]
    return [
        name
        for name in _free(names, mapping)
        if any(_score(name, column, schema, mapping.get(column, "")) for column in open_columns)
    ]


def candidates(
    column: str, schema: Schema, free: Sequence[str], looks: Mapping[str, Look] | None, meant: str = ""
) -> list[str]:
    """The free columns that may be a column of the schema, the likeliest first; ``meant`` is a name that was tried."""
    heard = {name: score for name in free if (score := _score(name, column, schema, meant))}
    ranked = sorted(heard, key=lambda name: -heard[name])
    return [name for name in ranked if looks is None or (name in looks and _fits(column, schema, looks[name]))]


def _advice(
    column: str, schema: Schema, found: Sequence[str], free: Sequence[str], looks: Mapping[str, Look] | None
) -> str:
    if found:
        return f"say which one does: {' or '.join(found)} may be it"
    if looks is None:
        return "say which one does (aidos check may suggest one)" if column == schema.person else "say which one does"
    heard = [name for name in free if name in looks and _score(name, column, schema, "")]
    reasons = [f"{name} {looks[name].no_person()}" for name in heard if column == schema.person]
    return "say which one does: none of its columns looks like it" + (f" ({', '.join(reasons)})" if reasons else "")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def _free(names: Sequence[str], mapping: Mapping[str, str]) -> list[str]:
    """Columns that nothing maps to, nor to a field inside of them."""
    return [name for name in names if not any(f"{used}.".startswith(f"{name}.") for used in mapping.values())]


def _option(column: str, name: str) -> str:
    return f"--column {shlex.quote(f'{column}={name}')}"


def _score(name: str, column: str, schema: Schema, meant: str) -> int:
    """How much a name speaks for a column: 0 when nothing does."""
    targets = [plain_name(target) for target in (meant, column, *ALIASES[schema.name][column]) if len(target) > 2]
    slip = difflib.get_close_matches(plain_name(name), targets, n=1, cutoff=CLOSE)
    words = re.findall(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[^\W\dA-Za-z_]+", name)
    words = [word.lower() for word in words]
    heard = [place for place, word in enumerate(words) if word in WORDS.get(column, ())]
    behind = set(words[heard[-1] + 1 :]) if heard else set()
    is_heard = heard and behind <= ENDINGS.get(column, KEYS) and OTHERS.isdisjoint(words)
    return 2 * bool(slip) + len(heard) if slip or is_heard else 0


def _may_be(column: str, schema: Schema, look: Look) -> bool:
    """Whether cells alone speak for a column; a few different ones are grades or kinds, and no people."""
    is_rare = column == schema.person and look.different**2 < look.cells
    return (
        _fits(column, schema, look) and not is_rare and (column == "timestamp" or not (look.is_time or look.is_clock))
    )


def _fits(column: str, schema: Schema, look: Look) -> bool:
    """Whether the cells of a column may be what the schema has under that name."""
    if column == schema.person:
        return not look.no_person()
    kind = schema.column(column).type
    if kind != "VARCHAR":
        return look.is_time if kind == "TIMESTAMP" else look.is_whole or kind == "DOUBLE"
    is_dull = look.is_constant and look.cells != 1  # a single row tells nothing
    match column:
        case "text":
            return look.is_text
        case "post_id":
            return look.is_unique and not look.is_text
        case "user_query":
            return not (is_dull or look.is_time or look.is_whole or look.is_address)
        case "object_id":
            return not (is_dull or look.is_time or look.is_text or (look.is_whole and look.different < 3))
        case _:
            return not is_dull


ROWS_LOOKED_AT = 2000
"""How many first rows advice is made from."""
TIMES_LOOKED_AT = 50
FEW = 0.1
"""The share of cells that may be otherwise: a few texts make a column of texts, a few oddities are no times."""
NEARLY_ALL = 0.98
FEWEST_PEOPLE, MANY_CELLS = 5, 50
"""Where so many rows know fewer people, they are services or roles."""
WORDS_OF_TEXT = 3
LONG = 40
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
NAME = re.compile(r"[\w.:@/+=-]+", re.ASCII)
"""How keys, hashes and addresses are written, however long they are."""
ADDRESS = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)
CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?")
EPOCHS = tuple((6e8 * unit, 4e9 * unit) for unit in (1, 1e3, 1e6))
"""Numbers that are times of computers: from 1989 to 2096 in seconds, milliseconds and microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the cells of one column have in common; blank cells do not count."""

    cells: int
    different: int
    """How many different ones there are."""
    is_text: bool
    """Whether people wrote it: several words, or mark-up."""
    is_time: bool
    is_whole: bool
    """Whole numbers throughout."""
    is_address: bool
    is_clock: bool
    """Times of day, without a date."""

    @property
    def is_constant(self) -> bool:
        """Whether all rows say the same, or nothing."""
        return self.different < 2

    @property
    def is_unique(self) -> bool:
        """Whether (nearly) every row says something else."""
        return self.different > NEARLY_ALL * self.cells

    def no_person(self) -> str:
        """Why the column cannot say whose row it is; empty when it may."""
        if self.is_constant:
            return "says the same in every row"
        if self.is_unique:
            return "says something else in every row"
        if self.different < FEWEST_PEOPLE and self.cells >= MANY_CELLS:
            return f"says one of only {self.different} things"
        if self.is_text:
            return "holds text"
        if self.is_clock:
            return "holds times of day"
        return "holds addresses" if self.is_address else ""


def look_at(names: Sequence[str], rows: Iterable[Sequence[str]]) -> dict[str, Look]:
    """The look of every column, by name; rows of another length are left out."""
    fitting = list(islice((row for row in rows if len(row) == len(names)), ROWS_LOOKED_AT))
    return {name: _look([row[place] for row in fitting]) for place, name in enumerate(names)}


def _look(column: Sequence[str]) -> Look:
    cells = [cell.strip() for cell in column if cell.strip()]
    return Look(
        cells=len(cells),
        different=len(set(cells)),
        is_text=_many(map(_is_text, cells), cells),
        is_time=_is_time(cells[:TIMES_LOOKED_AT]),
        is_whole=bool(cells) and all(cell.isdecimal() for cell in cells),
        is_address=_many((ADDRESS.match(cell) is not None for cell in cells), cells),
        is_clock=bool(cells) and all(CLOCK.fullmatch(cell) for cell in cells),
    )


def _many(found: Iterable[bool], cells: Sequence[str]) -> bool:
    return sum(found) > FEW * len(cells)


def _is_text(cell: str) -> bool:
    return (
        len(cell.split(maxsplit=WORDS_OF_TEXT - 1)) == WORDS_OF_TEXT
        or "<" in cell
        or (len(cell) > LONG and NAME.fullmatch(cell) is None)
    )


def _is_time(cells: Sequence[str]) -> bool:
    if not cells:
        return False
    return not _many((not _is_moment(cell) for cell in cells), cells) or suggest_time_format(cells) != ""


def _is_moment(cell: str) -> bool:
    if NUMBER.fullmatch(cell):
        return any(low < float(cell) < high for low, high in EPOCHS)
    return parse_time(cell) is not None
