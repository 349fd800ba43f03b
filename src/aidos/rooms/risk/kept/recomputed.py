"""Risks by measures of third parties: of how a new entry changes them nothing is known, so all entries are read again.

A measure is a function of everybody's entries. Those that come with aidos are kept up to date from what is remembered
of each person; for any other one the risks of everybody are computed anew at every change, from all entries that there
are, and kept as they are until the next. So a change costs as much as ranking by that measure does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.risk.kept.columns import Standing, standing_among
from aidos.rooms.risk.kept.plan import RiskPlan
from aidos.rooms.risk.measure import RiskMeasure
from aidos.rooms.risk.people import People

__all__ = ["Recomputed"]

Floats: TypeAlias = NDArray[np.float64]


class Recomputed:
    """The risks of everybody by such measures. It is never changed: a change gives another one."""

    def __init__(self, ids: Sequence[str], risks: Mapping[RiskMeasure, Floats]) -> None:
        """People, and their risks by measure: a row a person, a column a topic."""
        self._rows = {person_id: row for row, person_id in enumerate(ids)}
        self._risks = dict(risks)

    @classmethod
    def of_nobody(cls, plan: RiskPlan) -> Self:
        """Before anybody is there."""
        return cls((), {measure: np.zeros((0, len(plan.topics))) for measure in plan.others})

    @classmethod
    def of(cls, plan: RiskPlan, everybody: People | None, expected: Set[str]) -> Self:
        """Computed from all entries of the people who are expected, and of nobody else."""
        if not plan.others or not expected:
            return cls.of_nobody(plan)
        named = ", ".join(measure.name for measure in plan.others)
        if everybody is None:
            raise ParameterError(
                f"{named} cannot be kept up to date: nothing is known of how a single entry changes it",
                hint="give all entries of everybody, so that it is computed again; or rank without it",
            )
        plan.check_people(everybody)
        ids = [str(name) for name in everybody.ids.to_pylist()]
        if set(ids) != expected:
            raise InputError(
                f"{named} is computed from the entries of everybody, and these are of other people",
                hint="give all entries of all people who are ranked",
            )
        return cls(ids, {measure: _risks(measure, everybody, plan) for measure in plan.others})

    def of_people(self, measure: RiskMeasure, ids: Sequence[str]) -> Floats:
        """The risks of these people, in their order; a column a topic."""
        return self._risks[measure][[self._rows[person_id] for person_id in ids]]

    def ordered(self, measure: RiskMeasure, topic: int) -> Floats:
        """The risks of everybody for one topic, rising."""
        return np.sort(self._risks[measure][:, topic])

    def standing(self, measure: RiskMeasure, topic: int, person_id: str) -> Standing:
        """Where one person stands."""
        own = float(self._risks[measure][self._rows[person_id], topic])
        return standing_among(own, self.ordered(measure, topic), own)

    def packed(self) -> list[tuple[str, bytes]]:
        """A person and her risks each, measure after measure."""
        together = np.concatenate(list(self._risks.values()), axis=1) if self._risks else np.zeros((0, 0))
        return [(person_id, together[row].tobytes()) for person_id, row in self._rows.items()]

    @classmethod
    def unpacked(cls, rows: Sequence[tuple[str, bytes]], plan: RiskPlan) -> Self:
        """The same back; ValueError where a text is not one of this plan."""
        if not rows:
            return cls.of_nobody(plan)
        together = np.stack([np.frombuffer(text, dtype=np.float64) for _, text in rows])
        if not np.isfinite(together).all():
            raise ValueError("not a risk")
        parts = together.reshape(len(rows), len(plan.others), len(plan.topics))
        return cls([person for person, _ in rows], {one: parts[:, at] for at, one in enumerate(plan.others)})


def _risks(measure: RiskMeasure, everybody: People, plan: RiskPlan) -> Floats:
    found = np.asarray(measure.risk(everybody, plan.topics, plan.models), dtype=np.float64)
    if found.shape != (len(everybody), len(plan.topics)) or not np.isfinite(found).all():
        raise ParameterError(
            f"{measure.name} does not give every person a number for every topic",
            hint="look at the measure: a row a person, a column a topic, all finite",
        )
    return found
