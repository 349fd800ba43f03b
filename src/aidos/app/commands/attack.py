"""`aidos attack`: what an adversary gets out of releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json
from aidos.app.reading import HowToRead
from aidos.errors import InputError, ParameterError

if TYPE_CHECKING:
    from aidos.app.opponents import Opponent, Settings
    from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
    from aidos.rooms.publish.attacks.scenes import Stage

__all__ = ["PARTS", "Arena", "attack", "attack_by_sybils", "attack_distinguish", "attack_uniques"]

FOR_MACHINES = {"guarantee", "found_out", "falsely_accused", "sign_with_her", "sign_without", "delta_claimed"}
"""What only --json shows: a terminal is not wide enough."""
BROKEN = 1
"""Exit code when a promise was broken or a leak was found."""


@Parameter(name="*", group="The attack")
@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """Options of the attacks that run mechanisms."""

    mechanism: Sequence[str] = ()
    """Which mechanism to attack, for example k-query-anonymity; may be repeated; all of them unless given."""

    epsilon: float = 1.0
    """What the mechanisms with an epsilon promise; 1 unless given."""

    delta: float = 1e-6
    """What the mechanisms with a delta promise; 0.000001 unless given."""

    items_per_person: int = 1
    """Items that they keep of each person; 1 unless given, which makes their noise smallest."""

    k: int = 10
    """The k of k-anonymity; 10 unless given."""

    trials: int = 1000
    """Victims; more make the result surer; 1000 unless given."""

    confidence: float = 0.99
    """Of every interval and bound; 0.99 unless given."""

    size: str = "tiny"
    """Size of the sample world that is the crowd: tiny, small, medium, or a number of people; tiny unless given."""

    seed: int = 7
    """Another seed is another crowd; noise comes from the operating system in any case."""

    def settings(self) -> Settings:
        """What the mechanisms are given."""
        from aidos.app.opponents import Settings

        if not 0.5 <= self.confidence < 1:
            raise ParameterError(f"--confidence must be at least 0.5 and less than 1, got {self.confidence}")
        return Settings(
            epsilon=self.epsilon,
            delta=self.delta,
            items_per_person=self.items_per_person,
            k=self.k,
            trials=self.trials,
        )


def attack() -> int:
    """Attack releases and mechanisms, and tell how far one gets.

    The exit code is 1 when a promise was broken or a leak was found. That a
    mechanism without a promise falls is no failure of it.

    For example:
        aidos attack sybil --mechanism k-query-anonymity
        aidos attack sybil
        aidos attack distinguish --mechanism count-gaussian --trials 4000
        aidos attack uniques release/ log.tsv
    """
    raise ParameterError("which attack is missing: sybil, distinguish or uniques", hint="see: aidos attack --help")


def attack_by_sybils(*, arena: Arena | None = None, sybils: int | None = None, common: Common | None = None) -> int:
    """Ask what a victim may have asked, from accounts of your own, and see whether the release gives her away.

    Runs on the sample world with planted victims, against every mechanism of
    the catalogue or those named. The advantage is the share of victims found
    out minus the share falsely accused: 0 is a blind guess, 1 is certainty.

    For example:
        aidos attack sybil --mechanism k-query-anonymity
        aidos attack sybil --mechanism count-gaussian --mechanism zealous --epsilon 0.5
        aidos attack sybil --trials 4000 --json

    Parameters
    ----------
    sybils
        Accounts made for each victim; the attacker finds the best number herself unless given.
    """
    from aidos.rooms.publish.attacks.sybil import attack_with_sybils

    arena, common = arena or Arena(), common or Common()
    if sybils is not None and sybils < 0:
        raise ParameterError(f"--sybils must be at least 0, got {sybils}")

    def play(stage: Stage, opponent: Opponent) -> dict[str, object]:
        done = attack_with_sybils(stage, guarantee=opponent.guarantee, sybils=sybils, confidence=arena.confidence)
        return {
            "sybils": done.sybils,
            "found_out": done.hits.value,
            "falsely_accused": done.false_alarms.value,
            "advantage": done.advantage,
            "surely": list(done.interval),
            "allowed": done.allowed,
            "verdict": done.verdict,
        }

    return _tell(_each_opponent(arena, common, 1, play), arena, common, "sybil attack")


def attack_distinguish(*, arena: Arena | None = None, common: Common | None = None) -> int:
    """Tell from releases whether a person was in the log, and bound epsilon from below by how well that goes.

    Two logs that differ in one person are released again and again, and a sign
    that was chosen in rehearsal is counted. A bound above the claim proves that
    the claim is false; a bound below it proves nothing.

    For example:
        aidos attack distinguish --mechanism count-gaussian --trials 4000
        aidos attack distinguish --mechanism pool-release
        aidos attack distinguish --items-per-person 5 --json
    """
    from aidos.rooms.publish.attacks.distinguisher import distinguish

    arena, common = arena or Arena(), common or Common()

    def play(stage: Stage, opponent: Opponent) -> dict[str, object]:
        claimed = getattr(opponent.guarantee, "epsilon", None)
        delta = getattr(opponent.guarantee, "delta", 0.0)
        done = distinguish(stage, delta=delta, confidence=arena.confidence)
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

    return _tell(_each_opponent(arena, common, arena.items_per_person, play), arena, common, "membership distinguisher")


def attack_uniques(
    release: Path,
    files: Sequence[str],
    /,
    *,
    normalise: str = "",
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Look for released items that, in the log they came from, a single person has.

    Numbers are shown and never an item. The exit code is 1 when there is any.

    For example:
        aidos attack uniques release/ log.tsv
        aidos attack uniques queries.parquet log.parquet --json

    Parameters
    ----------
    release
        A release directory of aidos, or one file of released items (Parquet or CSV).
    files
        The log that it was made from: files or glob patterns.
    normalise
        How queries were normalised before the release, as in `aidos ingest`.
    """
    from aidos.ingest.reading import read_files
    from aidos.rooms.publish.attacks.uniques import scan_uniques

    common = common or Common()
    with open_engine(common) as engine:
        log = read_files(engine, files, (how or HowToRead()).options(normalise=normalise)).table
        scans = {path.name: scan_uniques(_released(engine, path), log).value for path in _released_files(release)}
    rows = [{"file": name, **asdict(scan), "verdict": scan.verdict} for name, scan in scans.items()]
    if common.json:
        show_json({"release": str(release), "scans": rows})
    else:
        _show_rows(rows, "items of single people")
    return BROKEN if any(scan.of_one for scan in scans.values()) else 0


