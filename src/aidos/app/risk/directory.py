"""The directory of a ranking: the state, the models it was made with, the entries, and everybody's ranks.

    state/          what has to be remembered of people, and no text (see `aidos.exposure.risk.keeping`)
    models/         topics and models, so that ranks of today and tomorrow compare
    entries/        the entries as they came, a file a time, so that a person can be shown hers
    ranks.parquet   the ranks of everybody, as they are now

It is for its owner alone, and comes into being whole or not at all. Entries are written before the state takes them in,
under the number of their first entry: a file that the state does not know of was cut off, and is not read.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aidos.app.risk.knowledge import keep_models, kept_models
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.engine.files import replace_when_done
from aidos.errors import InputError
from aidos.exposure.risk.keeping import RiskStore, read_state
from aidos.exposure.risk.measures import RiskMeasure, TopicalRisk
from aidos.exposure.risk.people import People, read_people
from aidos.exposure.risk.ranks import Floats, percentiles, rank_people
from aidos.exposure.risk.state import Change, RiskState

__all__ = ["RiskDirectory", "everybodys_risks"]

STATE, MODELS, ENTRIES, RANKS = "state", "models", "entries", "ranks.parquet"


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

    def add(self, store: RiskStore, entries: EmbeddedTable, people: People) -> Change:
        """Take in new entries."""
        self._write_entries(entries, store.state.next_entry)
        change = store.add(people)
        self._write_ranks(store.state)
        return change

    def entries(self, engine: EmbeddedEngine, state: RiskState, person_id: str) -> EmbeddedTable:
        """The entries of one person."""
        state.register.find(person_id)
        found = sorted((self.path / ENTRIES).glob("part-*.parquet"))
        known = [part for part in found if int(part.stem.partition("-")[2]) < state.next_entry]
        if not known:
            raise InputError(f"the entries of {self.path} are gone", hint="rank the posts again into a new directory")
        return engine.parquet(*known).select(f"select * from {{table}} where author_id = {quote_text(person_id)}")

    def person(self, entries: EmbeddedTable, state: RiskState) -> People:
        """One person's entries as the measures read them."""
        return read_people(entries, analyser=state.plan.analyser)

    def _require(self) -> None:
        if not (self.path / STATE).is_dir():
            raise InputError(f"there is no ranking in {self.path}", hint="make one first: aidos risk rank --help")

    def _write_entries(self, entries: EmbeddedTable, first: int) -> None:
        path = self.path / ENTRIES / f"part-{first:012d}.parquet"
        entries.write_parquet(path)
        path.chmod(0o600)

    def _write_ranks(self, state: RiskState) -> None:
        with replace_when_done(self.path / RANKS, private=True) as partial, pq.ParquetWriter(partial, SCHEMA) as file:
            for topic, measure, risks in everybodys_risks(state):
                file.write_table(_ranks(state.register.ids, topic, measure, risks))


SCHEMA = pa.schema(
    {
        "person": pa.string(),
        "topic": pa.dictionary(pa.int32(), pa.string()),
        "measure": pa.dictionary(pa.int32(), pa.string()),
        "risk": pa.float64(),
        "rank": pa.int64(),
        "rank_mean": pa.float64(),
        "rank_worst": pa.int64(),
        "percentile": pa.float64(),
    }
)


def everybodys_risks(state: RiskState) -> Iterator[tuple[str, RiskMeasure, Floats]]:
    """Topic, measure, and the risks of everybody in the order of the register."""
    if not len(state):
        return
    topical = state.plan.risks(state.register.traces(np.arange(len(state), dtype=np.int64)))
    for measure in state.plan.measures:
        for at, topic in enumerate(state.plan.topics):
            if isinstance(measure, TopicalRisk):
                yield topic, measure, topical[measure][:, at]
            else:
                yield topic, measure, state.risks(topic, measure)


def _ranks(ids: list[str], topic: str, measure: RiskMeasure, risks: Floats) -> pa.Table:
    columns = [
        pa.array(ids, pa.string()),
        pa.array([topic] * len(ids), pa.string()).dictionary_encode(),
        pa.array([str(measure)] * len(ids), pa.string()).dictionary_encode(),
        pa.array(risks),
        pa.array(rank_people(risks).astype(np.int64)),
        pa.array(rank_people(risks, ties="mean")),
        pa.array(rank_people(risks, ties="worst").astype(np.int64)),
        pa.array(percentiles(risks)),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)
