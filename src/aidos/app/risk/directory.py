"""The directory of a ranking: the state, the models it was made with, the entries, and everybody's ranks.

    state/          what has to be remembered of people, and no text (see `aidos.exposure.risk.keeping`)
    models/         topics and models, so that ranks of today and tomorrow compare
    entries/        the entries as they came, a file a time, so that a person can be shown hers
    ranks.parquet   the ranks of everybody, as they are now
    MANIFEST.json   what it is, and how each measure is brought up to date; recipe.toml makes it again

It is for its owner alone, and comes into being whole or not at all. Entries are written before the state takes them in,
under the number of their first entry: a file that the state does not know of was cut off, and is not read. An entry
that comes again is not counted again. Whoever is forgotten leaves the state first and the files after it, so that a
run that was cut off can be repeated.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from aidos.app.risk.erasing import erase_rows, overwritten, remove_partial
from aidos.app.risk.everybody import write_ranks
from aidos.app.risk.knowledge import keep_models, kept_models
from aidos.app.risk.manifest import write_manifest
from aidos.app.risk.repeats import leave_out_repeats
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError
from aidos.exposure.risk.keeping import RiskStore, read_state
from aidos.exposure.risk.people import People, read_people
from aidos.exposure.risk.state import Change, RiskState

__all__ = ["Added", "Forgotten", "RiskDirectory"]

STATE, MODELS, ENTRIES, RANKS = "state", "models", "entries", "ranks.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What came of new entries."""

    change: Change
    repeated: int
    """Entries that were counted already, and are not counted again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was taken out."""

    person: str
    entries: int
    people: int
    """How many are still ranked."""


