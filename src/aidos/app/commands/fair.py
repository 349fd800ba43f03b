"""`aidos fair`: re-rank so that attention over time follows relevance, and measure how far it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, show, show_json, tell
from aidos.app.fairterms import Attending, FairTerms, HowToReadRankings
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.reranking import Reranking
    from aidos.errors import Problem
    from aidos.fairness.simulate import Scenario
    from aidos.report.fairpage import FairnessStory

__all__ = ["PARTS", "Given", "export", "fair", "import_table", "measure", "rerank", "simulate", "store"]


@Parameter(name="*", group="Who is ranked")
@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Where the relevance of a simulation comes from."""

    shape: str = ""
    """Synthetic relevance: uniform, linear or exponential; linear unless ratings are given."""

    subjects: int = 100
    """How many subjects a shape has; 100 unless given."""

    ratings: str = ""
    """A table (CSV, TSV, Parquet) with a row per subject and a column per query."""

    id_column: str = "subject_id"
    """Which column names the subject; subject_id unless given."""

    rating: str = ""
    """Which columns hold ratings, with commas between, asked in turn; all columns of numbers unless given."""

    group_column: str = ""
    """Which column holds the subject's group."""

    actor_column: str = ""
    """Which column holds the actor behind the subject."""

    def scenario(self) -> Scenario:
        """As a value for the room."""
        from aidos.fairness.simulate import Scenario, shape_scenario
        from aidos.ingest.rankings.ratings import read_ratings

        if not self.ratings:
            if self.subjects < 1:
                raise ParameterError(f"--subjects must be at least 1, got {self.subjects}")
            return shape_scenario(self.shape or "linear", self.subjects)
        if self.shape:
            raise ParameterError("--shape and --ratings exclude each other", hint="leave one of them out")
        table = read_ratings(
            self.ratings,
            id_column=self.id_column,
            columns=_words(self.rating),
            group_column=self.group_column,
            actor_column=self.actor_column,
        )
        return Scenario(
            name=Path(self.ratings).name,
            subject_ids=table.subject_ids,
            relevance=table.ratings.T.copy(),
            queries=table.columns,
            groups=table.groups,
            actors=table.actors,
        )


def fair() -> int:
    """Share attention by relevance over time, and keep every single ranking good.

    For example:
        aidos fair rerank rankings.jsonl -o served.jsonl --store attention.store
        aidos fair simulate --shape linear --attention singular -o page.html
        aidos fair measure served.jsonl -o page.html
    """
    raise ParameterError(
        "what to do is missing: rerank, simulate, measure, store, export or import", hint="see: aidos fair --help"
    )


def rerank(
    rankings: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    store: Path | None = None,
    method: str = "",
    report: Path | None = None,
    terms: FairTerms | None = None,
    attending: Attending | None = None,
    how: HowToReadRankings | None = None,
    common: Common | None = None,
) -> int:
    """Re-rank a stream of rankings, one after the other.

    Reads and writes JSONL (one ranking a line), TREC runs, Parquet, CSV and
    TSV, by the file's name. With a store the accounts last: every ranking is
    counted once by its id, also when the command is killed and run again.

    For example:
        aidos fair rerank rankings.jsonl -o served.jsonl --store attention.store
        aidos fair rerank run.trec -o fair.run --quality-floor 0.9 --attention dcg:positions=10
        aidos fair rerank rankings.parquet -o served.parquet --system rating-multi --report page.html

    Parameters
    ----------
    rankings
        Files or patterns; score is the relevance that attention is to follow.
    output
        The file to write: .jsonl, .run, .parquet, .csv or .tsv.
    store
        The file that keeps the accounts between runs; it is made when it is not there.
    method
        A baseline in place of the exact method: relevance, objective, thesis, fairco...
    report
        Also write a page about it (a finding: it names subjects).
    """
    from aidos.app.reranking import open_keeper, rerank_file
    from aidos.core.guarantee import statement
    from aidos.core.mechanism import PublicFacts
    from aidos.fairness.methods import find_method

    common = common or Common()
    equity = (terms or FairTerms()).equity(attending or Attending())
    chosen = find_method(method or equity.objective)
    problems: list[Problem] = []
    with open_keeper(equity, store) as keeper:
        stream = (how or HowToReadRankings()).read(rankings, problems)
        progress = TerminalProgress(quiet=common.quiet)
        done = rerank_file(
            stream, chosen.reranker(equity, keeper), output, lasting=store is not None, progress=progress
        )
    if problems:
        tell(f"{len(problems):,} problems: the rankings that have them were left out", quiet=common.quiet)
    if report is not None:
        _write_page(
            report, _rerank_story(done, equity.attention, f"aidos fair rerank {' '.join(rankings)} -o {output}")
        )
    promise = statement(equity.guarantee(PublicFacts())) if chosen.keeps_floor else "No quality floor is kept."
    facts = {
        "output": str(output),
        "rankings": len(done.after.quality),
        "served_before": done.replayed,
        "accounts": len(done.after.names),
        "unfairness": done.after.final,
        "unfairness_by_relevance": done.before.final,
        "mean_quality": float(done.after.quality.mean()),
        "least_quality": float(done.after.quality.min()),
        "left_out": len(problems),
        "guarantee": promise,
    }
    return _tell_facts(facts, common)


