"""The jobs of the mediator: from a search log to accounts that many share, and what that gives and costs.

Only accounts and queries are written. Who asked is known while a job runs, and is in none of its files, except that a
page for the owner shows one nameless point per person.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import LEVELS, LONG_SEED
from aidos.core.noise import Noise
from aidos.errors import ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding, as_path, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Commas, RequiredInTerminal, Section, Short
from aidos.rooms.shield.mediator.accounts import Heuristic, MediatorAccounts, SharedAccounts
from aidos.rooms.shield.mediator.queries import OWN_ACCOUNT, Queries, Tried, assess, read_queries, read_topics

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Page
    from aidos.rooms.shield.mediator.page import Setting

__all__ = [
    "AssignQueries",
    "FromLog",
    "MeasureMixing",
    "MeasuredMixing",
    "MixedLog",
]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MeasuredMixing(Finding):
    """What several ways to mix queries would give and cost."""

    about: str = "the people of the log"
    queries: Queries
    tried: tuple[Tried, ...]
    asked: str = ""

    def facts(self) -> Mapping[str, object]:
        """The log in numbers, and the means of every setting."""
        return {**self._counts(), "settings": [asdict(each.setting) for each in self.tried]}

    def table(self) -> pa.Table:
        """A row for each setting."""
        import pyarrow as pa

        rows = [
            {"heuristic": each.heuristic, "alpha": each.alpha, "epsilon": each.epsilon, **each.means}
            for each in self._settings()
        ]
        return pa.Table.from_pylist(rows)

    def blocks(self) -> Sequence[Block]:
        """The same for people."""
        from aidos.report.page import DataTable, Facts
        from aidos.rooms.shield.mediator.page import setting_rows

        columns, rows = setting_rows(self._settings())
        counts = tuple(
            (name.replace("_", " "), round(value, 3) if isinstance(value, float) else value)
            for name, value in self._counts().items()
            if value != ""
        )
        return Facts(counts), DataTable(caption="Means over people", columns=columns, rows=tuple(rows))

    def remarks(self) -> Sequence[str]:
        """That nothing is promised."""
        return ("measured on these data, promised to nobody",)

    def page(self) -> Page:
        """All settings, and the first that mediates person by person."""
        from aidos.rooms.shield.mediator.page import MediatorStory, mediator_page

        chosen = next((each for each in self.tried if each.setting.heuristic != OWN_ACCOUNT), self.tried[0])
        counts, accounts = chosen.people.objects, chosen.made.accounts
        story = MediatorStory(
            lead=f"{int(counts.sum()):,} queries of {len(counts):,} people, issued from {accounts:,} accounts.",
            settings=tuple(self._settings()),
            chosen=chosen.setting,
            people=chosen.people,
            accounts=accounts,
            linked={name.replace("_", " "): share for name, share in self._linked().items()},
            source=self,
            command=self.asked,
        )
        return mediator_page(story)

    def _counts(self) -> dict[str, str | int | float]:
        return {**self.queries.facts(), **self._linked()}

    def _linked(self) -> dict[str, float]:
        """What the adversary finds without any accounts, on average over people."""
        import numpy as np

        people = int((self.tried[0].people.objects > 0).sum())
        return {
            "linked_by_words_alone": float(np.nanmean(self.tried[0].found.by_words)),
            "linked_by_chance": 1 / people,
        }

    def _settings(self) -> list[Setting]:
        return [each.setting for each in self.tried]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MixedLog(MeasuredMixing):
    """The queries of a log by the account that each is issued from, and what that gives and costs."""

    mixing: MediatorAccounts
    output: Path | None = None
    """Where it was written."""

    def table(self) -> pa.Table:
        """Account and query, account by account, in the order of arrival; no name and no time."""
        import numpy as np
        import pyarrow as pa

        chosen = self.tried[0].made.chosen
        order = np.argsort(chosen, kind="stable")
        texts = [self.queries.texts[each] for each in order.tolist()]
        return pa.table({"account_id": pa.array(chosen[order]), "user_query": pa.array(texts, pa.string())})

    def save(self, path: str | Path) -> None:
        """Write the directory of accounts that the search service may see, or by its ending a page, facts or table."""
        import pyarrow.parquet as pq

        from aidos.engine.files import check_new, directory_when_done, write_text

        path = as_path(path)
        if path.suffix in {".html", ".json", ".parquet", ".csv"}:
            super().save(path)
            return
        check_new(path)
        with directory_when_done(path) as partial:
            pq.write_table(self.table(), partial / "accounts.parquet", compression="zstd")
            write_text(partial / "MANIFEST.json", json.dumps(self._manifest(), indent=2) + "\n")

    def _counts(self) -> dict[str, str | int | float]:
        made, counts = self.tried[0].made, self.queries.facts()
        return {
            "output": str(self.output or ""),
            "queries": counts.pop("queries"),
            "people": counts.pop("people"),
            "accounts": made.accounts,
            **counts,
            **self._linked(),
        }

    def _manifest(self) -> dict[str, object]:
        """How it was made."""
        from aidos.core.guarantee import statement

        made = self.tried[0].made
        return {
            "mechanism": "mediator-accounts",
            "parameters": asdict(self.mixing),
            "epsilon_per_query": self.tried[0].setting.epsilon,
            "guarantee": statement(self.mixing.promise),
            "accounts": made.accounts,
            "queries": len(self.queries.texts),
            "noise": made.noise_source,
        }


@dataclass(frozen=True, slots=True)
class FromLog:
    """What both jobs are told about the log."""

    files: tuple[str, ...]
    """The log: files or glob patterns."""
    _: KW_ONLY
    topics: Path | None = None
    """A file of topics, with query, tab, topic on each line; if unset the default taxonomy, by the query's words."""
    depth: Annotated[int | None, Ge(0), LEVELS] = 2
    """How deep topics of the default taxonomy are told apart."""
    normalise: str = ""
    """How queries are normalised first, as in `aidos ingest`."""
    seed: Annotated[int | None, Ge(0), LONG_SEED] = None
    """Repeatable chance, for tests: who knows the seed can undo the mixing."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def read(self, desk: Desk) -> Queries:
        """The queries of the log."""
        from aidos.ingest.reading import read_files

        topic_of = None if self.topics is None else read_topics(self.topics)
        with desk.engine() as engine:
            log = read_files(engine, self.files, self.how.options(normalise=self.normalise)).table
            return read_queries(log, topic_of, self.depth)

    def noise(self, desk: Desk) -> Noise:
        """Where chance comes from."""
        return desk.noise if self.seed is None else Noise(self.seed)


@dataclass(frozen=True, slots=True)
class AssignQueries(FromLog):
    """Assign every query of a log to a mediator account.

    The directory holds accounts and their queries, and neither people nor
    times. How well people are hidden is measured, not proven.

    For example:
        aidos mediate assign log.tsv -o mixed
        aidos mediate assign log.tsv --alpha 0.3 --heuristic original -o mixed --finding page.html
    """

    recipe_for: ClassVar[str] = "mixing"

    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory to write; it must not exist."""
    finding: Path | None = None
    """Also measure what it gives and costs, on a page for the owner only."""
    mixing: Annotated[MediatorAccounts, Section("Accounts")] = field(default_factory=MediatorAccounts)

    def run(self, desk: Desk) -> MixedLog:
        """Read, assign, measure, and write where that is asked for."""
        from aidos.engine.files import check_new

        if self.output is not None:
            check_new(self.output)
        queries = self.read(desk)
        tried = assess(queries, [self.mixing], self.noise(desk), desk.progress)
        mixed = MixedLog(queries=queries, tried=tuple(tried), mixing=self.mixing, output=self.output, asked=desk.asked)
        if self.output is not None:
            mixed.save(self.output)
        if self.finding is not None:
            save_page(mixed.page(), self.finding)
        return mixed


