"""The risks and ranks of everybody, kept up to date: a new entry changes what it changes, nothing is computed anew.

Per person and topic only that is kept which the measures need: the highest similarities, the highest time buckets, the
topic's words that somebody has, and the names of the entries they come from. The result is that of computing everything
again from all entries, to the last digit. Topical risks are those of one person alone: a new entry moves her, and the
sorted risks of a topic take one merge. The baselines compare with everybody: see `aidos.rooms.risk.kept.standing`.

Taking an entry away needs the person's other entries: maxima do not tell what was second. Those are not kept, since a
state should know no more of people than it must. So an entry is deleted by giving all entries that its person still has
(`RiskState.replace`), and whoever has none left is removed (`RiskState.remove`). Both are exact as well.

Adding an entry again changes no risk. Measures of third parties cannot be kept in this way: with them every change is
given the entries of everybody as well, and computes them again (`aidos.rooms.risk.kept.standing`).

A state lives in memory; `aidos.rooms.risk.keeping` puts it on the disk. It holds the truth about people, and is for
its owner alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.rooms.risk.arrivals import in_order
from aidos.rooms.risk.kept.plan import PRESENCE, RiskPlan
from aidos.rooms.risk.kept.register import Names, Register, name_entries
from aidos.rooms.risk.kept.standing import Holders, Recomputed, Standing, standing_among, with_changes
from aidos.rooms.risk.kept.traces import NOBODY, Traces
from aidos.rooms.risk.knowledge import refuse_unheard
from aidos.rooms.risk.measure import BaselineRisk, RiskMeasure, RiskQuestion, TopicalRisk, least_nearness
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import Layout

__all__ = ["Change", "RiskState", "Standings", "Telling"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
Marks: TypeAlias = NDArray[np.bool_]
Standings: TypeAlias = dict[tuple[RiskMeasure, str], Standing]
"""Where one person stands, by measure and topic."""
ONE_THREAD = 4096
"""Up to so many entries, threads cost more than they bring."""


class Telling(NamedTuple):
    """An entry that a risk goes by."""

    entry: str
    """Its name."""
    similarity: float
    """How near it comes to the topic; 1 for an entry that has a word of it, where words are counted."""
    word: str = ""
    """The word that counts, for the baselines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was taken in."""

    people: tuple[str, ...]
    """Who is concerned."""
    new_people: int
    removed_people: int
    entries: int


class RiskState:
    """Everybody's risks and ranks for some topics, by some measures."""

    def __init__(self, plan: RiskPlan) -> None:
        """With nobody in it yet; `RiskState.of` begins with people."""
        self.plan = plan
        self.register = Register(plan)
        self.next_entry = 0
        """The number of the next entry."""
        self._ordered: dict[tuple[TopicalRisk, int], Floats] = {
            (measure, topic): np.zeros(0) for measure in plan.topical for topic in range(len(plan.topics))
        }
        space = plan.presence
        self._columns = space.topic_columns if space is not None else ()
        terms = [[space.terms[at] for at in own] for own in self._columns] if space is not None else []
        self._holders = [Holders.of_nobody(own) for own in terms]
        self.others = Recomputed.of_nobody(plan)
        """The risks by measures of third parties."""

    @classmethod
    def of(
        cls,
        question: RiskQuestion,
        measures: Sequence[RiskMeasure],
        *,
        threads: int | None = None,
        progress: Progress = SILENT,
    ) -> RiskState:
        """The state of a community. Topics none of whose words anybody uses are refused where that matters."""
        people = question.people
        plan = RiskPlan(question.topics, measures, question.models, people.analyser)
        if plan.baselines or "bow" in plan.kept:
            refuse_unheard(plan.topics, plan.models, people.analyser, people.vocabulary)
        state = cls(plan)
        state.add(people, everybody=people, threads=threads, progress=progress)
        return state

    def __len__(self) -> int:
        return len(self.register)

    def add(
        self,
        people: People,
        *,
        everybody: People | None = None,
        threads: int | None = None,
        progress: Progress = SILENT,
    ) -> Change:
        """Take in entries of people, known or new.

        ``everybody`` has all entries of all people after the change; only measures of third parties need it.
        """
        return self._change(people, self._rows(people), everybody, threads=threads, progress=progress)

    def replace(self, people: People, *, everybody: People | None = None) -> Change:
        """Forget what is known of these people; what is given are all the entries they have."""
        return self._change(people, np.full(len(people), NOBODY, dtype=np.int64), everybody)

    def remove(self, ids: Sequence[str], *, everybody: People | None = None) -> Change:
        """Forget people wholly; all of them or, when one is not there, none."""
        gone = tuple(dict.fromkeys(ids))
        rows = np.array([self.register.find(person_id) for person_id in gone], dtype=np.int64)
        nobody = np.zeros(0, dtype=np.int64)
        self.others = Recomputed.of(self.plan, everybody, set(self.register.ids) - set(gone))
        self._move(self.register.traces(rows), self.register.traces(nobody))
        self.register.remove(gone)
        return Change(people=gone, new_people=0, removed_people=len(gone), entries=0)

    def restore(self, ids: Sequence[str], traces: Mapping[str, Traces], names: Sequence[Names]) -> None:
        """Take in new people as they were kept; ``next_entry`` is for the caller to set."""
        self._move(self.register.traces(np.zeros(0, dtype=np.int64)), traces)
        self.register.put(ids, traces, names)

    def standing(self, person_id: str, topic: str, measure: RiskMeasure) -> Standing:
        """The risk of one person and where it puts her."""
        self.plan.check_measure(measure)
        at, traces = self.plan.find_topic(topic), self._of(person_id)
        if measure in self.plan.others:
            return self.others.standing(measure, at, person_id)
        if isinstance(measure, TopicalRisk):
            own = float(measure.of_evidence(traces[measure.space].evidence, self._layout(measure))[0, at])
            found = standing_among(own, self._ordered[measure, at], own)
        else:
            found = self._holders[at].standing(_baseline(measure), self._has(traces, at)[0])
        return _with_nearness(found, measure, self.plan.nearness(traces, measure), at)

    def standings(self, person_id: str) -> Standings:
        """All risks and ranks of one person."""
        traces = self._of(person_id)
        kept = dict(self._standings(traces, traces, self._holders))
        others: Standings = {
            (measure, topic): self.others.standing(measure, at, person_id)
            for measure in self.plan.others
            for at, topic in enumerate(self.plan.topics)
        }
        return kept | others

    def would_be(self, person_id: str, draft: People) -> tuple[Standings | None, Standings]:
        """Where somebody stands, and would stand with the entries of a draft; None before where she is new.

        The draft has one person, whatever her name. Nothing is changed. Nothing is told of measures of third parties.
        """
        if len(draft) != 1:
            raise ParameterError(f"a draft is of one person, this one is of {len(draft)}")
        rows = self.register.rows([person_id])
        after, known = self._compared(draft, rows), self.register.traces(rows[rows >= 0])
        old = self.standings(person_id) if person_id in self.register else None
        return old, dict(self._standings(known, after, self._moved_holders(known, after)))

    def would_stand(self, person_id: str, stages: Mapping[str, Traces]) -> list[Standings]:
        """Where somebody would stand had she only these traces, row by row; all others are as they are."""
        known = self._of(person_id)
        found = []
        for stage in range(len(next(iter(stages.values())).nearest)):
            row = {name: traces.take(np.array([stage])) for name, traces in stages.items()}
            found.append(dict(self._standings(known, row, self._moved_holders(known, row))))
        return found

    def telling(self, person_id: str, topic: str, measure: RiskMeasure) -> tuple[Telling, ...]:
        """The entries that a person's risk goes by, the nearest first; none where nothing of hers is near."""
        self.plan.check_measure(measure)
        at, traces, names = self.plan.find_topic(topic), self._of(person_id), self.register.names(person_id)
        if measure in self.plan.others:
            return ()
        if not isinstance(measure, TopicalRisk):
            found, terms = traces[PRESENCE].nearest[0], self._holders[at].space.terms
            own = zip(terms, found[self._columns[at]].tolist(), strict=True)
            return tuple(Telling(names[entry], 1.0, word) for word, entry in own if entry >= 0)
        own_traces = traces[measure.space]
        entries, values = own_traces.nearest[0, [at]], own_traces.evidence.best[0, self._layout(measure).asked[[at]]]
        if measure.time:
            entries = own_traces.bucketed[measure.bucket_days][0, at]
            values = own_traces.evidence.highest[measure.bucket_days][0, at]
        order = np.argsort(-values, kind="stable")[: measure.recurring if measure.time else 1]
        near = [place for place in order.tolist() if values[place] > 0 and entries[place] >= 0]
        return tuple(Telling(names[int(entries[place])], float(values[place])) for place in near)

    def ordered(self, topic: str, measure: RiskMeasure) -> Floats:
        """The risks of everybody, rising."""
        self.plan.check_measure(measure)
        at = self.plan.find_topic(topic)
        if measure in self.plan.others:
            return self.others.ordered(measure, at)
        if isinstance(measure, TopicalRisk):
            return self._ordered[measure, at]
        return self._holders[at].ordered(_baseline(measure))

    def risks(self, topic: str, measure: RiskMeasure) -> Floats:
        """The risks of everybody, in the order of ``register.ids``."""
        return self.all_risks(measure)[:, self.plan.find_topic(topic)]

    def all_risks(self, measure: RiskMeasure) -> Floats:
        """The risks of everybody for all topics: rows in the order of ``register.ids``, columns in that of topics."""
        self.plan.check_measure(measure)
        if measure in self.plan.others:
            return self.others.of_people(measure, self.register.ids)
        traces = self._everybody(measure)
        if isinstance(measure, TopicalRisk):
            return measure.of_evidence(traces[measure.space].evidence, self._layout(measure))
        baseline = _baseline(measure)
        found = [holders.of(baseline, self._has(traces, at)) for at, holders in enumerate(self._holders)]
        return np.stack(found, axis=1)

    def evidence(self, measure: RiskMeasure) -> tuple[Floats | None, Marks]:
        """How near everybody comes to each topic (None where that is unknown), and whether that is evidence.

        Rows are people in the order of ``register.ids``, columns topics.
        """
        self.plan.check_measure(measure)
        near = None if measure in self.plan.others else self.plan.nearness(self._everybody(measure), measure)
        if near is None and measure.zero_is_silence:
            return None, self.all_risks(measure) > 0
        if near is None:
            return None, np.ones((len(self), len(self.plan.topics)), dtype=np.bool_)
        return near, near > least_nearness(measure)

    def holders(self, topic: str) -> Holders:
        """Who has which words of a topic; only where baselines are kept."""
        return self._holders[self.plan.find_topic(topic)]

    def compare(self, people: People) -> dict[str, Traces]:
        """What would be kept of people who have these entries and no others."""
        return self._compared(people, np.full(len(people), NOBODY, dtype=np.int64))

    def _everybody(self, measure: RiskMeasure) -> dict[str, Traces]:
        space = measure.space if isinstance(measure, TopicalRisk) else PRESENCE
        return self.register.traces(np.arange(len(self), dtype=np.int64), space=space)

    def _rows(self, people: People) -> Longs:
        return self.register.rows([str(name) for name in people.ids.to_pylist()])

    def _of(self, person_id: str) -> dict[str, Traces]:
        return self.register.traces(np.array([self.register.find(person_id)]))

    def _layout(self, measure: TopicalRisk) -> Layout:
        return self.plan.kept[measure.space].layout

    def _has(self, traces: Mapping[str, Traces], topic: int) -> Marks:
        """Which words of a topic people have."""
        return traces[PRESENCE].evidence.best[:, self._columns[topic]] > 0

    def _compared(
        self, people: People, rows: Longs, *, threads: int | None = None, progress: Progress = SILENT
    ) -> dict[str, Traces]:
        """What is kept of people after these entries of theirs; a row for each of them."""
        self.plan.check_people(people)
        ordered = in_order(people)
        after = self.register.traces(rows)
        for name, kept in self.plan.kept.items():
            workers = threads if people.entries > ONE_THREAD else 1
            kept.take_in(after[name], ordered, self.next_entry, threads=workers, progress=progress)
        return after

    def _change(
        self,
        people: People,
        rows: Longs,
        everybody: People | None,
        *,
        threads: int | None = None,
        progress: Progress = SILENT,
    ) -> Change:
        after = self._compared(people, rows, threads=threads, progress=progress)
        ids = tuple(str(name) for name in people.ids.to_pylist())
        expected = {*self.register.ids, *ids} if self.plan.others else set()
        self.others = Recomputed.of(self.plan, everybody, expected)
        there = self.register.rows(ids)
        old: list[Names] = [
            self.register.names(person) if row >= 0 else {} for person, row in zip(ids, rows, strict=True)
        ]
        names = name_entries(people, after, self.next_entry, old)
        self._move(self.register.traces(there[there >= 0]), after)
        self.register.put(ids, after, names)
        self.next_entry += people.entries
        return Change(people=ids, new_people=int((there < 0).sum()), removed_people=0, entries=people.entries)

    def _move(self, gone: Mapping[str, Traces], come: Mapping[str, Traces]) -> None:
        """Bring ranks up to date: people with these traces leave, others with those come."""
        before, after = self.plan.risks(gone), self.plan.risks(come)
        for (measure, topic), ordered in self._ordered.items():
            changed = with_changes(ordered, before[measure][:, topic], after[measure][:, topic])
            self._ordered[measure, topic] = changed
        self._holders = self._moved_holders(gone, come)

    def _moved_holders(self, gone: Mapping[str, Traces], come: Mapping[str, Traces]) -> list[Holders]:
        return [
            holders.moved(self._has(gone, topic), self._has(come, topic)) for topic, holders in enumerate(self._holders)
        ]

    def _standings(
        self, gone: Mapping[str, Traces], come: Mapping[str, Traces], holders: Sequence[Holders]
    ) -> Iterator[tuple[tuple[RiskMeasure, str], Standing]]:
        """Where a person with these traces stands when those are left out, which are hers today."""
        before, after = self.plan.risks(gone), self.plan.risks(come)
        for measure in (one for one in self.plan.measures if one not in self.plan.others):
            near = self.plan.nearness(come, measure)
            for at, topic in enumerate(self.plan.topics):
                if isinstance(measure, TopicalRisk):
                    own = float(before[measure][0, at]) if len(before[measure]) else None
                    found = standing_among(float(after[measure][0, at]), self._ordered[measure, at], own)
                else:
                    found = holders[at].standing(_baseline(measure), self._has(come, at)[0])
                yield (measure, topic), _with_nearness(found, measure, near, at)


def _with_nearness(found: Standing, measure: RiskMeasure, near: Floats | None, topic: int) -> Standing:
    own = None if near is None else float(near[0, topic])
    return replace(found, nearness=own, least_nearness=least_nearness(measure))


def _baseline(measure: RiskMeasure) -> BaselineRisk:
    if not isinstance(measure, BaselineRisk):
        raise TypeError("a plan keeps topical measures and baselines")
    return measure