def simulate(
    *,
    methods: str = "adaptive,absolute,squared,relevance",
    floors: str = "0.8",
    rankings: int = 20_000,
    bound: Annotated[bool, Parameter(negative="--no-bound")] = True,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    given: Given | None = None,
    attending: Attending | None = None,
    common: Common | None = None,
) -> int:
    """Serve the same queries again and again, and see how unfairness and quality develop.

    Compares methods at quality floors, with the least unfairness that any
    method could reach. Methods: adaptive (recommended), absolute, squared,
    relevance, objective, thesis, fair-topk, exposure, fairco, tie-shuffle.

    For example:
        aidos fair simulate --shape linear --attention singular
        aidos fair simulate --floors 0.8,0.95 --rankings 1000 -o page.html
        aidos fair simulate --ratings listings.csv --rating review_scores_rating --attention singular

    Parameters
    ----------
    methods
        Methods to compare, with commas between.
    floors
        Quality floors, with commas between; 0.8 unless given.
    rankings
        How many rankings to serve; 20,000 unless given.
    bound
        Also compute the least unfairness possible, which can take a while.
    output
        A page about it.
    """
    from aidos.app.fairstudy import run_study
    from aidos.report.fairpage import outcome_rows

    common, given = common or Common(), given or Given()
    if rankings < 1:
        raise ParameterError(f"--rankings must be at least 1, got {rankings}")
    scenario = given.scenario()
    study = run_study(
        scenario,
        attending or Attending(),
        methods=_words(methods),
        floors=_numbers("--floors", floors),
        rankings=rankings,
        bound=bound,
        progress=TerminalProgress(quiet=common.quiet),
    )
    if output is not None:
        _write_page(output, study.story(synthetic=not given.ratings))
    columns, rows = outcome_rows(study.courses, study.bounds)
    if common.json:
        named = [dict(zip((name.replace(" ", "_") for name in columns), row, strict=True)) for row in rows]
        show_json({"scenario": scenario.name, "rankings": rankings, "attention": study.attention, "results": named})
    else:
        _show_table(columns, rows, f"{scenario.name}: {rankings:,} rankings, attention {study.attention}")
    return 0


def measure(
    runs: Sequence[str],
    /,
    *,
    judgements: str = "",
    measures: str = "nDCG@10,P@10,AP",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    attending: Attending | None = None,
    how: HowToReadRankings | None = None,
    common: Common | None = None,
) -> int:
    """Measure rankings as they were served, whoever chose their order.

    Every file is one run, in the order in which its rankings were served. Tells
    unfairness, quality against the order by relevance, Kendall's tau and
    AP-quality; with judgements also standard measures of retrieval.

    For example:
        aidos fair measure served.jsonl
        aidos fair measure before.run after.run --judgements qrels.txt
        aidos fair measure served.parquet -o page.html

    Parameters
    ----------
    runs
        Files of served rankings: position is where a subject stood, score its relevance.
    judgements
        A file of relevance judgements (TREC qrels).
    measures
        Standard measures for them, with commas between.
    output
        A page about the last run (a finding: it names subjects).
    """
    from aidos.app.fairmeasure import measure_run, read_judgements

    common = common or Common()
    equity = (attending or Attending()).equity()
    judged = read_judgements(judgements, common) if judgements else ()
    how, found = how or HowToReadRankings(), []
    for run in runs:
        problems: list[Problem] = []
        found.append(measure_run(run, how.read([run], problems), equity, judged, _words(measures)))
        if problems:
            tell(f"{run}: {len(problems):,} problems: the rankings that have them were left out", quiet=common.quiet)
    if not found:
        raise ParameterError("no run was named", hint="see: aidos fair measure --help")
    if output is not None:
        _write_page(output, found[-1].story([each.course for each in found], equity.attention, runs))
    rows = [each.row() for each in found]
    if common.json:
        show_json({"attention": equity.attention, "runs": rows})
    else:
        columns = [name.replace("_", " ") for name in rows[0]]
        _show_table(columns, [tuple(row.values()) for row in rows], f"served rankings, attention {equity.attention}")
    return 0