@dataclass(frozen=True, slots=True)
class RiskDirectory:
    """Where a ranking is kept."""

    path: Path

    def refuse_taken(self) -> None:
        """Refuse a place where something is already, before any work is done."""
        if self.path.resolve() == Path.cwd():
            raise InputError("the directory you are in cannot become a ranking", hint="name a new one in it")
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            what = "a ranking" if (self.path / STATE).is_dir() else "something else"
            raise InputError(
                f"{self.path} holds {what} already",
                hint="choose another directory, or take new posts in with `aidos risk add`",
            )
        if not self.path.absolute().parent.is_dir():
            raise InputError(
                f"the directory of {self.path} does not exist", hint=f"make it first: mkdir -p {self.path.parent}"
            )

    @contextmanager
    def _being_made(self) -> Iterator[RiskDirectory]:
        """A directory under another name, which takes its own at the end."""
        place = self.path.absolute()
        partial = place.with_name(f".{place.name}.{token_hex(4)}.partial")
        partial.mkdir(mode=0o700)
        try:
            yield RiskDirectory(partial)
            partial.replace(place)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def create(self, state: RiskState, entries: EmbeddedTable) -> None:
        """Keep a new state and the entries it was made of."""
        with self._being_made() as made:
            keep_models(state.plan.models, made.path / MODELS)
            (made.path / ENTRIES).mkdir(mode=0o700)
            made._write_entries(entries, 0)
            RiskStore.create(made.path / STATE, state).close()
            made._write_ranks(state)
            write_manifest(made.path, state)

    def state(self) -> RiskState:
        """The state, to be asked."""
        self._require()
        return read_state(self.path / STATE, kept_models(self.path / MODELS))

    @contextmanager
    def writing(self) -> Iterator[RiskStore]:
        """The state, to be changed; one process at a time."""
        self._require()
        with RiskStore.open(self.path / STATE, kept_models(self.path / MODELS)) as store:
            yield store

    def add(self, store: RiskStore, came: EmbeddedTable) -> Added:
        """Take in new entries; those that were counted before are left out."""
        state, engine = store.state, came.engine
        known = self.all_entries(engine, state)
        with leave_out_repeats(came, known).held() as entries:
            new = entries.count()
            if not new:
                nothing = Change(people=(), new_people=0, removed_people=0, entries=0)
                return Added(change=nothing, repeated=came.count())
            people = self.read(entries, state)
            state.plan.check_people(people)
            everybody = self.read(engine.view(_joined(entries, known)), state) if state.plan.others else None
            self._write_entries(entries, state.next_entry)
            change = store.add(people, everybody=everybody)
        self._write_ranks(store.state)
        return Added(change=change, repeated=came.count() - new)

    def forget(self, store: RiskStore, engine: EmbeddedEngine, person_id: str | None, post: str | None) -> Forgotten:
        """Forget a person, or one entry of hers; what others are ranked by changes with it."""
        state = store.state
        person_id = self._owner(engine, state, person_id, post)
        gone = f"author_id = {quote_text(person_id)}" + (f" and post_id = {quote_text(post)}" if post else "")
        kept = self.all_entries(engine, state)
        left = kept.select(f"select * from {{table}} where not ({gone})") if kept else None
        hers = left.select(f"select * from {{table}} where author_id = {quote_text(person_id)}") if left else None
        everybody = self.read(left, state) if state.plan.others and left and left.count() else None
        if post and hers and hers.count():
            store.replace(self.read(hers, state), everybody=everybody)
        elif person_id in state.register:
            store.remove([person_id], everybody=everybody)
        store.compact()
        removed = sum(erase_rows(engine, part, gone) for part in self._parts())
        with overwritten(self.path / RANKS):
            self._write_ranks(store.state)
        for place in (self.path, self.path / ENTRIES):
            remove_partial(place)
        return Forgotten(person=person_id, entries=removed, people=len(store.state))

    def all_entries(self, engine: EmbeddedEngine, state: RiskState) -> EmbeddedTable | None:
        """The entries of everybody; None where nobody is left."""
        known = [part for part in self._parts() if int(part.stem.partition("-")[2]) < state.next_entry]
        return engine.parquet(*known) if known else None

    def entries(self, engine: EmbeddedEngine, state: RiskState, person_id: str) -> EmbeddedTable:
        """The entries of one person."""
        state.register.find(person_id)
        found = self.all_entries(engine, state)
        if found is None:
            raise InputError(f"the entries of {self.path} are gone", hint="rank the posts again into a new directory")
        return found.select(f"select * from {{table}} where author_id = {quote_text(person_id)}")

    def read(self, entries: EmbeddedTable, state: RiskState) -> People:
        """Entries as the measures read them."""
        return read_people(entries, analyser=state.plan.analyser)

    def _require(self) -> None:
        if not (self.path / STATE).is_dir():
            raise InputError(f"there is no ranking in {self.path}", hint="make one first: aidos risk rank --help")

    def _parts(self) -> list[Path]:
        """All files of entries, also one that was cut off."""
        return sorted((self.path / ENTRIES).glob("part-*.parquet"))

    def _owner(self, engine: EmbeddedEngine, state: RiskState, person_id: str | None, post: str | None) -> str:
        """Whose data are to go, who must be there; one whom a run that was cut off forgot by half is there as well."""
        parts = self._parts()
        where = f"post_id = {quote_text(post)}" if post else f"author_id = {quote_text(person_id or '')}"
        held = engine.parquet(*parts).rows(f"select distinct author_id from {{table}} where {where}") if parts else []
        owners = [str(row[0]) for row in held if person_id is None or row[0] == person_id]
        if len(owners) > 1:
            raise ParameterError(
                f"{len(owners)} people have an entry of that name", hint="say whose it is as well: --person ID"
            )
        if not owners and post:
            raise ParameterError("no entry has that name", hint="names are compared letter by letter")
        if not owners:
            state.register.find(person_id or "")
        return owners[0] if owners else str(person_id)

    def _write_entries(self, entries: EmbeddedTable, first: int) -> None:
        path = self.path / ENTRIES / f"part-{first:012d}.parquet"
        entries.write_parquet(path)
        path.chmod(0o600)

    def _write_ranks(self, state: RiskState) -> None:
        with replace_when_done(self.path / RANKS, private=True) as partial:
            write_ranks(state, partial)


def _joined(entries: EmbeddedTable, known: EmbeddedTable | None) -> str:
    old = f" union all by name select * from {known.name}" if known else ""
    return f"select * from {entries.name}{old}"
