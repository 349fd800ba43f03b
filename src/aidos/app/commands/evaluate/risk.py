"""`aidos evaluate risk`: how well risk measures find the people of a sensitive topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError
from aidos.jobs.desk import Desk
from aidos.rooms.risk.jobs import options

if TYPE_CHECKING:
    from aidos.app.risk.study import Judging
    from aidos.engine.embedded import EmbeddedTable
    from aidos.studies.risk.outcome import Outcome
    from aidos.studies.risk.sampling import ProfileSampling

__all__ = ["Drawing", "Knowing", "Sample", "risk"]

PROFILES = 100
"""Profiles of a topic that are drawn for a sheet."""


@Parameter(name="*", group="What the adversary knows")
@dataclass(frozen=True, slots=True, kw_only=True)
class Knowing(options.Knowing):
    """Models and topics."""

    topic_file: Annotated[Path | None, Parameter(name=["--topics"])] = None


@Parameter(name="*", group="Profiles for judges")
@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Options that say which profiles are looked at."""

    sheet: bool = False
    """Draw profiles of the posts and write a sheet for judges, instead of measuring."""

    topic: Sequence[str] = ()
    """A topic that profiles are drawn for; may be repeated."""

    profiles: int | None = None
    """How many profiles are drawn for a topic; 100 for a sheet unless given, everybody counts otherwise."""

    base: float = 100.0
    """People are drawn in proportion to base^score; 100 unless given, 1000 for very skewed scores."""

    def sampling(self, seed: int) -> ProfileSampling:
        """As a value that is checked."""
        from aidos.app.recipe import fill_parameters
        from aidos.studies.risk.sampling import ProfileSampling

        said = {"profiles": self.profiles or PROFILES, "base": self.base, "seed": seed}
        made: ProfileSampling = fill_parameters("profiles", ProfileSampling, said)
        return made


@Parameter(name="*", group="The sample world")
@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Options of the world that is made where no posts are named."""

    entries: str = "posts"
    """What of it is looked at: posts or log; posts unless given."""

    people: Annotated[str, Parameter(name=["--size"])] = "small"
    """Its size: tiny, small or a number of people; small unless given."""

    seed: int = 7
    """Of the world, and of draws; 7 unless given."""


def risk(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    posts: Sequence[str] = (),
    judgements: Path | None = None,
    measure: Sequence[str] = (),
    without_times: bool = False,
    drawing: Drawing | None = None,
    sample: Sample | None = None,
    knowing: Knowing | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Measure how well risk measures find people, against judgements or the sample world's truth.

    R-precision, MAP and NDCG of all measures, with paired t-tests, and with
    the parameters k and m varied. Without posts the sample world is made,
    where it is known who is afflicted, professional or curious. Models are
    learned unless given. What is done is kept in the directory and not done
    again. With --sheet, profiles are drawn for judges instead.

    For example:
        aidos evaluate risk -o results
        aidos evaluate risk --entries log --size 5000 --seed 3 -o results
        aidos evaluate risk --posts posts.parquet --sheet --topic depression -o sheet.csv
        aidos evaluate risk --posts posts.parquet --judgements judged.csv -o results

    Parameters
    ----------
    output
        The directory for results: tables and a page; the sheet's file (.csv or .tsv) with --sheet.
    posts
        Posts or a query log: files or glob patterns; may be repeated.
    judgements
        Judged profiles: author_id, topic, judge and relevance.
    measure
        A measure to try; may be repeated; all of the thesis unless given.
    without_times
        Read files with author_id and text, and no look at times.
    """
    from aidos.app.risk.study import Judging, run_judged, write_study
    from aidos.rooms.risk.sources import read_entries

    common, knowing = common or Common(), knowing or Knowing()
    drawing, sample = drawing or Drawing(), sample or Sample()
    _refuse_confusion(has_posts=bool(posts), has_judgements=judgements is not None, sheet=drawing.sheet)
    asked = Judging(
        measures=tuple(measure),
        sampling=drawing.sampling(sample.seed) if drawing.profiles is not None else None,
        models=knowing.knowledge(_desk(common)).models() if knowing != Knowing() else None,
        keep=output,
        threads=common.threads,
        progress=TerminalProgress(quiet=common.quiet),
    )
    if not posts:
        return _on_sample(output, sample, asked, common)
    options = (how or HowToRead()).options()
    with open_engine(common) as engine:
        read = read_entries(engine, posts, options, without_times=without_times)
        if judgements is None:
            return _draw(output, read, drawing, seed=sample.seed, knowing=knowing, common=common)
        outcome = run_judged(read, judgements, asked)
    command = f"aidos evaluate risk --posts {' '.join(posts)} --judgements {judgements} -o {output}"
    write_study(output, outcome, command=command, synthetic=False)
    return _tell(outcome, output, common)


def _desk(common: Common) -> Desk:
    return Desk(remark=lambda words: tell(words, quiet=common.quiet))


def _refuse_confusion(*, has_posts: bool, has_judgements: bool, sheet: bool) -> None:
    if has_judgements and sheet:
        raise ParameterError("a sheet is for judgements to come", hint="give --sheet or --judgements")
    if (has_judgements or sheet) and not has_posts:
        raise ParameterError("whose profiles these are is missing", hint="name their posts with --posts")
    if has_posts and not (has_judgements or sheet):
        raise ParameterError("posts alone do not say who is sensitive", hint="give --judgements, or draw a --sheet")


def _on_sample(output: Path, sample: Sample, asked: Judging, common: Common) -> int:
    from aidos.app.risk.study import run_sample, write_study

    outcome = run_sample(sample.people, sample.seed, sample.entries, asked)
    world = f"--entries {sample.entries} --size {sample.people} --seed {sample.seed}"
    write_study(output, outcome, command=f"aidos evaluate risk {world} -o {output}", synthetic=True)
    return _tell(outcome, output, common)


def _draw(output: Path, read: EmbeddedTable, drawing: Drawing, *, seed: int, knowing: Knowing, common: Common) -> int:
    from aidos.app.risk.study import draw_sheet

    progress = TerminalProgress(quiet=common.quiet)
    knowledge = knowing.knowledge(_desk(common))
    drawn = draw_sheet(output, read, drawing.topic, knowledge, drawing.sampling(seed), progress=progress)
    if common.json:
        show_json({"output": str(output), "profiles": drawn})
    tell(f"{output} has {drawn:,} profiles with people's texts: delete it after the judging", quiet=common.quiet)
    return 0


def _tell(outcome: Outcome, output: Path, common: Common) -> int:
    from aidos.report.terminal import rows_table
    from aidos.studies.risk.page import MEASURE_COLUMNS, measure_rows

    if common.json:
        show_json({"output": str(output), **outcome.to_json()})
        return 0
    show(rows_table(MEASURE_COLUMNS, measure_rows(outcome), title=outcome.facts.about))
    for what, why in outcome.facts.left_out.items():
        tell(f"{what} is left out: {why}", quiet=common.quiet)
    tell(f"{output / 'report.html'} has every comparison", quiet=common.quiet)
    return 0
