"""A risk state on the disk: a directory for its owner alone, with one SQLite file in it.

Every change is one transaction that is on the disk when the call returns: killed at any moment, a process leaves the
state as it was before the change or as it is after it. One process writes at a time and holds the directory meanwhile;
a second one is told so at once. Others may read what was written last.

Kept are numbers, the names of people, and the names of the entries that put them where they are. No text of anybody is
kept: which words of a topic somebody has is a row of marks. Whoever is removed is overwritten with zeros in the file. A
state is bound to its topics, measures, analyser and models, and is refused with others: it knows them by check sums.

The directory must be on a local disk: locks of network file systems cannot be trusted.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from aidos.core.jsontext import parse_json
from aidos.engine.database import Database
from aidos.engine.files import replace_when_done, sweep_leftovers
from aidos.errors import AidosError, EngineError, InputError, ParameterError
from aidos.model.text.analyser import Analyser
from aidos.rooms.risk.kept.plan import RiskPlan
from aidos.rooms.risk.kept.register import check_names, pack_names, pack_traces, unpack_names, unpack_traces
from aidos.rooms.risk.kept.standing import Recomputed
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.measure import RiskMeasure
from aidos.rooms.risk.measures import find_measure
from aidos.rooms.risk.people import People
from aidos.rooms.risk.state import Change, RiskState

__all__ = ["RiskStore", "read_state"]

KIND = "aidos risk state"
FILE = "state.sqlite"
STATE = Database(
    noun="a risk state",
    version=2,
    absent="there is no risk state in {path}",
    first="make one from posts or queries first",
    again="make it again from the entries",
    busy="somebody else is writing to {path}",
    unchanged="the state is as it was",
)
SECONDS_TO_WAIT = 30.0
MOST_ENTRIES = 1 << 48
PART = 4096
"""People who are written or read in one go."""
TABLES = """
create table facts (name text primary key, value text not null) without rowid;
create table people (person text primary key, traces blob not null, names blob not null, seal integer not null);
create table others (person text primary key, risks blob not null, seal integer not null);
"""


class RiskStore:
    """A state and its directory, held for writing. Make one with `create` or `open`, and close it."""

    def __init__(self, path: Path, state: RiskState, connection: sqlite3.Connection, held: ExitStack) -> None:
        self.path = path
        self._state = state
        self._connection = connection
        self._held = held
        self._whole = True

    @classmethod
    def create(cls, path: Path, state: RiskState) -> Self:
        """Put a state into a new directory, or into an empty one."""
        STATE.make(path)
        with ExitStack() as stack:
            stack.enter_context(STATE.held(path))
            _refuse_taken(path)
            with STATE.spoken(path):
                _write_new(path, state)
                connection = stack.enter_context(closing(_connect(path / FILE)))
            return cls(path, state, connection, stack.pop_all())

    @classmethod
    def open(
        cls,
        path: Path,
        models: RiskModels,
        *,
        topics: Sequence[str] | None = None,
        measures: Sequence[RiskMeasure] | None = None,
    ) -> Self:
        """Open a state to change it, with the models it was made with; topics and measures, where given, must agree."""
        with ExitStack() as stack:
            stack.enter_context(STATE.held(path))
            state = read_state(path, models, topics=topics, measures=measures)
            with STATE.spoken(path):
                connection = stack.enter_context(closing(_connect(path / FILE)))
            return cls(path, state, connection, stack.pop_all())

    @property
    def state(self) -> RiskState:
        """The state as it is on the disk; change it through the store only."""
        if not self._whole:
            raise EngineError(
                f"the last change to {self.path} could not be written", hint="open it again: the change was not made"
            )
        return self._state

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the directory; everything is on the disk already."""
        self._held.close()

    def add(self, people: People, *, everybody: People | None = None) -> Change:
        """Take in entries of people, known or new; ``everybody`` is as in `RiskState.add`."""
        with self._changing() as state:
            return self._write(state.add(people, everybody=everybody))

    def replace(self, people: People, *, everybody: People | None = None) -> Change:
        """Forget what is known of these people; what is given are all the entries they have."""
        with self._changing() as state:
            return self._write(state.replace(people, everybody=everybody))

    def remove(self, ids: Sequence[str], *, everybody: People | None = None) -> Change:
        """Forget people wholly; all of them or none."""
        with self._changing() as state:
            change = state.remove(ids, everybody=everybody)
            self._connection.executemany("delete from people where person = ?", [(name,) for name in change.people])
            _put_others(self._connection, state)
            return change

    def compact(self) -> None:
        """Write the file anew, so that nothing is left in it of what was deleted or replaced."""
        with STATE.spoken(self.path):
            self._connection.execute("vacuum")

    @contextmanager
    def _changing(self) -> Iterator[RiskState]:
        """One transaction; when it fails, the state in memory is ahead of the disk and is not to be used."""
        state = self.state
        with STATE.spoken(self.path):
            self._connection.execute("begin immediate")
            try:
                yield state
                self._whole = False
                self._connection.execute("commit")
                self._whole = True
            except BaseException as error:
                # What aidos refuses, it refuses before anything is changed.
                self._whole = self._whole and isinstance(error, AidosError)
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise

    def _write(self, change: Change) -> Change:
        _put_people(self._connection, self._state, change.people)
        _put_others(self._connection, self._state)
        _put_facts(self._connection, {"next entry": str(self._state.next_entry)})
        return change


def _connect(file: Path) -> sqlite3.Connection:
    """The file, with zeros where something was."""
    connection = STATE.connect(file, wait=SECONDS_TO_WAIT)
    connection.execute("pragma secure_delete = on")
    return connection


