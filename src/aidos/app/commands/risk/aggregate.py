"""`aidos risk audit` and `train`: what concerns everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.risk.telling import Where, require_extra
from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.risk.learning import Lesson

__all__ = ["Learning", "audit", "train"]

FEWEST_OF_A_STEP = 20
"""As `aidos.exposure.risk.quantiles.RiskQuantiles` has it."""


@Parameter(name="*", group="How models are learned")
@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """Options that say how much is learned."""

    latent_topics: int = 200
    """How many topics are learned; 200 unless given."""

    guided: bool = False
    """Draw a topic to the words of each sensitive one: for corpora where these are rare, and would share topics."""

    iterations: int = 150
    """Rounds of sampling; 150 unless given."""

    dimensions: int = 100
    """Numbers of a word vector; 100 unless given."""

    epochs: int = 5
    """Rounds over the texts for word vectors; 5 unless given."""

    least_people: int = 20
    """Fewest people who must use a word; 20 unless given."""

    seed: int = 1
    """Of everything that is drawn; 1 unless given."""

    def lesson(self, threads: int | None) -> Lesson:
        """As a value that is checked."""
        from aidos.app.recipe import fill_parameters
        from aidos.app.risk.learning import Lesson

        made: Lesson = fill_parameters("training", Lesson, {**asdict(self), "threads": threads})
        return made


def audit(
    *,
    where: Where,
    least: int = 20,
    quantiles: Path | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Tell the operator how many people are exposed to which topic.

    Nobody is named. What concerns fewer than so many people is left out, and
    counts are rounded.

    For example:
        aidos risk audit --in ranks
        aidos risk audit --in ranks --least 50 -o audit.html
        aidos risk audit --in ranks --quantiles community.json

    Parameters
    ----------
    least
        Fewest people that a number may be about, from 2 on; 20 unless given, and at least that with --quantiles.
    quantiles
        Write a table with which people can compare their own numbers at home: `aidos risk local --quantiles`.
    output
        A page about it.
    """
    ranking = where.ranking()
    _check_least(least, with_table=quantiles is not None)
    from aidos.app.recipe import fill_parameters
    from aidos.core.guarantee import statement
    from aidos.core.noise import Noise
    from aidos.exposure.risk.overview import RiskOverview
    from aidos.exposure.risk.quantiles import RiskQuantiles
    from aidos.report.riskauditpage import SPREAD_COLUMNS, risk_audit_page, spread_rows
    from aidos.report.terminal import rows_table

    common = common or Common()
    mechanism = fill_parameters("risk-overview", RiskOverview, {"least": least})
    table = fill_parameters("risk-quantiles", RiskQuantiles, {"least": least}) if quantiles is not None else None
    state = ranking.state()
    found = mechanism.run(state, Noise())
    if quantiles is not None and table is not None:
        table.run(state, Noise()).value.write(quantiles)
    if output is not None:
        from aidos.engine.files import write_text
        from aidos.report.page import render

        write_text(output, render(risk_audit_page(found, f"aidos risk audit --in {where.directory}")))
    if common.json:
        show_json({**asdict(found.value), "guarantee": statement(found.guarantee)})
        return 0
    show(rows_table(SPREAD_COLUMNS, spread_rows(found.value), title=f"at least {found.value.people:,} people"))
    tell(statement(found.guarantee), quiet=common.quiet)
    return 0


def _check_least(least: int, *, with_table: bool) -> None:
    """Say what --least may be, in the words of the command."""
    if least < 2:
        raise ParameterError(
            f"--least must be at least 2, got {least}", hint="a number about one person would be that person's"
        )
    if with_table and least < FEWEST_OF_A_STEP:
        raise ParameterError(
            f"--least must be at least {FEWEST_OF_A_STEP} with --quantiles, got {least}",
            hint="the table leaves the house, where everybody can compare it: ask for the overview alone, or raise it",
        )


def train(
    files: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    without_times: bool = False,
    learning: Learning | None = None,
    topic_file: Annotated[Path | None, Parameter(name=["--topics"])] = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Learn a topic model and word vectors from posts or queries, with a card for each topic.

    A word enters the models only if enough people use it. That is a rule of
    thumb and no guarantee: the directory is for its owner only. With --threads
    1 the same seed gives the same models again.

    For example:
        aidos risk train posts.parquet -o models
        aidos risk train posts.parquet --latent-topics 100 --least-people 50 -o models
        aidos risk train posts.parquet --latent-topics 250 --guided -o models
        aidos risk rank posts.parquet --model models --measure w2v-dt -o ranks --i-am-the-operator

    Parameters
    ----------
    files
        Posts or queries to learn from: files or glob patterns.
    output
        The directory to write: topics.npz, vectors.npz and cards.txt.
    without_times
        Read files with author_id and text, and no look at times.
    topic_file
        Sensitive topics to look for in the model, as `aidos risk topics --export` writes them.
    """
    require_extra()
    from aidos.app.risk.entries import read_entries
    from aidos.app.risk.learning import learn
    from aidos.report.terminal import facts_table

    common = common or Common()
    lesson = (learning or Learning()).lesson(common.threads)
    options = (how or HowToRead()).options()
    with open_engine(common) as engine:
        entries = read_entries(engine, files, options, without_times=without_times)
        facts = learn(entries, output, lesson, topic_file, progress=TerminalProgress(quiet=common.quiet))
    if common.json:
        show_json({"directory": str(output), **asdict(facts)})
        return 0
    told = [(name.replace("_", " "), value) for name, value in asdict(facts).items()]
    show(facts_table([("directory", str(output)), *told]))
    tell(f"{output / 'cards.txt'} says what each topic is about", quiet=common.quiet)
    return 0
