"""The jobs that attack: what an adversary gets out of releases and mechanisms.

The exit code is 1 when a promise was broken or a leak was found. That a mechanism without a promise falls is no failure
of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD, ITEMS, LONG_SEED, ROUNDS
from aidos.errors import InputError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
    from aidos.report.page import Block
    from aidos.rooms.publish.attacks.opponents import Opponent
    from aidos.rooms.publish.attacks.scenes import Stage

__all__ = [
    "Arena",
    "AttackedMechanisms",
    "DistinguishPerson",
    "MakeSybils",
    "ScanUniques",
    "ScannedRelease",
    "Settings",
]

FOR_MACHINES = {"guarantee", "found_out", "falsely_accused", "sign_with_her", "sign_without", "delta_claimed"}
"""What only --json shows: a terminal is not wide enough."""
TITLE = "The attack"
Rows = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the mechanisms are given; each takes of it what it has a parameter for."""

    epsilon: Annotated[float, Gt(0)] = 1.0
    """What the mechanisms with an epsilon promise."""
    delta: Annotated[float, Gt(0), Lt(1)] = 1e-6
    """What the mechanisms with a delta promise."""
    items_per_person: Annotated[int, Ge(1), ITEMS] = 1
    """Items that they keep of each person; 1 makes their noise smallest."""
    k: Annotated[int, Ge(2), CROWD] = 10
    """The k of k-anonymity."""
    trials: Annotated[int, Ge(20), ROUNDS] = 1000
    """Victims; more make the result surer."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """What is attacked, and how often."""

    mechanism: tuple[str, ...] = ()
    """Which mechanism to attack, for example k-query-anonymity; may be repeated; all of them if unset."""
    settings: Annotated[Settings, Section(TITLE)] = field(default_factory=Settings)
    confidence: Annotated[float, Ge(0.5), Lt(1)] = 0.99
    """Of every interval and bound."""
    size: str = "tiny"
    """Size of the sample world that is the crowd: tiny, small, medium, or a number of people."""
    seed: Annotated[int, Ge(0), LONG_SEED] = 7
    """Another seed is another crowd; noise comes from the operating system in any case."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def attack(
        self, title: str, desk: Desk, play: Callable[[Stage, Opponent], Mapping[str, object]], items: int = 1
    ) -> AttackedMechanisms:
        """Attack one mechanism after another, with the sample world as the crowd; a victim asked so many queries."""
        from aidos.core.guarantee import statement
        from aidos.core.noise import Noise
        from aidos.rooms.publish.attacks.opponents import find_opponents
        from aidos.rooms.publish.attacks.scenes import Stage

        opponents, rows = find_opponents(self.mechanism, self.settings, items=items), []
        with desk.engine() as engine, desk.progress.task("attacking", total=len(opponents), unit="mechanisms") as task:
            crowd = self._crowd(engine)
            for opponent in opponents:
                played = play(Stage(opponent.publish, opponent.scene, crowd, Noise()), opponent)
                about = {"mechanism": opponent.name, "target": opponent.target}
                rows.append({**about, **played, "guarantee": statement(opponent.guarantee)})
                task.advance(1)
        return AttackedMechanisms(value=rows, title=title, arena=self)

    def _crowd(self, engine: EmbeddedEngine) -> EmbeddedTable:
        import pyarrow as pa

        from aidos.world.log import log_blocks
        from aidos.world.size import World

        return engine.table(pa.concat_tables(log_blocks(World(size=self.size, seed=self.seed))))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AttackedMechanisms(Finding):
    """How far an attacker got with each mechanism."""

    about: str = "the victims of the sample world"
    value: Rows
    title: str
    arena: Arena

    @property
    def exit_code(self) -> int:
        """1 where a promise was broken."""
        return 1 if any(row["verdict"] == "BROKEN PROMISE" for row in self.value) else 0

    def facts(self) -> Mapping[str, object]:
        """Every result, and what it rests on."""
        arena = self.arena
        about = {"trials": arena.settings.trials, "confidence": arena.confidence, "size": arena.size}
        return {"attack": self.title, **about, "seed": arena.seed, "results": self.value}

    def table(self) -> pa.Table:
        """A row for each mechanism."""
        import pyarrow as pa

        return pa.Table.from_pylist([dict(row) for row in self.value])

    def blocks(self) -> Sequence[Block]:
        """The same for people, without what only machines want."""
        rows = [{name: value for name, value in row.items() if name not in FOR_MACHINES} for row in self.value]
        told = f"{self.title}: {self.arena.settings.trials:,} victims, {self.arena.confidence:.0%} sure"
        return (_rows_block(rows, told),)


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeSybils:
    """Ask what a victim may have asked, from accounts of your own, and see whether the release gives her away.

    Runs on the sample world with planted victims, against every mechanism of
    the catalogue or those named. The advantage is the share of victims found
    out minus the share falsely accused: 0 is a blind guess, 1 is certainty.

    For example:
        aidos attack sybil --mechanism k-query-anonymity
        aidos attack sybil --mechanism count-gaussian --mechanism zealous --epsilon 0.5
        aidos attack sybil --trials 4000 --json
    """

    arena: Annotated[Arena, Section(TITLE)] = field(default_factory=Arena)
    sybils: Annotated[int | None, Ge(0), CROWD] = None
    """Accounts made for each victim; the attacker finds the best number herself if unset."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> AttackedMechanisms:
        """Rehearse, choose, attack."""
        return self.arena.attack("sybil attack", desk, self._play)

    def _play(self, stage: Stage, opponent: Opponent) -> Mapping[str, object]:
        from aidos.rooms.publish.attacks.sybil import attack_with_sybils

        confidence = self.arena.confidence
        done = attack_with_sybils(stage, guarantee=opponent.guarantee, sybils=self.sybils, confidence=confidence)
        return {
            "sybils": done.sybils,
            "found_out": done.hits.value,
            "falsely_accused": done.false_alarms.value,
            "advantage": done.advantage,
            "surely": list(done.interval),
            "allowed": done.allowed,
            "verdict": done.verdict,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinguishPerson:
    """Tell from releases whether a person was in the log, and bound epsilon from below by how well that goes.

    Two logs that differ in one person are released again and again, and a sign
    that was chosen in rehearsal is counted. A bound above the claim proves that
    the claim is false; a bound below it proves nothing.

    For example:
        aidos attack distinguish --mechanism count-gaussian --trials 4000
        aidos attack distinguish --mechanism pool-release
        aidos attack distinguish --items-per-person 5 --json
    """

    arena: Annotated[Arena, Section(TITLE)] = field(default_factory=Arena)

    def run(self, desk: Desk) -> AttackedMechanisms:
        """Release with her and without, and count."""
        items = self.arena.settings.items_per_person
        return self.arena.attack("membership distinguisher", desk, self._play, items)

    def _play(self, stage: Stage, opponent: Opponent) -> Mapping[str, object]:
        from aidos.rooms.publish.attacks.distinguisher import distinguish

        claimed = getattr(opponent.guarantee, "epsilon", None)
        delta = getattr(opponent.guarantee, "delta", 0.0)
        done = distinguish(stage, delta=delta, confidence=self.arena.confidence)
        broken = claimed is not None and done.refutes(claimed)
        nothing = f"no promise; no epsilon below {done.epsilon:.2f} would fit"
        return {
            "others": done.others,
            "sign_with_her": done.right.value,
            "sign_without": done.wrong.value,
            "epsilon_at_least": done.epsilon,
            "epsilon_claimed": claimed,
            "delta_claimed": delta,
            "verdict": nothing if claimed is None else "BROKEN PROMISE" if broken else "stands",
        }


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ScannedRelease(Finding):
    """How many released items are a single person's; numbers, never an item."""

    about: str = "the people of the log"
    value: Rows
    release: Path

    @property
    def exit_code(self) -> int:
        """1 where there is any."""
        return 1 if any(row["of_one"] for row in self.value) else 0

    def facts(self) -> Mapping[str, object]:
        """A scan for each file."""
        return {"release": str(self.release), "scans": self.value}

    def table(self) -> pa.Table:
        """A row for each file."""
        import pyarrow as pa

        return pa.Table.from_pylist([dict(row) for row in self.value])

    def blocks(self) -> Sequence[Block]:
        """The same for people."""
        return (_rows_block(self.value, "items of single people"),)


