"""What the commands of the utility experiments are told: on what, at which strengths, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.utilitystudy import UtilityData
    from aidos.studies.utility.outcome import Outcome
    from aidos.studies.utility.plan import Experiment, UtilityPlan

__all__ = ["OnWhat", "evaluate_every_utility", "evaluate_utility", "floats", "integers", "words"]

Number = TypeVar("Number", int, float)


@Parameter(name="*", group="On what")
@dataclass(frozen=True, slots=True, kw_only=True)
class OnWhat:
    """What is searched, and what is made where nothing is named."""

    documents: Sequence[str] = ()
    """The searched collection: a Parquet file with object_id and text, posts, or texts; may be repeated."""

    size: str = "small"
    """The size of the sample world, where no log is named: tiny, small, medium or a number of people."""

    seed: int = 7
    """Of the sample world, and of all noise; 7 unless given."""

    repeats: int = 1
    """How often each release is simulated, with other noise; once unless given."""


def evaluate_utility(  # noqa: PLR0917 - what every one of these commands has
    experiment: Experiment,
    files: Sequence[str],
    output: Path,
    asked: Mapping[str, object],
    on_what: OnWhat | None,
    how: HowToRead | None,
    common: Common | None,
) -> int:
    """Check what was asked, run it, write it, tell it."""
    from aidos.app.utilitystudy import run_utility, write_utility

    common, told = common or Common(), on_what or OnWhat()
    plan, data = _plan(asked, told), _data(files, told, how)
    with open_engine(common) as engine:
        outcome = run_utility(
            experiment, data, plan, output, engine=engine, progress=TerminalProgress(quiet=common.quiet)
        )
    command = _command(experiment, files, told, asked, output)
    write_utility(output, outcome, command=command, synthetic=data.is_synthetic)
    if common.json:
        show_json({"output": str(output), **_for_machines(outcome)})
    else:
        _tell(outcome, outcome.facts.about)
        _tell_end([outcome], output, common, synthetic=data.is_synthetic)
    return 0


def evaluate_every_utility(  # noqa: PLR0917 - the same
    files: Sequence[str],
    output: Path,
    asked: Mapping[str, object],
    on_what: OnWhat | None,
    how: HowToRead | None,
    common: Common | None,
) -> int:
    """The same for all experiments at once."""
    from aidos.app.utilitystudy import run_every_utility
    from aidos.studies.utility.page import TITLES

    common, told = common or Common(), on_what or OnWhat()
    plan, data = _plan(asked, told), _data(files, told, how)
    command = _command("utility", files, told, asked, output)
    with open_engine(common) as engine:
        found = run_every_utility(
            data, plan, output, command, engine=engine, progress=TerminalProgress(quiet=common.quiet)
        )
    if common.json:
        outcomes = {outcome.experiment: _for_machines(outcome) for outcome in found.outcomes}
        show_json({"output": str(output), "experiments": outcomes, "left_out": dict(found.left_out)})
        return 0
    for outcome in found.outcomes:
        _tell(outcome, TITLES[outcome.experiment])
    for name, why in found.left_out.items():
        tell(f"{name} is left out: {why}", quiet=common.quiet)
    _tell_end(found.outcomes, output, common, synthetic=data.is_synthetic)
    return 0


def _data(files: Sequence[str], told: OnWhat, how: HowToRead | None) -> UtilityData:
    from aidos.app.utilitystudy import UtilityData

    return UtilityData(
        files=tuple(files),
        documents=tuple(told.documents),
        size=told.size,
        world_seed=told.seed,
        options=(how or HowToRead()).options(normalise="all"),
    )


def _plan(asked: Mapping[str, object], told: OnWhat) -> UtilityPlan:
    """Only what was given: everything else is as the plan has it."""
    from aidos.studies.utility.plan import UtilityPlan

    given: dict[str, Any] = {name: value for name, value in asked.items() if value not in (None, ())}
    return UtilityPlan(**given, seed=told.seed, repeats=told.repeats)


def _for_machines(outcome: Outcome) -> dict[str, Any]:
    from dataclasses import asdict

    from aidos.studies.utility.measured import holds_from
    from aidos.studies.utility.searchclaims import read_claims

    claims = [asdict(claim) | {"holds_from": holds_from(claim.key)} for claim in read_claims(outcome)]
    return {**outcome.to_json(), "claims": claims}


def _tell(outcome: Outcome, title: str) -> None:
    """What the papers found and what was found here."""
    from aidos.report.terminal import rows_table
    from aidos.studies.utility.page import CLAIM_COLUMNS, claim_rows

    show(rows_table(CLAIM_COLUMNS, claim_rows(outcome), title=title))


def _tell_end(outcomes: Sequence[Outcome], output: Path, common: Common, *, synthetic: bool) -> None:
    left_out = {kind: why for outcome in outcomes for kind, why in outcome.facts.left_out.items()}
    for kind, why in left_out.items():
        tell(f"{kind} are left out: {why}", quiet=common.quiet)
    for words in filter(None, map(_remark, outcomes)):
        tell(words, quiet=common.quiet)
    tell(f"{output / 'report.html'} has every table and chart", quiet=common.quiet)
    if not synthetic:
        tell("these are findings about the people of the log: not for release", quiet=common.quiet)


def _remark(outcome: Outcome) -> str:
    """What to know about the numbers of one experiment."""
    from aidos.studies.utility.searchpage import tell_pairs, tell_pool

    if outcome.experiment == "retrieval":
        return tell_pool(outcome.pool)
    return tell_pairs(outcome) if outcome.experiment == "substitution" else ""


def _command(experiment: str, files: Sequence[str], told: OnWhat, asked: Mapping[str, object], output: Path) -> str:
    """What to type to get the same."""
    said = ["aidos evaluate", experiment, *files]
    said += [f"--documents {name}" for name in told.documents]
    said += [] if files else [f"--size {told.size}"]
    said += [f"--seed {told.seed}"] + ([f"--repeats {told.repeats}"] if told.repeats != 1 else [])
    for name, value in asked.items():
        if value not in (None, ()):
            listed = ",".join(f"{each:g}" if isinstance(each, float) else str(each) for each in _several(value))
            option = name.removeprefix("equal_").replace("_", "-")
            said.append(f"--{option} {listed}")
    return " ".join([*said, f"-o {output}"])


def _several(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple) else (value,)


def floats(option: str, text: str) -> tuple[float, ...]:
    """Numbers with commas between."""
    return _numbers(option, text, float)


def integers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers with commas between."""
    return _numbers(option, text, int)


def words(text: str) -> tuple[str, ...]:
    """Words with commas between, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _numbers(option: str, text: str, kind: Callable[[str], Number]) -> tuple[Number, ...]:
    try:
        return tuple(dict.fromkeys(kind(word) for word in words(text)))
    except ValueError as error:
        raise ParameterError(f"{option} takes numbers with commas between, got {text!r}") from error
