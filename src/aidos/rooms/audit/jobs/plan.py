"""The job that tells how many searches an audit needs, before one starts: from public numbers, nothing is read.

The number is for the whole way: the conclusion "personalised by topic" and the topic named
(`aidos.rooms.audit.concluding`, `aidos.rooms.audit.auditing`). It comes from the plain shift of the topic alone, at the
part of the level that the conclusion leaves to it (`aidos.rooms.audit.power`). Other topics of a profile, which help
the conclusion, are not counted. It promises nothing for a service that does not follow the model.

What somebody expects of a service before any list is collected, and how many searches an audit of it needs. Public
numbers alone: no search, no account. A service that does not follow the model may need fewer or more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from math import floor, log10
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block

__all__ = ["ExpectedService", "PlanSearches", "PlannedSearches"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedService:
    """A service that lifts one topic in some of the searches."""

    weight: Annotated[float, Gt(0), Le(1000)] = 2.0
    """Weight of the topic that is to be found: 2 is weak, 6 is strong."""
    rate: Annotated[float, Gt(0), Le(1)] = 0.5
    """Share of the searches that are personalised."""
    topics: Annotated[int, Ge(2), Le(10_000)] = 50
    """Topics that results are about."""
    results: Annotated[int, Ge(2), Le(100)] = 10
    """Results of a list."""
    mix: Annotated[float, Ge(0), Le(1)] = 0.8
    """How much interests count against the order without an account."""
    concentration: Annotated[float, Gt(0), Le(100)] = 2.0
    """How steady lists are that are not personalised."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def queries(self, *, level: float = 0.05, power: float = 0.8) -> int | None:
        """How many searches lead to "personalised by topic" and name the topic with this power; None if none would."""
        from aidos.rooms.audit.power import searches_needed

        return searches_needed(self, (self.rate,), level=level, power=power)[0]


WEIGHTS, RATES = (2.0, 4.0, 6.0), (0.2, 0.5, 0.9)
"""What the table shows beside what was asked."""
FOR_GRANTED = (
    "The number is for both: the conclusion is personalised by topic, and the topic is named, which it is only then. "
    "It is counted by the plain shift of this one topic. In whole audits of simulated lists the topic was named "
    "about as often, or more often.\n\n"
    "Taken for granted: the service does as the model says, results are about one topic or two and searches mix them, "
    "each search has a second list without an account, and place, order and variant are written down. With other "
    "services it is a first guess; after an audit that detects nothing, aidos says what its own lists suggest."
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlannedSearches(Finding):
    """How many searches are needed, by what one expects of the service."""

    about: str = "nobody"
    value: PlanSearches
    needed: Mapping[tuple[float, float], int | None]
    """By weight and share; None where no number of searches would do."""

    @property
    def searches(self) -> int | None:
        """How many are needed for what was asked."""
        return self.needed[self.value.service.weight, self.value.service.rate]

    def facts(self) -> Mapping[str, object]:
        """What was asked, the number, and the same for other weights and shares."""
        return {
            **asdict(self.value.service),
            "level": self.value.level,
            "chance": self.value.chance,
            "searches": self.searches,
            "others": self._rows(),
        }

    def table(self) -> pa.Table:
        """A row for each weight and share."""
        import pyarrow as pa

        return pa.Table.from_pylist(self._rows())

    def blocks(self) -> Sequence[Block]:
        """The number, what it would be otherwise, and what it takes for granted."""
        from aidos.report.page import DataTable, Prose

        service, chance = self.value.service, self.value.chance
        asked = f"a topic of weight {service.weight:g}, with {service.rate:.0%} of searches personalised"
        first = (
            f"About {self.searches:,} searches find {asked}, in {chance:.0%} of audits."
            if self.searches is not None
            else f"No number of searches finds {asked}: as expected here, it moves no results."
        )
        weights, rates = (sorted({key[at] for key in self.needed}) for at in (0, 1))
        return (
            Prose(first),
            Prose(""),
            DataTable(
                caption="searches needed, by weight of the topic and share of searches personalised",
                columns=("weight", *(f"{100 * rate:.3g}%" for rate in rates)),
                rows=tuple((f"{one:g}", *(self.needed[one, rate] for rate in rates)) for one in weights),
            ),
            Prose(""),
            Prose(FOR_GRANTED),
        )

    def _rows(self) -> list[dict[str, float | int | None]]:
        return [{"weight": one, "rate": rate, "searches": number} for (one, rate), number in self.needed.items()]


@dataclass(frozen=True, slots=True)
class PlanSearches:
    """Tell how many searches an audit needs, before one starts.

    From what you expect of the service; nothing is read and nobody is asked.
    The number is for the conclusion "personalised by topic" with the topic
    named, in as many audits as --chance says. It is a cautious one, for one
    topic, if the service does as the model says.

    For example:
        aidos audit plan
        aidos audit plan --weight 4 --rate 0.3
        aidos audit plan --topics 100 --results 20 --chance 0.9
        aidos audit plan --concentration 0.5
    """

    _: KW_ONLY
    service: Annotated[ExpectedService, Section("What you expect of the service")] = field(
        default_factory=ExpectedService
    )
    level: Annotated[float, Ge(1e-6), Le(0.5)] = 0.05
    """Rate of false alarms of the audit."""
    chance: Annotated[float, Gt(0.05), Le(0.999)] = 0.8
    """Share of audits that are to find the topic."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> PlannedSearches:  # noqa: ARG002
        """Count them, for what was asked and for some other weights and shares."""
        from aidos.rooms.audit.power import searches_needed

        rates = sorted({*RATES, self.service.rate})
        needed: dict[tuple[float, float], int | None] = {}
        for weight in sorted({*WEIGHTS, self.service.weight}):
            service = replace(self.service, weight=weight)
            found = searches_needed(service, rates, level=self.level, power=self.chance)
            needed |= {(weight, rate): _rounded(each) for rate, each in zip(rates, found, strict=True)}
        return PlannedSearches(value=self, needed=needed)


def _rounded(number: int | None) -> int | None:
    """Upwards to two digits: more is not known."""
    if number is None:
        return None
    unit: int = 10 ** max(0, floor(log10(number)) - 1)
    return -(-number // unit) * unit
