"""`aidos audit learn`: the hidden profile, learned from saved result lists."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.audit.marking import MarkingOptions
from aidos.app.audit.reading import HowToReadPairs
from aidos.app.audit.terms import AuditTerms, recipe_text
from aidos.app.audit.topics import AboutWhat
from aidos.app.commands.audit.telling import show_finding
from aidos.app.console import Common, remark_if_slow, show, show_json, tell

if TYPE_CHECKING:
    from aidos.app.audit.learning import Described
    from aidos.app.audit.marking import Marking
    from aidos.ingest.results.reading import PairsRead
    from aidos.model.profilefile import OpenedProfile
    from aidos.rooms.audit.findings import AuditFinding
    from aidos.rooms.audit.profileaudit import ProfileAudit

__all__ = ["learn"]


def learn(
    pairs: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    how: HowToReadPairs | None = None,
    about: AboutWhat | None = None,
    terms: AuditTerms | None = None,
    marking: MarkingOptions | None = None,
    common: Common | None = None,
) -> int:
    """Learn which topics a search service lifts or sinks for an account, and how surely.

    From lists of the same searches with the account and without it. The
    terminal shows topics and numbers; the directory holds a page with searches
    as evidence, and is for its owner only. Whether anything is personalised at
    all is tested first: where nothing is, a false alarm comes at most at the
    rate of --level.

    For example:
        aidos audit learn pairs.jsonl -o audit
        aidos audit learn --vanilla without/ --personalised with/ --topics lda --number 30 -o audit
        aidos audit learn pairs.jsonl -o audit --mark-sensitive profile.json
        aidos audit learn later.jsonl -o after --same-topics audit

    Parameters
    ----------
    pairs
        Files, glob patterns or directories of saved lists, see `aidos audit check`.
    output
        The directory to write: finding.json, report.html and recipe.toml.
    """
    common = common or Common()
    how, about, marking = how or HowToReadPairs(), about or AboutWhat(), marking or MarkingOptions()
    from aidos.app.audit.directory import refuse_taken
    from aidos.app.audit.learning import describe
    from aidos.app.audit.learning import learn as learn_finding
    from aidos.app.audit.marking import refuse_other_topics

    audit = (terms or AuditTerms()).mechanism()
    if output is not None:
        refuse_taken(output)
    read = how.read(pairs)
    with remark_if_slow("finding out what results are about", quiet=common.quiet):
        chosen = about.choose(audit.seed)
        profile = marking.open(chosen, about.taxonomy)
        described = describe(read.pairs, chosen, seed=audit.seed)
    if profile is not None:
        refuse_other_topics(profile, described.ids)
    with remark_if_slow("learning the profile; the first run also compiles", quiet=common.quiet):
        finding = learn_finding(described, audit)
    command = shlex.join(["aidos", "audit", "learn", *pairs, *how.words(), *about.words()])
    if output is not None:
        _keep(output, finding, described, audit, read, command)
    marked = _mark(profile, finding, marking)
    if chosen.remark:
        tell(chosen.remark, quiet=common.quiet)
    return _tell(finding, described, read, marked, output, common)


def _keep(  # noqa: PLR0917 (all that the page tells)
    output: Path, finding: AuditFinding, described: Described, audit: ProfileAudit, read: PairsRead, command: str
) -> None:
    from aidos.app.audit.directory import keep_audit, new_directory
    from aidos.rooms.audit.page import AuditStory

    notes = (*read.notes, *(remark.sentence for remark in described.remarks))
    story = AuditStory(finding=finding, command=command, recipe=recipe_text(audit), notes=notes)
    with new_directory(output) as made:
        keep_audit(made, story, described.model)


def _mark(profile: OpenedProfile | None, finding: AuditFinding, marking: MarkingOptions) -> Marking | None:
    if profile is None:
        return None
    from aidos.app.audit.marking import mark_found
    from aidos.model.profilefile import write_profile

    weight = 1.0 if marking.sensitivity is None else marking.sensitivity
    changed, told = mark_found(profile, finding, everything=marking.mark == "all", weight=weight)
    if told.marked:
        write_profile(changed.path, changed.kept)
    return told


def _tell(  # noqa: PLR0917 (all that there is to tell)
    finding: AuditFinding,
    described: Described,
    read: PairsRead,
    marked: Marking | None,
    output: Path | None,
    common: Common,
) -> int:
    from dataclasses import asdict

    from aidos.app.audit.learning import finding_facts
    from aidos.app.commands.audit.telling import marking_words, next_words

    for problem in read.problems:
        tell(f"left out: {problem}", quiet=common.quiet)
    remarks = [remark.sentence for remark in described.remarks]
    if common.json:
        more = {"remarks": remarks, "notes": list(read.notes), "output": None if output is None else str(output)}
        show_json({**finding_facts(finding), **more, "marked": None if marked is None else asdict(marked)})
        return 0
    show_finding(finding, topics=described.ids)
    for words in (*read.notes, *remarks, *finding.warnings):
        tell(words, quiet=common.quiet)
    if marked is not None:
        for words in marking_words(marked):
            show(words)
    for words in next_words(finding, output, marked=marked is not None):
        tell(words, quiet=common.quiet)
    if output is not None:
        show(str(output / "report.html"))
    return 0
