"""`aidos risk person` and `local`: one person's own risks, among others and by herself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.risk.telling import Knowing, Where, require_extra
from aidos.app.console import Common, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.core.mechanism import Finding
    from aidos.exposure.risk.local import LocalRisk
    from aidos.report.riskpage import RiskStory
    from aidos.report.values import Value

__all__ = ["local", "person"]

WITH_TIMES, WITHOUT_TIMES = "lda-dt", "lda-d"


def person(
    person_id: str,
    /,
    *,
    where: Where,
    topic: Sequence[str] = (),
    measure: Sequence[str] = (),
    top: int = 10,
    draft: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    alert: float | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Tell a person where she ranks, which posts put her there, and what a draft would do.

    What is shown is for her alone: a finding. The page is written so that
    only its owner can read it. With --alert the exit code is 1 when she is
    above that percentile for some topic, or the draft takes her there; what
    nothing of hers is near to is told as "no evidence" and never an alert.

    For example:
        aidos risk person ID --in ranks
        aidos risk person ID --in ranks --topic depression -o page.html
        aidos risk person ID --in ranks --alert 95 --draft "a post before it is posted"
        aidos risk person ID --in ranks --draft - < draft.txt

    Parameters
    ----------
    person_id
        The person, as the posts or the log name her.
    topic
        Only this topic; may be repeated.
    measure
        Only this measure; may be repeated.
    top
        How many topics are shown by each measure, the most exposed first; 10 unless given.
    draft
        A text before it is posted, or - for the standard input; nothing is kept of it.
    alert
        The percentile to be warned from, above 0 and below 100.
    output
        The person's page.
    """
    require_extra()
    from aidos.app.risk.person import Asking, look_up_person
    from aidos.exposure.risk.measures import find_measure

    common = common or Common()
    _refuse(top, alert)
    asking = Asking(
        topics=tuple(topic),
        measures=tuple(map(find_measure, measure)),
        top=top,
        alert=None if alert is None else alert / 100,
        draft=sys.stdin.read() if draft == "-" else draft,
    )
    directory = where.ranking()
    state = directory.state()
    command = f"aidos risk person {shlex.quote(person_id)} --in {where.directory}"
    with open_engine(common) as engine:
        story = look_up_person(directory, state, engine, person_id, asking, command=command)
    if output is not None:
        from aidos.engine.files import write_text
        from aidos.report.page import render
        from aidos.report.riskpage import risk_page

        write_text(output, render(risk_page(story)), private=True)
    return _tell(story, common)