def _each_opponent(
    arena: Arena, common: Common, items: int, play: Callable[[Stage, Opponent], dict[str, object]]
) -> list[dict[str, object]]:
    """Attack one after another, with the sample world as the crowd and a bar for those who wait."""
    from aidos.app.opponents import find_opponents
    from aidos.core.guarantee import statement
    from aidos.core.noise import Noise
    from aidos.rooms.publish.attacks.scenes import Stage

    opponents = find_opponents(arena.mechanism, arena.settings(), items=items)
    progress = TerminalProgress(quiet=common.quiet)
    results = []
    with (
        open_engine(common) as engine,
        progress.task("attacking", total=len(opponents), unit="mechanisms") as task,
    ):
        crowd = _sample_log(engine, arena)
        for opponent in opponents:
            played = play(Stage(opponent.publish, opponent.scene, crowd, Noise()), opponent)
            about = {"mechanism": opponent.name, "target": opponent.target}
            results.append({**about, **played, "guarantee": statement(opponent.guarantee)})
            task.advance(1)
    return results


def _sample_log(engine: EmbeddedEngine, arena: Arena) -> EmbeddedTable:
    import pyarrow as pa

    from aidos.world.log import log_blocks
    from aidos.world.size import World

    return engine.table(pa.concat_tables(log_blocks(World(size=arena.size, seed=arena.seed))))


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


def _tell(results: list[dict[str, object]], arena: Arena, common: Common, title: str) -> int:
    if common.json:
        about = {"trials": arena.trials, "confidence": arena.confidence, "size": arena.size, "seed": arena.seed}
        show_json({"attack": title, **about, "results": results})
    else:
        rows = [{name: value for name, value in row.items() if name not in FOR_MACHINES} for row in results]
        _show_rows(rows, f"{title}: {arena.trials:,} victims, {arena.confidence:.0%} sure")
    return BROKEN if any(result["verdict"] == "BROKEN PROMISE" for result in results) else 0


def _show_rows(rows: Sequence[Mapping[str, object]], title: str) -> None:
    from aidos.report.terminal import rows_table

    columns = [name.replace("_", " ") for name in rows[0]] if rows else ["nothing"]
    show(rows_table(columns, [tuple(map(_cell, row.values())) for row in rows], title=title))


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


PARTS = {"sybil": attack_by_sybils, "distinguish": attack_distinguish, "uniques": attack_uniques}
