"""`aidos mediate`: search behind accounts that many people share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.mediating import Queries
    from aidos.rooms.shield.mediator.assignment import MediatorAccounts
    from aidos.rooms.shield.mediator.measures import Measured
    from aidos.rooms.shield.mediator.page import MediatorStory, Setting

__all__ = ["PARTS", "Mixing", "assign", "measure", "mediate"]


@Parameter(name="*", group="Accounts and topics")
@dataclass(frozen=True, slots=True, kw_only=True)
class Mixing:
    """How queries are mixed."""

    accounts: int | None = None
    """How many accounts there are; as many as people unless given."""

    topics: Path | None = None
    """A file of topics, with query, tab, topic on each line; the default taxonomy by the query's words unless given."""

    depth: int | None = 2
    """How deep topics of the default taxonomy are told apart; 2 unless given."""

    normalise: str = ""
    """How queries are normalised first, as in `aidos ingest`."""

    seed: int | None = None
    """Repeatable chance, for tests: who knows the seed can undo the mixing."""


def mediate() -> int:
    """Spread the queries of many people over shared accounts, so that no account looks like a person.

    For example:
        aidos mediate assign log.tsv --accounts 100 --alpha 0.3 -o mixed
        aidos mediate measure log.tsv --alphas 0,0.5,1 -o page.html
    """
    raise ParameterError("what to do is missing: assign or measure", hint="see: aidos mediate --help")


def assign(
    files: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    alpha: float = 0.3,
    heuristic: str = "original",
    finding: Path | None = None,
    mixing: Mixing | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Assign every query of a log to a mediator account.

    The directory holds accounts and their queries, and neither people nor
    times. How well people are hidden is measured, not proven.

    For example:
        aidos mediate assign log.tsv --accounts 100 --alpha 0.3 -o mixed
        aidos mediate assign log.tsv --alpha 0.5 --heuristic commons -o mixed --finding page.html

    Parameters
    ----------
    files
        The log: files or glob patterns.
    output
        The directory to write; it must not exist.
    alpha
        Chance that a query is scattered at random, from 0 to 1; 0.3 unless given.
    heuristic
        How accounts are chosen: original, as in the thesis, or commons, which keeps more coherence.
    finding
        Also measure what it gives and costs, on a page for the owner only.
    """
    from aidos.app.mediating import assess, write_accounts
    from aidos.core.noise import Noise

    mixing, common = mixing or Mixing(), common or Common()
    mechanism = _mechanism(mixing, alpha, heuristic)
    queries = _read(files, mixing, how, common)
    progress = TerminalProgress(quiet=common.quiet)
    [(setting, people, made)] = assess(queries.objects, [mechanism], Noise(mixing.seed), progress)
    write_accounts(output, queries, made, mechanism)
    if finding is not None:
        _write_page(finding, _story([setting], people, made.accounts, f"aidos mediate assign {' '.join(files)}"))
    facts = {"output": str(output), "queries": len(queries.texts), "people": len(people.objects)}
    facts |= {"accounts": made.accounts, "topics": queries.topics, "without_topic": queries.without_topic}
    return _tell(common, facts, [setting])


def measure(
    files: Sequence[str],
    /,
    *,
    alphas: str = "0,0.2,0.4,0.6,0.8,1",
    heuristics: str = "original,commons",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    mixing: Mixing | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Measure what mixing would give and cost on a log, before anybody relies on it.

    Privacy by entropy, overlap, divergence and an adversary who knows topics;
    utility by coherence. Nothing of the log is written.

    For example:
        aidos mediate measure log.tsv
        aidos mediate measure log.tsv --accounts 100 --alphas 0,0.5,1 -o page.html

    Parameters
    ----------
    files
        The log: files or glob patterns.
    alphas
        Chances of scattering to compare, with commas between.
    heuristics
        Ways to choose accounts, with commas between.
    output
        A page about it, for the owner only (a finding).
    """
    from aidos.app.mediating import assess
    from aidos.core.noise import Noise

    mixing, common = mixing or Mixing(), common or Common()
    chosen = [_mechanism(mixing, alpha, name) for name in _words(heuristics) for alpha in _numbers(alphas)]
    if not chosen:
        raise ParameterError("no setting was named", hint="for example --alphas 0,0.5,1 --heuristics original")
    queries = _read(files, mixing, how, common)
    results = assess(queries.objects, chosen, Noise(mixing.seed), TerminalProgress(quiet=common.quiet))
    settings = [setting for setting, _, _ in results]
    if output is not None:
        _, people, made = results[len(results) // 2]
        _write_page(output, _story(settings, people, made.accounts, f"aidos mediate measure {' '.join(files)}"))
    facts = {"queries": len(queries.texts), "people": queries.objects.people_count, "topics": queries.topics}
    return _tell(common, {**facts, "without_topic": queries.without_topic}, settings)


def _mechanism(mixing: Mixing, alpha: float, heuristic: str) -> MediatorAccounts:
    from aidos.app.recipe import fill_parameters
    from aidos.rooms.shield.mediator.assignment import MediatorAccounts

    given = {"accounts": mixing.accounts, "alpha": alpha, "heuristic": heuristic}
    made: MediatorAccounts = fill_parameters("mediator-accounts", MediatorAccounts, given)
    return made


def _read(files: Sequence[str], mixing: Mixing, how: HowToRead | None, common: Common) -> Queries:
    from aidos.app.mediating import read_log_queries, read_topic_file
    from aidos.ingest.reading import read_files

    topic_of = None if mixing.topics is None else read_topic_file(mixing.topics)
    with open_engine(common) as engine:
        log = read_files(engine, files, (how or HowToRead()).options(normalise=mixing.normalise)).table
        return read_log_queries(log, topic_of, mixing.depth)


def _story(settings: Sequence[Setting], people: Measured, accounts: int, command: str) -> MediatorStory:
    from aidos.core.mechanism import Finding
    from aidos.rooms.shield.mediator.page import MediatorStory

    chosen = settings[len(settings) // 2]
    asked, asking = int(people.objects.sum()), len(people.objects)
    return MediatorStory(
        lead=f"{asked:,} queries of {asking:,} people, issued from {accounts:,} accounts.",
        settings=tuple(settings),
        chosen=chosen,
        people=people,
        accounts=accounts,
        source=Finding(value=people, about="the people of the log"),
        command=command,
    )


def _write_page(path: Path, story: MediatorStory) -> None:
    from aidos.engine.files import write_text
    from aidos.report.page import render
    from aidos.rooms.shield.mediator.page import mediator_page

    write_text(path, render(mediator_page(story)), private=True)


def _tell(common: Common, facts: dict[str, object], settings: Sequence[Setting]) -> int:
    from dataclasses import asdict

    from aidos.report.terminal import facts_table, rows_table
    from aidos.rooms.shield.mediator.page import setting_rows

    if common.json:
        show_json({**facts, "settings": [asdict(setting) for setting in settings]})
        return 0
    columns, rows = setting_rows(settings)
    show(facts_table([(name.replace("_", " "), value) for name, value in facts.items()]))  # type: ignore[misc]
    show(rows_table(list(columns), rows))
    tell("measured on these data, promised to nobody", quiet=common.quiet)
    return 0


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in _words(text)]
    except ValueError as error:
        raise ParameterError(f"--alphas takes numbers with commas between, got {text!r}") from error


PARTS = {"assign": assign, "measure": measure}