def local(
    files: Sequence[str],
    /,
    *,
    topic: Sequence[str] = (),
    measure: Sequence[str] = (),
    top: int = 10,
    quantiles: Path | None = None,
    without_times: bool = False,
    knowing: Knowing | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Measure your own texts at home: no community, and only numbers come out.

    Texts (.txt, .md) are cut into paragraphs, each an entry without a time;
    tables of posts or queries are read as everywhere, and must be of one
    person. Nothing is kept.

    For example:
        aidos risk local diary.txt
        aidos risk local my-posts.csv --topic debt --measure lda-t
        aidos risk local my-posts.csv --quantiles community.json

    Parameters
    ----------
    files
        Your own texts, posts or queries.
    topic
        A sensitive topic, see `aidos risk topics`; may be repeated; all unless given.
    measure
        How risk is measured; may be repeated; lda-dt unless given, and lda-d where entries have no times.
    top
        How many topics are shown by each measure, the highest first; 10 unless given.
    quantiles
        What an operator published with `aidos risk audit --quantiles`: tells what your numbers mean there.
    without_times
        Read files with author_id and text, and no look at times.
    """
    require_extra()
    from aidos.app.risk.entries import read_own_texts
    from aidos.app.risk.knowledge import choose_measures, choose_topics
    from aidos.exposure.risk.local import find_local
    from aidos.exposure.risk.people import read_people
    from aidos.exposure.risk.quantiles import QuantileTable

    common = common or Common()
    _refuse(top)
    knowledge = (knowing or Knowing()).knowledge(common)
    table = QuantileTable.read(quantiles) if quantiles is not None else None
    with open_engine(common) as engine:
        entries = read_own_texts(engine, files, (how or HowToRead()).options(), without_times=without_times)
        timed = bool(entries.rows("select count(timestamp) = count(*) from {table}")[0][0])
        measures = choose_measures(measure, knowledge, WITH_TIMES if timed else WITHOUT_TIMES)
        mine = read_people(entries, analyser=knowledge.analyser(measures))
    topics = choose_topics(topic, knowledge, measures)
    found = find_local(mine, topics, measures, knowledge.models(), table=table).value
    if common.json:
        show_json({"entries": mine.entries, "risks": [asdict(each) for each in found]})
        return 0
    if table is not None and all(each.percentile is None for each in found):
        kept = ", ".join(dict.fromkeys(row.measure.partition(":")[0] for row in table.rows))
        tell(f"the table says nothing of these topics and measures; it is about {kept}", quiet=common.quiet)
    _show_local(found, mine.entries, top, common)
    return 0


def _refuse(top: int, alert: float | None = None) -> None:
    if alert is not None and not 0 < alert < 100:
        raise ParameterError(f"--alert takes a percentile above 0 and below 100, got {alert:g}")
    if top < 1:
        raise ParameterError(f"--top must be at least 1, got {top}")


def _show_local(found: Sequence[LocalRisk], entries: int, top: int, common: Common) -> None:
    from aidos.app.risk.wording import counted
    from aidos.report.terminal import rows_table

    rows: list[tuple[Value, ...]] = []
    near = [one for one in found if one.evidence]
    for name in dict.fromkeys(one.measure for one in near):
        own = sorted((one for one in near if one.measure == name), key=lambda one: (-one.risk, one.topic))
        rows += [
            (each.topic, name.partition(":")[0], each.risk, float(f"{each.nearness:.3g}"), _between(each.percentile))
            for each in own[:top]
        ]
    columns = ("topic", "measure", "risk", "nearness", "percentile there")
    wide = 5 if any(row[4] for row in rows) else 4
    said = counted(entries, "entry", "entries")
    if rows:
        show(rows_table(columns[:wide], [row[:wide] for row in rows], title=f"{said}; the highest risks:"))
    else:
        show(f"{said}; no evidence: nothing is near any of these topics")
    quiet_topics = len({one.topic for one in found} - {one.topic for one in near})
    if rows and quiet_topics:
        tell(f"no evidence for {counted(quiet_topics, 'other topic', 'other topics')}", quiet=common.quiet)
    tell("a high number says what a reader who goes by words may think, not what is", quiet=common.quiet)


def _between(share: tuple[float, float] | None) -> str | None:
    return None if share is None else f"{100 * share[0]:.0f} to {100 * share[1]:.0f}"


def _tell(found: Finding[RiskStory], common: Common) -> int:
    from aidos.app.risk.person import person_values
    from aidos.app.risk.wording import counted
    from aidos.report import riskpage
    from aidos.report.terminal import rows_table

    story = found.value
    report = story.report
    warned = any(rank.alert for rank in report.ranks) or any(effect.alert for effect in story.draft or ())
    if common.json:
        show_json(person_values(story))
        return int(warned)
    among = counted(report.people, "person", "people")
    title = f"{counted(report.entries, 'entry', 'entries')}, ranked among {among}; the most exposed first:"
    show(rows_table(riskpage.STANDING_COLUMNS, riskpage.standing_rows(report.ranks), title=title))
    if reasons := riskpage.reason_rows(report.ranks):
        show(rows_table(riskpage.REASON_COLUMNS, reasons, title="what puts you there"))
    elif not any(rank.standing.has_evidence for rank in report.ranks):
        show("no evidence: nothing of yours is near these topics")
    if story.draft:
        rows = riskpage.draft_rows(story.draft)
        show(rows_table(riskpage.DRAFT_COLUMNS, rows, title="what the draft would do"))
    elif story.draft is not None:
        show(riskpage.DRAFT_CHANGES_NOTHING.lower())
    if warned:
        tell("you are above your threshold, or the draft takes you there", quiet=common.quiet)
    tell("a high rank does not say that you are afflicted: see --output for all of it", quiet=common.quiet)
    return int(warned)