def store(path: Path, /, *, common: Common | None = None) -> int:
    """Show what a store holds: settings, accounts, rankings, unfairness.

    For example:
        aidos fair store attention.store
        aidos fair store attention.store --json
    """
    from aidos.fairness.store import store_facts

    return _tell_facts(store_facts(path), common or Common())


def export(
    path: Path, /, *, output: Annotated[Path, Parameter(name=["--output", "-o"])], common: Common | None = None
) -> int:
    """Write the accounts of a store to a Parquet or DuckDB file.

    For example:
        aidos fair export attention.store -o accounts.parquet
        aidos fair export attention.store -o accounts.duckdb

    Parameters
    ----------
    path
        The store.
    output
        The file to write: .parquet or .duckdb.
    """
    from aidos.fairness.exchange import export_accounts

    number = export_accounts(path, output)
    return _tell_facts({"output": str(output), "accounts": number}, common or Common())


def import_table(
    source: Path,
    /,
    *,
    store: Path,
    rankings: int | None = None,
    attending: Attending | None = None,
    common: Common | None = None,
) -> int:
    """Make a new store from a table of accounts: subject_id, attention, relevance.

    A file that `aidos fair export` wrote brings its settings along; for any
    other, say which attention model the numbers were counted with.

    For example:
        aidos fair import accounts.parquet --store attention.store
        aidos fair import accounts.csv --store attention.store --attention singular --rankings 5000

    Parameters
    ----------
    source
        A Parquet, DuckDB or CSV file.
    store
        The store to make.
    rankings
        How many rankings the numbers come from; 0 unless the file says it.
    """
    from aidos.app.reranking import store_settings
    from aidos.fairness.exchange import import_accounts

    attending = attending or Attending()
    settings = store_settings(attending.equity()) if attending.given() else None
    number = import_accounts(source, store, settings=settings, half_life=attending.half_life, rankings=rankings)
    return _tell_facts({"store": str(store), "accounts": number}, common or Common())


def _rerank_story(done: Reranking, attention: str, command: str) -> FairnessStory:
    from aidos.core.mechanism import Finding
    from aidos.report.fairpage import FairnessStory

    return FairnessStory(
        title="Attention after re-ranking",
        lead=f"{len(done.after.quality):,} rankings, re-ranked so that attention over time follows relevance.",
        courses=(done.after, done.before),
        chosen=done.after,
        before=done.before,
        attention=attention,
        groups=done.groups,
        source=Finding(value=done.after, about="the ranked subjects"),
        command=command,
    )


def _write_page(path: Path, story: FairnessStory) -> None:
    from aidos.engine.files import write_text
    from aidos.report.fairpage import fairness_page
    from aidos.report.page import render

    write_text(path, render(fairness_page(story)))


def _tell_facts(facts: Mapping[str, object], common: Common) -> int:
    from aidos.report.terminal import facts_table

    if common.json:
        show_json(facts)
    else:
        lines = [(name.replace("_", " "), _cell(value)) for name, value in facts.items() if value not in (0, "")]
        show(facts_table(lines))
    return 0


def _show_table(columns: Sequence[str], rows: Sequence[tuple[object, ...]], title: str) -> None:
    from aidos.report.terminal import rows_table

    show(rows_table(list(columns), [tuple(map(_cell, row)) for row in rows], title=title))


def _cell(value: object) -> str | int:
    match value:
        case None:
            return "\u2013"
        case int() | str():
            return value
        case float():
            return f"{value:.4g}" if abs(value) < 10 else f"{value:,.1f}"
        case _:
            return str(value)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(option: str, text: str) -> list[float]:
    try:
        numbers = [float(word) for word in _words(text)]
    except ValueError as error:
        raise ParameterError(f"{option} takes numbers with commas between, got {text!r}") from error
    if not numbers:
        raise ParameterError(f"{option} is empty")
    return numbers


PARTS = {
    "rerank": rerank,
    "simulate": simulate,
    "measure": measure,
    "store": store,
    "export": export,
    "import": import_table,
}
