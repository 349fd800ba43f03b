"""The job that looks into saved result lists: what is in them, and what stands in the way of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from aidos.ingest.options import HowToReadPairs
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section

if TYPE_CHECKING:
    from aidos.ingest.results.checks import PairFacts, Remark
    from aidos.ingest.results.reading import PairsRead
    from aidos.report.page import Block
    from aidos.report.values import Value

__all__ = ["CheckPairs", "CheckedPairs"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CheckedPairs(Finding):
    """What is in saved lists: numbers, never a search or a result."""

    about: str = "one account"
    value: PairsRead
    pair_facts: PairFacts
    found: tuple[Remark, ...]
    """What to know before learning."""
    asked: str = ""

    @property
    def can_learn(self) -> bool:
        """Whether anything can be learned from the lists."""
        return not any(remark.stops for remark in self.found)

    @property
    def exit_code(self) -> int:
        """2 where nothing can be learned."""
        return 0 if self.can_learn else 2

    def facts(self) -> Mapping[str, object]:
        """All numbers, what was wrong, and what should be known."""
        read = self.value
        return {
            "forms": dict(read.formats),
            "accounts": len(read.accounts),
            **asdict(self.pair_facts),
            "left_out": sum(problem.count for problem in read.problems),
            "problems": [str(problem) for problem in read.problems],
            "notes": list(read.notes),
            "remarks": [asdict(remark) for remark in self.found],
            "can_learn": self.can_learn,
        }

    def blocks(self) -> Sequence[Block]:
        """Numbers, what was wrong with pairs that were left out, and what stands in the way."""
        from aidos.report.page import Facts, Problems, Prose

        gap, problems = Prose(""), self.value.problems
        blocks: list[Block] = [Facts(tuple(self._told())), *(Prose(f"note: {note}") for note in self.value.notes)]
        blocks += [gap, Problems(problems)] if problems else []
        blocks.append(gap)
        for remark in self.found:
            words = "stops" if remark.stops else "mind"
            blocks += [Prose(f"{words}: {remark.sentence}"), Prose(f"       {remark.remedy}")]
        if not self.can_learn:
            blocks.append(Prose("nothing can be learned from these lists"))
        elif not self.found:
            blocks.append(Prose("nothing stands in the way"))
        return blocks

    def remarks(self) -> Sequence[str]:
        """What to type next."""
        learn = self.asked.replace("audit check", "audit learn", 1)
        return (f"next: {learn} -o audit",) if learn and self.can_learn else ()

    def _told(self) -> Iterator[tuple[str, Value]]:
        read, facts = self.value, self.pair_facts
        yield "read as", ", ".join(f"{number:,} {form}" for form, number in read.formats.items())
        if len(read.accounts) > 1:
            yield "accounts in the files", len(read.accounts)
        yield "pairs", facts.pairs
        yield "different searches", facts.queries
        yield "with a second list without account", facts.with_again
        yield "results of a pair", f"{facts.shortest:,} to {facts.longest:,}, half of the pairs up to {facts.median:g}"
        yield "results that both lists have", f"{facts.shared:.0%}"
        yield "pairs of equal lists", facts.identical
        if facts.first is not None and facts.last is not None:
            yield "fetched", f"{facts.first:%Y-%m-%d %H:%M} to {facts.last:%Y-%m-%d %H:%M}"

    def _values(self) -> dict[str, Any]:
        facts = self.pair_facts
        return {"pairs": facts.pairs, "queries": facts.queries, "can_learn": self.can_learn}


@dataclass(frozen=True, slots=True)
class CheckPairs:
    """Say what is in saved result lists, and what stands in the way of an audit.

    Reads pairs in JSON lines, CSV or Parquet, answers of SearXNG, records of
    WebSearcher, TREC runs and HAR files. Which list is which is said by a
    column, an option, or the name of the file or directory: vanilla,
    personalised, again. The exit code is 2 when nothing can be learned. No
    search and no result is ever shown.

    For example:
        aidos audit check pairs.jsonl
        aidos audit check saved-lists/
        aidos audit check --vanilla without/ --personalised with/ --again without-again/
        aidos audit check results.parquet --account person-17 --json
    """

    pairs: tuple[str, ...] = ()
    """Files, glob patterns or directories of saved lists."""
    _: KW_ONLY
    how: Annotated[HowToReadPairs, Section("How to read the lists")] = field(default_factory=HowToReadPairs)

    def run(self, desk: Desk) -> CheckedPairs:
        """Read the lists and look at them."""
        from aidos.ingest.results.checks import examine_pairs, find_remarks
        from aidos.rooms.audit.designs import arrange
        from aidos.rooms.audit.headline import lack_remarks

        read = self.how.read(self.pairs)
        facts = examine_pairs(read.pairs)
        found = find_remarks(facts)
        if not any(remark.stops for remark in found):
            found += lack_remarks(arrange(read.pairs)[1].lacks)
        return CheckedPairs(value=read, pair_facts=facts, found=found, asked=desk.asked)
