"""The directory of a ranking: the state, the models it was made with, the entries, and everybody's ranks.

    state/          what has to be remembered of people, and no text (see `aidos.rooms.risk.keeping`)
    models/         topics and models, so that ranks of today and tomorrow compare
    entries/        the entries as they came, a file a time, so that a person can be shown hers
    entries.json    size and checksum of each of these files
    ranks.parquet   the ranks of everybody, as they are now
    MANIFEST.json   what it is, and how each measure is brought up to date; recipe.toml makes it again

It is for its owner alone, and comes into being whole or not at all. Entries are written before the state takes them in,
under the number of their first entry: a file that the state does not know of was cut off, and is not read. An entry
that comes again is not counted again. Whoever is forgotten leaves the state first and the files after it, so that a
run that was cut off can be repeated.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aidos import __version__
from aidos.core.guarantee import statement
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.engine.files import directory_when_done, overwritten, replace_when_done, sweep_leftovers, write_text
from aidos.engine.sealed import check_files, damage, store_files, stored_entries
from aidos.engine.store import Manifest
from aidos.errors import InputError, ParameterError
from aidos.rooms.risk.keeping import RiskStore, read_state
from aidos.rooms.risk.measure import least_nearness
from aidos.rooms.risk.models import keep_models, kept_models
from aidos.rooms.risk.people import People, read_people
from aidos.rooms.risk.ranking import RiskRanking, write_ranks
from aidos.rooms.risk.sources import leave_out_repeats
from aidos.rooms.risk.state import Change, RiskState

__all__ = ["Added", "Forgotten", "RiskDirectory", "erase_rows"]

STATE, MODELS, ENTRIES, RANKS = "state", "models", "entries", "ranks.parquet"
NUMBERED = 12
"""Digits in the name of a file of entries."""
AGAIN = "rank the posts again into a new directory"
ABOUT = Manifest(
    file="entries.json",
    kind="aidos entries of a ranking",
    version=1,
    noun="a ranking",
    named="name a directory that aidos risk rank made",
    again=AGAIN,
)
TEXT = (pa.string(), pa.large_string())
COLUMNS = {
    **dict.fromkeys(("author_id", "text", "title", "post_id", "known_by"), TEXT),
    "timestamp": (pa.timestamp("us"),),
}
"""What files of entries hold, and of which kind."""
MECHANISM = "risk-ranking"
KEPT = "kept up to date from what is remembered of each person"
RECOMPUTED = "computed again from all entries, since nothing is known of how one entry changes it; no trend, no draft"


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
    held: pa.Table | None = None
    """The entries, where they are kept in memory alone."""

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

    def create(self, state: RiskState, entries: EmbeddedTable) -> None:
        """Keep a new state and the entries it was made of."""
        with directory_when_done(self.path, private=True) as partial:
            made = RiskDirectory(partial)
            keep_models(state.plan.models, made.path / MODELS)
            (made.path / ENTRIES).mkdir(mode=0o700)
            made._write_entries(entries, 0)
            RiskStore.create(made.path / STATE, state).close()
            made._write_ranks(state)
            _write_manifest(made.path, state)

    def state(self) -> RiskState:
        """The state, to be asked."""
        self._require()
        return read_state(self.path / STATE, kept_models(self.path / MODELS))

    @contextmanager
    def writing(self) -> Iterator[RiskStore]:
        """The state, to be changed; one process at a time."""
        self._require()
        with RiskStore.open(self.path / STATE, kept_models(self.path / MODELS)) as store:
            # A run that was cut off may have left entries of somebody who is in no other file.
            sweep_leftovers(self.path, inside=True, blank=True)
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
        self._seal(())  # cut off meanwhile, it can be repeated
        removed = sum(erase_rows(engine, part, gone) for part in self._parts())
        self._seal(self._parts())
        with overwritten(self.path / RANKS):
            self._write_ranks(store.state)
        return Forgotten(person=person_id, entries=removed, people=len(store.state))

    def all_entries(self, engine: EmbeddedEngine, state: RiskState) -> EmbeddedTable | None:
        """The entries of everybody; None where nobody is left."""
        if self.held is not None:
            return engine.table(self.held)
        known = [part for part in self._parts() if _first_entry(part) < state.next_entry]
        self._check(known)
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
        self._check(parts)
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
        entries.write_parquet(path, private=True)
        self._seal(self._parts())

    def _seal(self, parts: Sequence[Path]) -> None:
        """Say how files of entries are; those of which nothing is said are about to change."""
        ABOUT.write(self.path, {"files": store_files(self.path, parts)})

    def _check(self, parts: Sequence[Path]) -> None:
        """Refuse entries that are not as they were written, or have other columns."""
        # Rankings of earlier versions do not say it.
        told = ABOUT.read(self.path) if (self.path / ABOUT.file).exists() else {"files": {}}
        with ABOUT.understood(self.path):
            said = stored_entries(told["files"])
        sealed = [said[name] for part in parts if (name := part.relative_to(self.path).as_posix()) in said]
        check_files(self.path, sealed, again=AGAIN)
        for part in parts:
            try:
                schema = pq.read_schema(part, memory_map=True)
                sound = all(schema.field(name).type in kinds for name, kinds in COLUMNS.items())
            except (OSError, KeyError, pa.ArrowException) as error:
                raise damage(part, "it cannot be read", AGAIN) from error
            if not sound:
                raise damage(part, "it has other columns", AGAIN)

    def _write_ranks(self, state: RiskState) -> None:
        with replace_when_done(self.path / RANKS, private=True) as partial:
            write_ranks(state, partial)


def erase_rows(engine: EmbeddedEngine, path: Path, condition: str) -> int:
    """Take the rows of a Parquet file out that meet a condition in SQL; a file without rows is removed. How many.

    The file is written anew and takes the place of the old one, whose bytes are then overwritten.
    """
    rows = engine.parquet(path)
    total, gone = (int(str(value)) for value in rows.rows(f"select count(*), count_if({condition}) from {{table}}")[0])
    if gone:
        with overwritten(path):
            if gone == total:
                path.unlink()
            else:
                rows.select(f"select * from {{table}} where not ({condition})").write_parquet(path, private=True)
    return gone


def _write_manifest(directory: Path, state: RiskState) -> None:
    """What a ranking says of itself: MANIFEST.json for everybody who finds it, recipe.toml to make it again."""
    plan = state.plan
    ranking = RiskRanking(topics=plan.topics, measures=tuple(map(str, plan.measures)))
    parameters = {"topics": ranking.topics, "measures": ranking.measures}
    told = {
        "kind": "aidos risk ranking",
        "aidos": __version__,
        "finding": "ranks of people, not for release",
        "promise": statement(ranking.promise),
        "recipe": {"mechanism": MECHANISM, "parameters": parameters},
        "analyser": str(plan.analyser),
        "measures": [
            {
                "measure": str(measure),
                "about": measure.about(),
                "with_new_posts": RECOMPUTED if measure in plan.others else KEPT,
                "least_nearness": None if measure in plan.others else least_nearness(measure),
            }
            for measure in plan.measures
        ],
    }
    write_text(directory / "MANIFEST.json", json.dumps(told, indent=1, ensure_ascii=False) + "\n", private=True)
    lines = [f"mechanism = {json.dumps(MECHANISM)}", "items = []", "", "[parameters]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in parameters.items()]
    write_text(directory / "recipe.toml", "\n".join(lines) + "\n", private=True)


def _first_entry(part: Path) -> int:
    """The number in the name of a file of entries; none that the state knows where it has no such name."""
    number = part.stem.partition("-")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) == NUMBERED else sys.maxsize


def _joined(entries: EmbeddedTable, known: EmbeddedTable | None) -> str:
    old = f" union all by name select * from {known.name}" if known else ""
    return f"select * from {entries.name}{old}"
