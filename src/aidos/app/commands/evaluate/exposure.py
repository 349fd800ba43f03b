"""`aidos evaluate exposure`: how well exposing queries are ranked by criticality."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, show, show_json, tell
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.studies.exposure.outcome import Outcome

__all__ = ["exposure"]


def exposure(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    judgements: Path | None = None,
    directory: Annotated[Path | None, Parameter(name=["--in"])] = None,
    model: Path | None = None,
    people: Annotated[str, Parameter(name=["--size"])] = "small",
    seed: int = 23,
    common: Common | None = None,
) -> int:
    """Measure how well critical queries are found, against judgements or the sample world's truth.

    Precision, NDCG and Kendall's tau of the ranker and of every single
    feature, member by member, with paired t-tests. Without judgements the
    sample world is made, where the truth is known and the signals simulated.
    What is computed is kept in the directory and not done again.

    For example:
        aidos evaluate exposure -o results
        aidos evaluate exposure --size 5000 --seed 3 -o results
        aidos evaluate exposure --in exposure --judgements judged.csv -o results

    Parameters
    ----------
    output
        The directory for results: a summary and a page.
    judgements
        Judged queries: author_id, query, judge, relevance, and post_id where a post was in view.
    directory
        The directory that `aidos expose compute` wrote, for judgements.
    model
        A model that `aidos expose train` wrote; the one that comes along unless given.
    people
        The size of the sample world: tiny, small or a number of people; small unless given.
    seed
        Of the sample world; 23 unless given. The model that comes along was trained on seed 1.
    """
    from aidos.app.exposurestudy import run_judged, run_sample, write_study

    common = common or Common()
    progress = TerminalProgress(quiet=common.quiet)
    if (judgements is None) != (directory is None):
        raise ParameterError(
            "judgements and the directory they are about go together", hint="give both --in and --judgements"
        )
    if judgements is not None and directory is not None:
        outcome = run_judged(directory, judgements, model, output, progress=progress)
        command = f"aidos evaluate exposure --in {directory} --judgements {judgements} -o {output}"
    else:
        outcome = run_sample(people, seed, model, output, common=common, progress=progress)
        command = f"aidos evaluate exposure --size {people} --seed {seed} -o {output}"
    write_study(output, outcome, command=command, synthetic=judgements is None)
    return _tell(outcome, output, common)


def _tell(outcome: Outcome, output: Path, common: Common) -> int:
    from aidos.report.terminal import rows_table
    from aidos.studies.exposure.page import RANKER_COLUMNS, ranker_rows

    if common.json:
        show_json({"output": str(output), **outcome.to_json()})
        return 0
    show(rows_table(RANKER_COLUMNS, ranker_rows(outcome), title=outcome.facts.about))
    facts = outcome.facts
    tell(f"{facts.members:,} members with {facts.rows:,} queries of different grades count", quiet=common.quiet)
    if facts.unmatched:
        tell(f"{facts.unmatched:,} judged queries return no post of their member and are left out", quiet=common.quiet)
    if facts.kappa is not None:
        tell(f"agreement of the judges (Fleiss' kappa): {facts.kappa:.3f}", quiet=common.quiet)
    tell(f"{output / 'report.html'} has every comparison", quiet=common.quiet)
    return 0
