"""A log becomes numbers: what `aidos.studies.utility.originals` reads is written here, once for an experiment.

What an item is stays the business of `aidos.rooms.publish.items`: its contributions are taken, over a log whose people,
queries and results have become numbers, which is several times quicker than over their texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aidos.core.progress import SILENT, Progress
from aidos.core.table import Table
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError
from aidos.rooms.publish.actions import askings
from aidos.rooms.publish.items import KINDS, contributions
from aidos.studies.utility.originals import ASKED, ASKINGS, LOG, WORDS, Originals, items_file

__all__ = ["gather_originals"]

NEEDED = ("client_id", "user_query", "timestamp")
FEWEST_PEOPLE = 2
DIGITS = 12
"""Of a digest, in hexadecimal: enough to order the items of one person."""


def gather_originals(
    log: EmbeddedTable,
    directory: Path,
    kinds: Sequence[str] = tuple(KINDS),
    *,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Originals:
    """Number everything and write it to the directory, which should be private; the seed puts items in an order.

    InputError for a log without people, queries or times; kinds that it has no items of are left out.
    """
    known = log.columns
    if missing := [name for name in NEEDED if name not in known]:
        raise InputError(f"the log has no column {', '.join(missing)}", hint=f"it has {', '.join(known)}")
    steps = _Steps(log.engine, directory, seed)
    left_out: dict[str, str] = {}
    with progress.task("preparing the log", total=5, unit="steps") as task:
        people = steps.number_log(log)
        task.advance(1)
        if "keywords" in kinds:
            steps.keywords()
            task.advance(1)
        for kind in ("clicks", "pairs"):
            if kind in kinds and (reason := steps.linked(kind)):
                left_out[kind] = reason
            task.advance(1)
    found = tuple(kind for kind in KINDS if (kind in kinds or kind == "queries") and kind not in left_out)
    return Originals(
        directory=directory,
        people=people,
        kinds=found,
        left_out=left_out,
        has_positions="position" in known,
    )


class _Steps:
    """One log on its way into one directory."""

    def __init__(self, engine: EmbeddedEngine, directory: Path, seed: int) -> None:
        self.engine, self.directory, self.seed = engine, directory, seed

    def number_log(self, log: EmbeddedTable) -> int:
        """Queries by falling numbers of people, and the log with numbers in place of texts; give how many people."""
        with contributions(log, KINDS["queries"]).held(label="counting queries") as asked:
            self._write_items(
                "queries", asked.select("select user_query, count(*) as people from {table} group by user_query")
            )
            queries = self._read(items_file("queries"))
            numbered = "select person, row_number() over (order by person) - 1 as number from (select distinct person"
            with asked.select(f"{numbered} from {{table}})").held() as people:
                found = people.count()
                if found < FEWEST_PEOPLE:
                    raise InputError(
                        f"the log has queries of {found} people: there is nobody to hide among",
                        hint="name a log of more people",
                    )
                self._write_contributions(
                    "queries",
                    asked.select(
                        f"select {_whole('p.number')} as person, q.item from {{table}} t "
                        f"join {people.name} p using (person) join {queries.name} q using (user_query)"
                    ),
                )
                self._write_numbers(log, people, queries)
        return found

    def _write_numbers(self, log: EmbeddedTable, people: Table, queries: Table) -> None:
        known = log.columns
        columns = [f"{_whole('p.number')} as client_id", "q.item as user_query", 't."timestamp"']
        if "session_id" in known:
            # Sessions are told apart within one person only.
            columns.append("if(t.session_id is null, null, hash(t.session_id)) as session_id")
        columns += [f"t.{name}" for name in ("action", "position", "object_id") if name in known]
        self._write(
            LOG,
            log.select(
                f"select {', '.join(columns)} from {{table}} t join {people.name} p on p.person = t.client_id "
                f"join {queries.name} q on q.user_query = t.user_query"
            ),
        )
        numbered = self._read(LOG)
        # Askings are in order and parted into visits for good, so that later readers have less to do.
        visits = "select client_id, visit as session_id, user_query, make_timestamp(place) as timestamp"
        self._write(ASKINGS, numbered.select(f"{visits} from ({askings(numbered.columns)})"))

    def keywords(self) -> None:
        """The words of each query, the keywords of each person, and how often each keyword was asked."""
        queries = self._read(items_file("queries"))
        named = queries.select("select item as client_id, user_query from {table}")
        with contributions(named, KINDS["keywords"]).held() as words:
            by_query = words.select(f"select {_whole('person')} as item, keyword from {{table}}")
            asked = self._read("queries")
            each = f"select distinct t.person, w.keyword from {asked.name} t join {{table}} w using (item)"
            with by_query.select(each).held(label="counting keywords") as had:
                counted = "select keyword, count(*) as people from {table} group by keyword"
                self._write_items("keywords", had.select(counted))
                numbers = self._read(items_file("keywords")).name
                self._write_contributions(
                    "keywords", had.select(f"select t.person, k.item from {{table}} t join {numbers} k using (keyword)")
                )
            self._write(
                WORDS,
                by_query.select(
                    f"select t.item as user_query, k.item from {{table}} t join {numbers} k using (keyword)"
                ),
            )
        self._count_askings()

    def _count_askings(self) -> None:
        asked, words = self._read(ASKINGS), self._read(WORDS)
        items = self._read(items_file("keywords")).name
        times = f"select w.item, count(*) as times from {asked.name} join {words.name} w using (user_query) group by 1"
        self._write(
            ASKED,
            words.select(
                f"select {_whole('coalesce(t.times, 0)', 'bigint')} as times from {items} k "
                f"left join ({times}) t using (item) order by k.item"
            ),
        )

    def linked(self, kind: str) -> str:
        """Clicks or pairs, which hang on queries; the reason if there are none."""
        log = self._read(LOG)
        second = KINDS[kind].columns[1]
        if second == "object_id" and second not in log.columns:
            return "it does not say which results were clicked"
        text = second == "object_id"
        item = f"{_whole('user_query')} as user_query, {second if text else f'{_whole(second)} as {second}'}"
        with (
            contributions(log, KINDS[kind])
            .select(f"select {_whole('person')} as person, {item} from {{table}}")
            .held(label=f"counting {kind}") as had
        ):
            if not had.count():
                return EMPTY[kind]
            self._write_items(
                kind, had.select(f"select user_query, {second}, count(*) as people from {{table}} group by all")
            )
            numbers = self._read(items_file(kind)).name
            self._write_contributions(
                kind,
                had.select(f"select t.person, k.item from {{table}} t join {numbers} k using (user_query, {second})"),
            )
        return ""

    def _write_items(self, kind: str, counted: Table) -> None:
        """Items with their true counts, the most frequent first, numbered from 0."""
        columns = ", ".join(KINDS[kind].columns)
        order = f"people desc, {columns}"
        self._write(
            items_file(kind),
            counted.select(
                f"select {_whole(f'row_number() over (order by {order}) - 1')} as item, {columns}, people "
                f"from {{table}} order by {order}"
            ),
        )

    def _write_contributions(self, kind: str, had: Table) -> None:
        """Person and item, and the item's place among those of the person in a random order; low places first.

        Whoever wants few items of each person then reads the beginning of the file and no more.
        """
        drawn = f"left(md5('{self.seed}' || chr(31) || person || chr(31) || item), {DIGITS}), item"
        place = f"row_number() over (partition by person order by {drawn}) - 1"
        self._write(kind, had.select(f"select person, item, {_whole(place)} as place from {{table}} order by place"))

    def _read(self, name: str) -> EmbeddedTable:
        return self.engine.parquet(self.directory / f"{name}.parquet")

    def _write(self, name: str, table: Table) -> None:
        table.write_parquet(self.directory / f"{name}.parquet")


EMPTY = {
    "clicks": "nobody clicked on a result",
    "pairs": "nobody asked two different queries in one visit",
}
"""Why a log that could have them has none."""


def _whole(expression: str, kind: str = "integer") -> str:
    return f"cast({expression} as {kind})"