@dataclass(frozen=True, slots=True)
class MeasureMixing(FromLog):
    """Measure what mixing would give and cost on a log, before anybody relies on it.

    Privacy by an adversary who knows other texts of everybody, by what can be
    proven, and by how people are spread; utility by coherence. Nothing of the
    log is written. Beside each way stand an account for each person and one
    for all.

    For example:
        aidos mediate measure log.tsv
        aidos mediate measure log.tsv --accounts 100 --alphas 0,0.5,1 -o page.html
    """

    _: KW_ONLY
    alphas: Annotated[tuple[Annotated[float, Ge(0), Le(1)], ...], Commas()] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """Chances of scattering to compare, with commas between."""
    heuristics: Annotated[tuple[Heuristic, ...], Commas()] = ("pools", "original", "commons")
    """Ways to choose accounts, with commas between; pools have no alpha."""
    output: Annotated[Path | None, Short("-o")] = None
    """A page about it, for the owner only (a finding)."""
    shared: Annotated[SharedAccounts, Section("Accounts")] = field(default_factory=SharedAccounts)

    def __post_init__(self) -> None:
        check_parameters(self)
        if not self.alphas or not self.heuristics:
            raise ParameterError("no setting was named", hint="for example --alphas 0,0.5,1 --heuristics original")

    def run(self, desk: Desk) -> MeasuredMixing:
        """Read, assign in every way, and measure."""
        ways = [
            MediatorAccounts(**asdict(self.shared), alpha=alpha, heuristic=name)
            for name in self.heuristics
            for alpha in ((None,) if name == "pools" else self.alphas)
        ]
        queries = self.read(desk)
        tried = assess(queries, ways, self.noise(desk), desk.progress, ends=True)
        measured = MeasuredMixing(queries=queries, tried=tuple(tried), asked=desk.asked)
        if self.output is not None:
            save_page(measured.page(), self.output)
        return measured