@dataclass(frozen=True, slots=True)
class ScanUniques:
    """Look for released items that, in the log they came from, a single person has.

    Numbers are shown and never an item. The exit code is 1 when there is any.

    For example:
        aidos attack uniques release/ log.tsv
        aidos attack uniques queries.parquet log.parquet --json
    """

    release: Path
    """A release directory of aidos, or one file of released items (Parquet or CSV)."""
    files: tuple[str, ...]
    """The log that it was made from: files or glob patterns."""
    _: KW_ONLY
    normalise: str = ""
    """How queries were normalised before the release, as in `aidos ingest`."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> ScannedRelease:
        """Count the people of the log behind every released item."""
        from aidos.ingest.reading import read_files
        from aidos.rooms.publish.attacks.uniques import scan_uniques

        with desk.engine() as engine:
            log = read_files(engine, self.files, self.how.options(normalise=self.normalise)).table
            found = _released_files(self.release)
            scans = {path.name: scan_uniques(_released(engine, path), log).value for path in found}
        rows = [{"file": name, **asdict(scan), "verdict": scan.verdict} for name, scan in scans.items()]
        return ScannedRelease(value=rows, release=self.release)


def _released_files(release: Path) -> list[Path]:
    if release.is_dir():
        found = sorted(release.glob("*.parquet"))
        if not found:
            raise InputError(f"{release} has no Parquet file", hint="name the directory that aidos wrote, or one file")
        return found
    if not release.is_file():
        raise InputError(f"{release} does not exist", hint="name a release directory, or one file of released items")
    return [release]


def _released(engine: EmbeddedEngine, path: Path) -> EmbeddedTable:
    from aidos.engine.embedded import quote_text

    match path.suffix:
        case ".parquet":
            return engine.parquet(path)
        case ".csv":
            return engine.view(f"select * from read_csv({quote_text(str(path))}, header = true, all_varchar = true)")
        case _:
            raise InputError(f"{path} is neither Parquet nor CSV", hint="name a release directory, or one such file")


def _rows_block(rows: Rows, title: str) -> Block:
    from aidos.report.page import DataTable

    columns = tuple(name.replace("_", " ") for name in rows[0]) if rows else ("nothing",)
    return DataTable(caption=title, columns=columns, rows=tuple(tuple(map(_cell, row.values())) for row in rows))


def _cell(value: object) -> str | int:
    match value:
        case None:
            return "no promise"
        case int() | str():
            return value
        case float():
            return f"{value:.3g}"
        case [float(low), float(high)]:
            return f"{low:.2f} to {high:.2f}"
        case _:
            return str(value)