def _refuse_taken(path: Path) -> None:
    """Refuse a directory that holds something; what a killed maker left is removed."""
    sweep_leftovers(path, inside=True)
    if others := [entry.name for entry in path.iterdir()]:
        what = "a risk state" if FILE in others else "other files"
        raise InputError(f"{path} holds {what} already", hint="choose another directory, or remove this one")
    path.chmod(0o700)


def read_state(
    path: Path,
    models: RiskModels,
    *,
    topics: Sequence[str] | None = None,
    measures: Sequence[RiskMeasure] | None = None,
) -> RiskState:
    """The state as it was written last, to be asked; somebody else may write meanwhile."""
    if not (path / FILE).is_file():
        raise STATE.missing(path)
    with STATE.spoken(path), closing(_connect(path / FILE)) as connection:
        connection.execute("begin")
        facts = {str(name): str(value) for name, value in connection.execute("select name, value from facts")}
        if facts.get("kind") != KIND:
            raise InputError(f"{path / FILE} is no risk state", hint="name a directory that holds one")
        said = facts.get("format", "")
        STATE.refuse_version(path, int(said) if said.isdecimal() else None)
        state = RiskState(_plan(path, facts, models, topics, measures))
        state.next_entry = _next_entry(path, facts)
        _load(path, connection, state)
    return state


def _next_entry(path: Path, facts: dict[str, str]) -> int:
    said = facts.get("next entry", "")
    if not (said.isascii() and said.isdigit() and len(said) < len(str(MOST_ENTRIES))):
        raise STATE.damage(path, "it does not say how many entries it counted")
    return int(said)


def _plan(
    path: Path,
    facts: dict[str, str],
    models: RiskModels,
    topics: Sequence[str] | None,
    measures: Sequence[RiskMeasure] | None,
) -> RiskPlan:
    """The plan of the file, which must be the one that is asked for."""
    try:
        kept = parse_json(facts["plan"])
        bound: dict[str, str] = dict(parse_json(facts["bound to"]))
        own = tuple(_measure(path, text) for text in kept["measures"])
        analyser = Analyser.parse(kept["analyser"])
        plan = RiskPlan(topics or kept["topics"], measures or own, models, analyser)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise STATE.damage(path, "it does not say what it is bound to") from error
    given = plan.fingerprints()
    if other := [name for name in {**bound, **given} if bound.get(name) != given.get(name)]:
        raise InputError(
            f"{path} was made with other {' and other '.join(other)}",
            hint="give what it was made with, or make another state from the entries",
        )
    return plan


def _measure(path: Path, text: str) -> RiskMeasure:
    try:
        return find_measure(text)
    except ParameterError as error:
        raise InputError(
            f"{path} was made with the measure {text.partition(':')[0]}, which is not there any more",
            hint="install the package that brings it, or rank again without it",
        ) from error


def _load(path: Path, connection: sqlite3.Connection, state: RiskState) -> None:
    people = connection.execute("select person, traces, names, seal from people order by person").fetchall()
    others = connection.execute("select person, risks, seal from others order by person").fetchall()
    try:
        if any(_seal(*row[:-1]) != row[-1] for row in (*people, *others)):
            raise ValueError("a row is not as it was written")
        traces = unpack_traces([row[1] for row in people], state.plan)
        names = [unpack_names(row[2]) for row in people]
        check_names(traces, names, state.next_entry)
        state.others = Recomputed.unpacked([row[:2] for row in others], state.plan)
        if state.plan.others and [row[0] for row in others] != [row[0] for row in people]:
            raise ValueError("risks are of other people")
    except (ValueError, TypeError, AttributeError) as error:
        raise STATE.damage(path, "what it keeps of people cannot be read") from error
    if people:
        state.restore([row[0] for row in people], traces, names)


def _seal(person: str, *blobs: bytes) -> int:
    """The checksum of a row. It recognises accidents; what is in the row is checked for itself."""
    code = zlib.crc32(person.encode("utf-8", "surrogatepass"))
    for blob in blobs:
        code = zlib.crc32(blob, code)
    return code


def _write_new(path: Path, state: RiskState) -> None:
    """A whole file under another name, which it gets at the end."""
    plan = state.plan
    kept = {
        "topics": plan.topics,
        "measures": [str(measure) for measure in plan.measures],
        "analyser": str(plan.analyser),
    }
    with replace_when_done(path / FILE, private=True) as partial, closing(_connect(partial)) as connection:
        connection.executescript(TABLES)
        connection.execute("begin immediate")
        facts = {"kind": KIND, "format": str(STATE.version), "next entry": str(state.next_entry)}
        _put_facts(connection, {**facts, "plan": json.dumps(kept), "bound to": json.dumps(plan.fingerprints())})
        for first in range(0, len(state), PART):
            _put_people(connection, state, state.register.ids[first : first + PART])
        _put_others(connection, state)
        connection.execute("commit")


def _put_people(connection: sqlite3.Connection, state: RiskState, ids: Sequence[str]) -> None:
    traces = pack_traces(state.register.traces(state.register.rows(ids)), len(ids))
    names = (pack_names(state.register.names(person_id)) for person_id in ids)
    rows = ((*row, _seal(*row)) for row in zip(ids, traces, names, strict=True))
    connection.executemany("insert or replace into people values (?, ?, ?, ?)", rows)


def _put_others(connection: sqlite3.Connection, state: RiskState) -> None:
    """All of them anew: any entry may change the risk of anybody."""
    if state.plan.others:
        connection.execute("delete from others")
        rows = ((*row, _seal(*row)) for row in state.others.packed())
        connection.executemany("insert into others values (?, ?, ?)", rows)


def _put_facts(connection: sqlite3.Connection, facts: dict[str, str]) -> None:
    connection.executemany("insert or replace into facts values (?, ?)", facts.items())
