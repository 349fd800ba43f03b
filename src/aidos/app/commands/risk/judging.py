"""`aidos risk topics` and `annotate`: which topics are sensitive."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.risk.telling import Knowing, require_extra
from aidos.app.console import Common, show, show_json, tell
from aidos.errors import InputError, ParameterError

if TYPE_CHECKING:
    from aidos.model.annotations import Annotations
    from aidos.report.values import Value

__all__ = ["annotate", "topics"]

WORDS = 8
"""Words of a topic that a table shows."""


def topics(
    *,
    export: Path | None = None,
    import_file: Annotated[Path | None, Parameter(name=["--import"])] = None,
    knowing: Knowing | None = None,
    common: Common | None = None,
) -> int:
    """List the sensitive topics, their domains and words, and where the model has them.

    For example:
        aidos risk topics
        aidos risk topics --export topics.tsv
        aidos risk topics --import topics.tsv --model models
        aidos risk rank posts.parquet --topics topics.tsv -o ranks --i-am-the-operator

    Parameters
    ----------
    export
        Write the topics to this file (tab-separated) instead of listing them, to be changed and used with --topics.
    import_file
        Look at the topics of this file instead, and say everything that is wrong with it.
    """
    common = common or Common()
    known = (knowing or Knowing()).silently(import_file)
    from aidos.model.topicfile import write_topics
    from aidos.report.terminal import facts_table, rows_table

    if export is not None:
        write_topics(known.topics, export)
    found = list(zip(known.topics, known.matches.found, strict=True))
    if common.json:
        show_json({"topics": [{**asdict(topic), "match": asdict(match)} for topic, match in found]})
        return 0
    if export is not None:
        show(facts_table([("file", str(export)), ("topics", len(found))]))
        return 0
    columns = ("topic", "domain", "words", "latent topic", "confidence")
    rows = [
        (topic.name, topic.domain, " ".join(topic.words[:WORDS]), match.latent, round(match.confidence, 2))
        for topic, match in found
    ]
    show(rows_table(columns, rows, title=f"{len(rows)} sensitive topic{'s' if len(rows) > 1 else ''}"))
    for warning in known.matches.warnings:
        tell(warning, quiet=common.quiet)
    return 0


def annotate(
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    judge: str = "",
    latent: bool = False,
    agreement: Annotated[Sequence[Path], Parameter(consume_multiple=True)] = (),
    majority: Path | None = None,
    knowing: Knowing | None = None,
    common: Common | None = None,
) -> int:
    """Judge topics by their words: sensitive or not, and of which domain.

    Answers are kept one by one: stop with q, and go on later with the same
    file and judge. Without a terminal, answers are read from the standard
    input, a line each.

    For example:
        aidos risk annotate --judge ann -o ann.csv
        aidos risk annotate --judge bob --latent --model models -o bob.csv
        aidos risk annotate --agreement ann.csv bob.csv --majority topics.tsv

    Parameters
    ----------
    output
        The file of judgements (CSV) to begin or to go on with.
    judge
        Who judges: a name or a pseudonym.
    latent
        Judge the latent topics of the model by their most telling words, not the named topics.
    agreement
        Files of judgements: print how far judges agree (Fleiss' kappa), and ask nothing.
    majority
        Write the topics that most judges call sensitive to this file, for --topics.
    """
    require_extra()
    from aidos.app.risk.judging import join_annotations, judge_topics
    from aidos.app.risk.knowledge import load_knowledge
    from aidos.model.latent.cards import candidates
    from aidos.model.topicfile import write_topics
    from aidos.report.terminal import facts_table

    common, knowing = common or Common(), knowing or Knowing()
    known = load_knowledge(knowing.model, knowing.topic_file)
    asked = candidates(known.latent) if latent else known.topics
    if agreement:
        facts: dict[str, Value] = _agreement(join_annotations(agreement))
        if majority is not None:
            chosen = join_annotations(agreement).majority(asked)
            write_topics(chosen, majority)
            facts["sensitive by majority"] = len(chosen)
    elif output is None or not judge.strip():
        raise ParameterError(
            "who judges, or where to keep it, is missing", hint="give --judge NAME and -o FILE, or --agreement FILES"
        )
    else:
        came = judge_topics(output, judge, asked, ask=_ask, tell=_say)
        facts = {"judged now": came.now, "judged before": came.before, "left": came.left, "file": str(output)}
    if common.json:
        show_json({name.replace(" ", "_"): value for name, value in facts.items()})
    else:
        show(facts_table(list(facts.items())))
    return 0


def _agreement(joined: Annotations) -> dict[str, Value]:
    """How far judges agree; nothing is said of domains where no topic has two judges who named one."""
    told: dict[str, Value] = {"topics": len(joined.topics), "judges": len(joined.judges)}
    told["kappa of sensitivity"] = _number(joined.kappa())
    try:
        told["kappa of domains"] = _number(joined.domain_kappa())
    except InputError:
        told["kappa of domains"] = None
    return told


def _number(kappa: float) -> float | None:
    """None where everybody always said the same, so that chance alone would make them agree."""
    return None if isnan(kappa) else round(kappa, 4)


def _ask(question: str) -> str | None:
    """One line of the standard input; the question is a remark, so that results can be piped."""
    print(question, end="", file=sys.stderr, flush=True)
    said = sys.stdin.readline()
    return said if said else None


def _say(words: str) -> None:
    print(words, file=sys.stderr)
