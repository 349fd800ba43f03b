"""The thesis' experiment on mediator accounts: assign with several alphas, and measure everybody under each.

Rows of the result are people: how much privacy each gained and what it cost her, under each setting, beside the setting
where everybody keeps an account of her own. `Outcome.summary` has the means with 95 % intervals, people being the
sample; assignments are random too, and one draw of each is measured.

Work that is finished is kept in a directory, one Parquet file a setting, and is not done again; a directory of another
experiment or of other data is refused. Settings run side by side on all cores. The result holds truth about people: it
is a finding, not a release.
"""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.noise import Noise
from aidos.core.progress import SILENT, Progress
from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.adversary import ProfileLinking
from aidos.rooms.shield.mediator.assignment import Assignment, MediatorAccounts
from aidos.rooms.shield.mediator.measures import measure
from aidos.rooms.shield.mediator.objects import Objects
from aidos.studies.mediator.outcome import OWN_ACCOUNT, Outcome
from aidos.studies.mediator.searches import Searches

__all__ = ["MediatorExperiment"]

FINGERPRINT = b"aidos.experiment"
"""Where a kept file says what it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediatorExperiment:
    """Which settings are tried."""

    alphas: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """Chances that an object is scattered, each tried with each heuristic."""
    heuristics: tuple[Literal["original", "commons"], ...] = ("original",)
    """How accounts are chosen."""
    accounts: Annotated[int, Ge(1)] | None = None
    """How many accounts there are; as many as people if unset."""
    seed: Annotated[int, Ge(0)] = 0
    """Of the random assignments."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if not self.alphas or not self.heuristics:
            raise ParameterError("MediatorExperiment: give at least one alpha and one heuristic")
        for heuristic, alpha in self.settings():
            self.mechanism(heuristic, alpha)

    def settings(self) -> list[tuple[str, float | None]]:
        """Heuristic and alpha of all settings; first that of own accounts, which has no alpha."""
        tried = [(heuristic, float(alpha)) for heuristic in self.heuristics for alpha in self.alphas]
        return [(OWN_ACCOUNT, None), *dict.fromkeys(tried)]

    def mechanism(self, heuristic: str, alpha: float | None) -> MediatorAccounts | None:
        """The mechanism of a setting; None where everybody has an account of her own."""
        for known in ("original", "commons"):
            if heuristic == known and alpha is not None:
                return MediatorAccounts(accounts=self.accounts, alpha=alpha, heuristic=known)
        return None

    def run(
        self,
        objects: Objects,
        searches: Searches | None = None,
        *,
        keep: Path | None = None,
        threads: int | None = None,
        progress: Progress = SILENT,
    ) -> Outcome:
        """Try all settings; without searches, what mediation does to rankings is not measured."""
        if searches is not None and searches.log.objects is not objects:
            raise InputError("the searches are those of another log", hint="give the objects of the log searched")
        if threads is not None and threads < 1:
            raise ParameterError(f"threads must be at least 1, got {threads}")
        shelf = _Shelf(keep, self._fingerprint(objects, searches)) if keep else None
        settings = self.settings()
        done = {number: table for number, one in enumerate(settings) if shelf and (table := shelf.load(*one))}
        with (
            progress.task("settings", total=len(settings), unit="settings") as task,
            ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool,
        ):
            task.advance(len(done))
            jobs = {pool.submit(self._try, n, objects, searches): n for n in range(len(settings)) if n not in done}
            waiting = set(jobs)
            try:
                while waiting:
                    finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for job in finished:
                        done[jobs[job]] = job.result()
                        if shelf:
                            shelf.save(*settings[jobs[job]], job.result())
                        task.advance(1)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return Outcome(people=pa.concat_tables([done[number] for number in range(len(settings))]))

    def _try(self, number: int, objects: Objects, searches: Searches | None) -> pa.Table:
        """One setting: a row for each person."""
        heuristic, alpha = self.settings()[number]
        mechanism = self.mechanism(heuristic, alpha)
        if mechanism is None:
            people = objects.people_count
            assignment = Assignment(accounts=people, chosen=objects.people, noise_source="nothing is random")
        else:
            assignment = mechanism.run(objects, Noise(self.seed * 1_000_003 + number))
        columns = asdict(measure(objects, assignment))
        for guesses in (1, 10):
            linked = ProfileLinking(guesses=guesses).attack(objects, assignment)
            columns[f"linked_{guesses}"] = np.where(np.isnan(linked.ranks), np.nan, linked.ranks <= guesses)
            columns[f"chance_{guesses}"] = linked.chances
        nothing = np.full(objects.people_count, np.nan)
        kendall, jaccard = (nothing, nothing) if searches is None else searches.losses(assignment, threads=1)
        columns |= {"kendall_loss": kendall, "jaccard_loss": jaccard}
        rows = len(nothing)
        heads = {
            "heuristic": pa.array([heuristic] * rows),
            "alpha": pa.array([alpha] * rows, pa.float64()),
            "person": pa.array(np.arange(rows)),
        }
        return pa.table(heads | {name: pa.array(values) for name, values in columns.items()})

    def _fingerprint(self, objects: Objects, searches: Searches | None) -> bytes:
        """What a kept result depends on, beside its own setting and the program."""
        digest = sha256(f"{self.accounts} {self.seed} {self.settings()} {searches and searches.spelled}".encode())
        for array in (objects.people, objects.labels):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest().encode()


class _Shelf:
    """Finished settings in a directory."""

    def __init__(self, directory: Path, fingerprint: bytes) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory, self._fingerprint = directory, fingerprint

    def load(self, heuristic: str, alpha: float | None) -> pa.Table | None:
        path = self._path(heuristic, alpha)
        if not path.exists():
            return None
        try:
            table = pq.read_table(path)
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"{path} cannot be read", hint="delete it: the setting is then done again") from error
        if (table.schema.metadata or {}).get(FINGERPRINT) != self._fingerprint:
            raise InputError(
                f"{path} belongs to another experiment or other data", hint="keep results in another directory"
            )
        return table.replace_schema_metadata(None)

    def save(self, heuristic: str, alpha: float | None, table: pa.Table) -> None:
        with replace_when_done(self._path(heuristic, alpha), private=True) as partial:
            pq.write_table(table.replace_schema_metadata({FINGERPRINT: self._fingerprint}), partial)

    def _path(self, heuristic: str, alpha: float | None) -> Path:
        return self._directory / f"{heuristic}{'' if alpha is None else f'-{alpha!r}'}.parquet"
