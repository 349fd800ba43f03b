"""`aidos evaluate mediator`: what mediator accounts give and cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.studies.mediator.outcome import Outcome

__all__ = ["mediator"]


def mediator(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    posts: Sequence[str] = (),
    alphas: str = "0,0.2,0.4,0.6,0.8,1",
    heuristics: str = "original,commons",
    accounts: int | None = None,
    least_questions: int = 150,
    topic: str = "forum",
    queries_per_person: int = 20,
    seed: int = 0,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """What mediator accounts give and cost, measured as in the thesis.

    Questions become queries (their words of highest tf-idf), answers are the
    documents, forums the topics. Without posts the thesis' setting is made up:
    975 people, about 253,000 queries, 142 topics. Finished settings are kept
    in the directory, so that a run that was cut off goes on where it was.

    For example:
        aidos evaluate mediator -o results
        aidos evaluate mediator --posts Posts.xml --least-questions 20 --alphas 0,0.5,1 -o results
        aidos evaluate mediator --posts "posts/*.parquet" --topic tag -o results --json

    Parameters
    ----------
    output
        The directory for results: a Parquet file a setting, a summary, a page.
    posts
        Question-and-answer posts: files or glob patterns; may be repeated.
    alphas
        Chances of scattering, with commas between.
    heuristics
        Ways to choose accounts, with commas between.
    accounts
        How many accounts there are; as many as people unless given.
    least_questions
        Only people who asked at least so many questions; 150 unless given.
    topic
        What the topic of a question is: forum or tag; forum unless given.
    queries_per_person
        Queries of each person that are searched, 0 for all; 20 unless given.
    seed
        Of everything that is drawn.
    """
    from aidos.app.evaluating import MediatorData, run_mediator, write_mediator
    from aidos.app.recipe import fill_parameters
    from aidos.studies.mediator.derivation import Derivation
    from aidos.studies.mediator.experiment import MediatorExperiment

    common = common or Common()
    named = {"alphas": _numbers(alphas), "heuristics": _words(heuristics), "accounts": accounts, "seed": seed}
    experiment = fill_parameters("mediator experiment", MediatorExperiment, named)
    kept = {"least_questions": least_questions, "topic": topic, "seed": seed}
    data = MediatorData(
        posts=posts,
        derivation=fill_parameters("derivation", Derivation, kept),
        queries_per_person=queries_per_person or None,
        seed=seed,
        options=(how or HowToRead()).options(),
    )
    with open_engine(common) as engine:
        progress = TerminalProgress(quiet=common.quiet)
        outcome = run_mediator(data, experiment, output, engine=engine, progress=progress)
    shown = " ".join(["aidos evaluate mediator", *(f"--posts {file}" for file in posts), "-o", str(output)])
    write_mediator(output, outcome, accounts=experiment.accounts, synthetic=not posts, command=shown)
    return _tell(outcome, output, common)


def _tell(outcome: Outcome, output: Path, common: Common) -> int:
    from dataclasses import asdict

    from aidos.app.evaluating import mediator_settings
    from aidos.report.terminal import rows_table
    from aidos.rooms.shield.mediator.page import setting_rows

    settings = mediator_settings(outcome)
    if common.json:
        show_json({"output": str(output), "settings": [asdict(setting) for setting in settings]})
    else:
        columns, rows = setting_rows(settings)
        show(rows_table(list(columns), rows))
        tell(f"{output / 'report.html'} has the thesis' table beside it", quiet=common.quiet)
    return 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in _words(text))
    except ValueError as error:
        raise ParameterError(f"--alphas takes numbers with commas between, got {text!r}") from error
