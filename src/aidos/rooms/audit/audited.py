"""The answer to an audit: what a service does for one account, with what shows it, for the owner of the account alone.

In a directory it is kept as files that only its owner can read; the directory comes into being whole or not at all.

    finding.json   everything that was found, to be compared and marked later
    report.html    the page about it
    recipe.toml    how it was learned
    topics.npz     the topic model, where topics were learned from the results
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aidos.errors import InputError
from aidos.jobs.answer import Finding, as_path
from aidos.jobs.calling import told_in_python
from aidos.rooms.audit.profileaudit import ProfileAudit

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.model.latent.model import TopicModel
    from aidos.report.page import Block, Page
    from aidos.report.values import Value
    from aidos.rooms.audit.findings import AuditFinding, TopicFinding
    from aidos.rooms.audit.jobs.compare import ComparedAudits
    from aidos.rooms.audit.jobs.evidence import ShownEvidence
    from aidos.rooms.audit.marking import MarkedTopics

__all__ = ["REPORT", "AuditedAccount", "refuse_taken"]

REPORT, RECIPE = "report.html", "recipe.toml"
SHOWN = 12
"""Topics that are listed where more were found."""
SHOWN_BESIDE = 3
"""Topics that are no more than chance, shown beside those found."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AuditedAccount(Finding):
    """Which topics a service lifts or sinks for an account, in what share of searches, and how surely."""

    about: str = "one account and its searches"
    value: AuditFinding
    audit: ProfileAudit
    """How it was learned."""
    notes: tuple[str, ...] = ()
    """What was done to the lists while they were read, in sentences."""
    doubts: tuple[str, ...] = ()
    """What should be known of the pairs, in sentences."""
    model: TopicModel | None = None
    """The topic model, where there is one."""
    asked: str = ""
    output: Path | None = None
    """The directory where it is kept."""
    marked: MarkedTopics | None = None
    """What became of the profile of the shield, where one was to be marked."""

    @property
    def topics(self) -> tuple[TopicFinding, ...]:
        """Every topic with its weight: those found first, then by the size of the weight."""
        return self.value.topics

    @property
    def verdict(self) -> str:
        """In a sentence or two."""
        from aidos.rooms.audit.headline import verdict_words

        return verdict_words(self.value)

    def evidence(self, query: int | None = None) -> ShownEvidence:
        """The searches that speak for it, the clearest first; with a number, counted from 1, one with its lists."""
        from aidos.rooms.audit.jobs.evidence import ShowEvidence, show_evidence

        with told_in_python(ShowEvidence, see="help(aidos.ask)"):
            return show_evidence(self.value, query)

    def compare(self, other: AuditedAccount | str | Path) -> ComparedAudits:
        """What changed from this audit to a later one with the same topics, or to that of a directory."""
        from aidos.rooms.audit.findings import read_finding
        from aidos.rooms.audit.jobs.compare import compare_findings

        after = other.value if isinstance(other, AuditedAccount) else read_finding(as_path(other))
        return compare_findings(self.value, after)

    def mark_sensitive(
        self,
        profile: str | Path,
        *,
        mark: Literal["sensitive", "all"] = "sensitive",
        sensitivity: float = 1.0,
        taxonomy: str | Path | None = None,
    ) -> MarkedTopics:
        """Mark lifted topics in a profile of the shield; ``taxonomy`` is the one that it was built with."""
        from aidos.rooms.audit.marking import Marking, open_for_marks, refuse_other_topics

        marking = Marking(mark_sensitive=as_path(profile), mark=mark, sensitivity=sensitivity)
        space, tree = self.value.space, None if taxonomy is None else Path(taxonomy)
        opened = open_for_marks(as_path(profile), tree, learned=space.kind == "latent")
        refuse_other_topics(opened, space.ids)
        return marking.hand_over(opened, self.value)

    def facts(self) -> Mapping[str, object]:
        """Topics and numbers, without any search or result."""
        finding = self.value
        return {
            "verdict": self.verdict,
            "detected": finding.detected,
            "conclusion": asdict(finding.conclusion),
            "p_value": finding.p_value,
            "level": finding.level,
            "controlled": finding.controlled,
            "queries": finding.queries,
            "changed": finding.changed,
            "method": finding.method,
            "rate": asdict(finding.rate) if finding.detected else None,
            "mix": asdict(finding.mix),
            "concentration": asdict(finding.concentration),
            "confidence": finding.confidence,
            "topics_from": finding.space.source,
            "topics": [_topic_facts(each) for each in finding.topics],
            "differences": [asdict(each) for each in finding.differences],
            "queries_needed": {
                "topic": finding.power.topic.id,
                "fewest": finding.power.fewest,
                "queries": finding.power.queries,
                "chance_of_as_many": finding.power.chance,
            },
            "exchanged": asdict(finding.suspicion),
            "evidence": len(finding.evidence),
            "warnings": list(finding.warnings),
            "remarks": list(self.doubts),
            "notes": list(self.notes),
            "output": None if self.output is None else str(self.output),
            "marked": None if self.marked is None else self.marked.facts(),
        }

    def table(self) -> pa.Table:
        """A row for each topic."""
        import pyarrow as pa

        return pa.Table.from_pylist(
            [
                {
                    **_topic_facts(each),
                    "weight": each.weight.value,
                    "low": each.weight.low,
                    "high": each.weight.high,
                }
                for each in self.topics
            ]
        )

    def blocks(self) -> Sequence[Block]:
        """The verdict, the numbers behind it, the topics with their intervals, and what became of it."""
        from aidos.report.page import Card, DataTable, Facts, Prose
        from aidos.rooms.audit.wording import TOPIC_COLUMNS, exchanged_words, shown_topics, topic_rows

        finding, gap = self.value, Prose("")
        shown = shown_topics(finding, min(len(finding.found) + SHOWN_BESIDE, SHOWN))
        title = f"topics, with intervals of {finding.confidence:.0%}"
        if len(shown) < len(finding.topics):
            title += f"; the first {len(shown)} of {len(finding.topics):,}"
        table = DataTable(caption=title, columns=TOPIC_COLUMNS, rows=tuple(topic_rows(shown)))
        exchanged = exchanged_words(finding)
        return (
            Card(title=self.verdict),
            gap,
            Facts(tuple(self._told())),
            gap,
            table,
            *([Prose(exchanged)] if exchanged else ()),
            gap,
            *(() if self.marked is None else self.marked.blocks()),
            *(() if self.output is None else (Prose(str(self.output / REPORT)),)),
        )

    def remarks(self) -> Sequence[str]:
        """What to know before believing it, and what to do next."""
        return (*self.notes, *self.doubts, *self.value.warnings, self._next())

    def page(self) -> Page:
        """The page about the account."""
        from aidos.rooms.audit.page import audit_page

        notes = (*self.notes, *self.doubts)
        return audit_page(self.value, command=self.asked, recipe=self.audit.recipe(), notes=notes)

    def save(self, path: str | Path) -> None:
        """Keep it in a new directory; .html, .json, .parquet and .csv are single files."""
        place = as_path(path)
        if place.suffix in {".html", ".json", ".parquet", ".csv"}:
            Finding.save(self, place)
        else:
            self.keep(place)

    def keep(self, directory: Path) -> None:
        """Keep it in a new directory."""
        from aidos.engine.files import directory_when_done

        refuse_taken(directory)
        with directory_when_done(directory, private=True) as partial:
            self.write_files(partial)

    def write_files(self, directory: Path) -> None:
        """The files of the audit, into a directory that is there."""
        from aidos.engine.files import write_text
        from aidos.report.page import render
        from aidos.rooms.audit.findings import FINDING, finding_to_json
        from aidos.rooms.audit.topics.choice import MODEL

        text = json.dumps(finding_to_json(self.value), ensure_ascii=False, allow_nan=False, indent=1)
        write_text(directory / FINDING, f"{text}\n", private=True)
        write_text(directory / REPORT, render(self.page()), private=True)
        write_text(directory / RECIPE, self.audit.recipe(), private=True)
        if self.model is not None:
            self.model.save(directory / MODEL)
            (directory / MODEL).chmod(0o600)

    def _told(self) -> Iterator[tuple[str, Value]]:
        from aidos.rooms.audit.headline import KINDS, granted_words, missing_words

        finding = self.value
        verb = "has" if finding.changed == 1 else "have"
        yield "searches", f"{finding.queries:,}, of which {finding.changed:,} {verb} lists that differ"
        yield "conclusion", f"{KINDS[finding.conclusion.kind]}, at level {finding.level:g}, p = {finding.p_value:.2g}"
        yield "compared with", "a second list without account" if finding.controlled else "lists in another order"
        for name, words in {"missing": missing_words(finding), "granted": granted_words(finding)}.items():
            if words:
                yield name, words
        if finding.detected:
            rate = finding.rate
            yield "personalised", f"{rate.value:.0%} of searches ({rate.low:.0%} to {rate.high:.0%})"
        yield "topics", f"{len(finding.topics):,}, {finding.space.source}"

    def _next(self) -> str:
        """What to do next."""
        kind = self.value.conclusion.kind
        if kind not in {"topic", "nothing"}:
            return "next: collect again so that it can be told" if self.value.conclusion.lacks else "next: see the page"
        if kind == "nothing":
            from aidos.rooms.audit.wording import power_words

            words = power_words(self.value)
            return words[:1].lower() + words[1:].rstrip(".")
        if self.output is None:
            return "next: -o DIR keeps the finding, with searches as evidence"
        if self.marked is None:
            return "next: --mark-sensitive PROFILE hands sensitive topics over to the shield; then audit again"
        same = f"learn with --same-topics {self.output}, and aidos audit compare"
        return f"next: shield your searches, collect again, {same}"

    def _values(self) -> dict[str, Any]:
        finding = self.value
        named = ", ".join(each.topic.name for each in finding.found)
        return {"detected": finding.detected, "queries": finding.queries, "p_value": finding.p_value, "topics": named}


def refuse_taken(path: Path) -> None:
    """Refuse a place where something is already, before any work is done."""
    from aidos.rooms.audit.findings import FINDING

    if path.resolve() == Path.cwd():
        raise InputError("the directory you are in cannot become an audit", hint="name a new one in it")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        what = "an audit" if path.is_dir() and (path / FINDING).is_file() else "something else"
        raise InputError(f"{path} holds {what} already", hint="choose another directory")
    if not path.absolute().parent.is_dir():
        raise InputError(f"the directory of {path} does not exist", hint=f"make it first: mkdir -p {path.parent}")


def _topic_facts(each: TopicFinding) -> dict[str, Any]:
    return {
        "id": each.topic.id,
        "name": each.topic.name,
        "found": each.found,
        "weight": asdict(each.weight),
        "p_value": each.p_value,
        "rank_shift": each.shift,
    }
