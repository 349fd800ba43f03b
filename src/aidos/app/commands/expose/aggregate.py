"""`aidos expose audit` and `train`: what concerns all members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from aidos.app.commands.expose.telling import Where, open_store
from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.rooms.exposure.critical.lambdarank import TrainedTrees
    from aidos.rooms.exposure.critical.learner import Trained

__all__ = ["audit", "train"]

GROUPS = {
    "topic": "by the topic of the query",
    "match": "by how much of the query the post holds",
    "held by": "by how many posts hold the whole query",
}
WEIGHTS = 12
BASELINES = 8
"""How many single features are shown beside the learned ranker."""


def audit(
    *,
    where: Where,
    least: int = 20,
    words: int = 20,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Tell the operator which kinds of query expose most members, and most sensitively.

    No member, post or query is named. What concerns fewer than so many
    members is left out, and counts are rounded.

    For example:
        aidos expose audit --in exposure
        aidos expose audit --in exposure --least 50 -o audit.html

    Parameters
    ----------
    least
        Fewest members that a number may be about; 20 unless given.
    words
        How many words of sensitive topics are listed; 20 unless given.
    output
        A page about it.
    """
    from aidos.app.exposureaudit import audit_exposure
    from aidos.app.recipe import fill_parameters
    from aidos.core.guarantee import statement
    from aidos.report.terminal import rows_table
    from aidos.rooms.exposure.auditpage import KIND_COLUMNS, audit_page, kind_rows
    from aidos.rooms.exposure.queries.audit import ExposureAudit

    common = common or Common()
    mechanism = fill_parameters("exposure-audit", ExposureAudit, {"least": least, "words": words})
    store = open_store(where, common)
    found = audit_exposure(store, mechanism, progress=TerminalProgress(quiet=common.quiet))
    if output is not None:
        from aidos.engine.files import write_text
        from aidos.report.page import render

        write_text(output, render(audit_page(found, f"aidos expose audit --in {where.directory}")))
    if common.json:
        show_json({**asdict(found.value), "guarantee": statement(found.guarantee)})
        return 0
    for group, title in GROUPS.items():
        kinds = [kind for kind in found.value.kinds if kind.group == group]
        show(rows_table(KIND_COLUMNS, kind_rows(kinds), title=title))
    show(rows_table(("word", "topic", "members"), found.value.words, title="words of sensitive topics"))
    tell(statement(found.guarantee), quiet=common.quiet)
    return 0


def train(
    *,
    where: Where,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    deletions: Path | None = None,
    anonymous: Sequence[str] = (),
    open_posts: Annotated[Sequence[str], Parameter(name=["--open"])] = (),
    target: str = "signals",
    learner: Literal["linear", "lambdarank"] = "linear",
    seed: int = 0,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Learn which queries are critical from what the operator knows.

    The signals are which posts were deleted later, and how people talk where
    nobody knows them. Without signals, learn from the sensitivity of topics:
    --target topics. The model holds a weight for each feature, and no words.

    For example:
        aidos expose train --in exposure --deletions deleted.csv --anonymous anon.parquet -o model.json
        aidos expose train --in exposure --target topics -o model.json
        aidos expose member ID --in exposure --model model.json

    Parameters
    ----------
    output
        The model's file.
    deletions
        A CSV or Parquet file with post_id and deleted (true or false); posts not listed are unknown.
    anonymous
        Posts of an anonymous community: files or glob patterns; may be repeated.
    open_posts
        Posts of an open community to compare with; those of the directory unless given.
    target
        What is learned: signals, or topics for the sensitivity of topics.
    learner
        How: linear, with weights that can be read, or lambdarank, trees that need more data; linear unless given.
    seed
        Of everything that is drawn.
    """
    from aidos.app.training import SignalFiles, train_by_signals, train_by_topics

    common = common or Common()
    if target not in {"signals", "topics"}:
        raise ParameterError(f"--target must be signals or topics, got {target}")
    progress = TerminalProgress(quiet=common.quiet)
    if target == "topics":
        trained = train_by_topics(open_store(where, common), learner=learner, seed=seed, progress=progress)
    elif deletions is None or not anonymous:
        raise ParameterError(
            "signals are missing: which posts were deleted, and posts of an anonymous community",
            hint="give --deletions and --anonymous, or learn from topics with --target topics",
        )
    else:
        options = (how or HowToRead()).options()
        files = SignalFiles(deletions=deletions, anonymous=anonymous, open=open_posts, options=options)
        store = open_store(where, common)
        with open_engine(common) as engine:
            trained = train_by_signals(store, files, engine, learner=learner, seed=seed, progress=progress)
    trained.model.save(output)
    return _tell(output, trained, common)


def _tell(output: Path, trained: Trained | TrainedTrees, common: Common) -> int:
    from aidos.report.terminal import rows_table
    from aidos.rooms.exposure.critical.learner import Trained

    lines = trained.validation.table()
    weights = trained.model.importance()[:WEIGHTS] if isinstance(trained, Trained) else []
    if common.json:
        told = [asdict(line) for line in lines]
        show_json({"output": str(output), "weights": dict(weights), "agreement": told})
        return 0
    columns = ("ranker", "agreement", "standard error")
    rows = [
        (line.ranker.replace("_", " "), round(line.agreement, 3), round(line.error, 3))
        for line in lines[: BASELINES + 1]
    ]
    show(rows_table(columns, rows, title="pairs in the order of the target, members not taught from"))
    if weights:
        shown = [(name.replace("_", " "), round(weight, 3)) for name, weight in weights]
        show(rows_table(("feature", "weight"), shown, title="what weighs most"))
    tell(f"{output} holds the model: numbers for features, and no words", quiet=common.quiet)
    return 0
