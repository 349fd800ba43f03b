"""Lists of several accounts are never mixed, and tables may call their columns what they like."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from saved_lists import PAIRS, answers, flat_rows, page, pages, pair_lines, write_lines, write_parquet, write_table

from aidos.core.resultpairs import ResultPair
from aidos.errors import InputError, ParameterError
from aidos.ingest.results.reading import read_pairs
from aidos.world.results import result_blocks
from aidos.world.size import World

ACCOUNTS = ("hushanna", "hushbert")


def orders(pairs: tuple[ResultPair, ...]) -> list[tuple[str, str]]:
    return [("".join(r.url[-1] for r in pair.vanilla), "".join(r.url[-1] for r in pair.personalised)) for pair in pairs]


def rows_of_two(column: str = "client_id") -> list[dict[str, Any]]:
    """The same queries asked by two people; the second sees every list the other way round."""
    return [
        {column: account, **row, "position": row["position"] if first else -row["position"]}
        for account, first in zip(ACCOUNTS, (True, False), strict=True)
        for row in flat_rows()
    ]


def refused(*names: str, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        read_pairs(names, **options)
    assert "hush" not in f"{caught.value} {caught.value.hint}"
    return caught.value


@pytest.mark.parametrize("column", ["client_id", "account", "User"])
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_the_lists_of_the_chosen_account_are_read_alone(tmp_path: Path, column: str, form: str) -> None:
    write = {"csv": write_table, "parquet": write_parquet, "jsonl": write_lines}[form]
    path = write(tmp_path / f"rows.{form}", rows_of_two(column))
    for account, turned in zip(ACCOUNTS, (1, -1), strict=True):
        found = read_pairs([path], account=account)
        assert (found.account, found.accounts) == (account, ACCOUNTS)
        assert orders(found.pairs) == [
            (lists["vanilla"][::turned], lists["personalised"][::turned]) for lists in PAIRS.values()
        ]
        assert found.formats == {"rows": len(flat_rows())}


def test_several_accounts_and_none_chosen_is_an_error_that_counts_them(tmp_path: Path) -> None:
    error = refused(write_table(tmp_path / "rows.csv", rows_of_two()))
    assert error.problems[0].kind == "several-accounts"
    assert "the column client_id names 2 accounts" in str(error)
    assert "--account NAME" in error.hint


def test_one_account_needs_no_choice_and_an_absent_one_is_told(tmp_path: Path) -> None:
    path = write_table(tmp_path / "rows.csv", [{"account": 7, **row} for row in flat_rows()])
    found = read_pairs([path])
    assert (found.account, found.accounts) == ("7", ("7",))
    assert refused(path, account="hushcarl").problems[0].kind == "absent-account"
    plain = write_lines(tmp_path / "pairs.jsonl", pair_lines())
    assert (read_pairs([plain]).account, read_pairs([plain]).accounts) == ("", ())
    assert refused(plain, account="hushanna").problems[0].kind == "absent-account"


def test_pairs_and_answers_may_name_accounts(tmp_path: Path) -> None:
    lines = [{**line, "account": account} for account in ACCOUNTS for line in pair_lines()]
    path = write_lines(tmp_path / "pairs.jsonl", lines)
    assert refused(path).problems[0].kind == "several-accounts"
    assert len(read_pairs([path], account=ACCOUNTS[1]).pairs) == len(PAIRS)
    folder = tmp_path / "lists"
    write_lines(folder / "vanilla.jsonl", answers("vanilla"))
    mine = [{**answer, "client_id": account} for account in ACCOUNTS for answer in answers("personalised")]
    write_lines(folder / "personalised.jsonl", mine)
    assert refused(str(folder)).problems[0].kind == "several-accounts"
    assert len(read_pairs([str(folder)], account=ACCOUNTS[0]).pairs) == len(PAIRS)


def test_vanilla_lists_without_account_serve_all_but_personalised_ones_are_somebodys(tmp_path: Path) -> None:
    rows = [{**row, "user": "" if row["list"] != "personalised" else "hushanna"} for row in flat_rows()]
    assert len(read_pairs([write_table(tmp_path / "rows.csv", rows)]).pairs) == len(PAIRS)
    nobodys = [{**row, "user": row["user"] if "first" in row["query"] else ""} for row in rows]
    path = write_table(tmp_path / "rows.csv", nobodys)
    assert refused(path).problems[0].kind == "no-account"
    found = read_pairs([path], skip_bad=True)
    assert [pair.query for pair in found.pairs] == ["first hushquery"]
    assert found.counts.skipped == 1


def test_what_is_wrong_in_the_lists_of_others_is_not_told(tmp_path: Path) -> None:
    rows = rows_of_two()
    rows[-1] = {**rows[-1], "url": "", "title": ""}
    path = write_table(tmp_path / "rows.csv", rows)
    assert not read_pairs([path], account=ACCOUNTS[0]).problems
    assert refused(path, account=ACCOUNTS[1]).problems[0].kind == "no-address"


def test_the_sample_worlds_results_are_read_by_account(tmp_path: Path) -> None:
    path = tmp_path / "results.parquet"
    table = pa.concat_tables(result_blocks(World(200, seed=5)))
    pq.write_table(table, path)
    with pytest.raises(InputError, match="names 4 accounts"):
        read_pairs([str(path)])
    found = read_pairs([str(path)], account="account02")
    rows = [row for row in table.to_pylist() if row["client_id"] == "account02"]
    assert found.accounts == tuple(f"account0{number}" for number in range(1, 5))
    assert len(found.pairs) == len({row["query_id"] for row in rows})
    first = found.pairs[0]
    mine = [row for row in rows if row["query_id"] == rows[0]["query_id"]]
    assert first.query == mine[0]["user_query"]
    for side, results in (("vanilla", first.vanilla), ("personalised", first.personalised)):
        assert [result.url for result in results] == [row["object_id"] for row in mine if row["ranking"] == side]
    assert (first.vanilla[0].title, first.vanilla[0].snippet) == (mine[0]["title"], mine[0]["snippet"])


RENAMED = {"query": "Suche", "list": "Wer", "position": "Platz", "url": "Ziel", "title": "Kopf", "snippet": "Text dazu"}


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_columns_may_be_renamed(tmp_path: Path, form: str) -> None:
    write = {"csv": write_table, "parquet": write_parquet, "jsonl": write_lines}[form]
    # A column of our name that means something else gives way to the one that the user names.
    rows = [{"url": "no address", **{RENAMED[name]: cell for name, cell in row.items()}} for row in flat_rows()]
    path = write(tmp_path / f"rows.{form}", rows)
    found = read_pairs([path], columns={ours: theirs.upper() for ours, theirs in RENAMED.items()})
    plain = read_pairs([write(tmp_path / f"plain.{form}", flat_rows())])
    assert found.pairs == plain.pairs


def test_renames_of_columns_that_no_file_has_are_told(tmp_path: Path) -> None:
    path = write_table(tmp_path / "rows.csv", flat_rows())
    error = refused(path, columns={"kind": "Sort"})
    assert error.problems[0].kind == "absent-column"
    assert "no file has a column called sort" in str(error)
    with pytest.raises(ParameterError, match="no column called colour"):
        read_pairs([path], columns={"colour": "x"})
    for twice in ({"url": "a", "link": "b"}, {"url": "a", "title": "A"}):
        with pytest.raises(ParameterError, match="renamed once"):
            read_pairs([path], columns=twice)


def test_missing_columns_say_how_to_name_them(tmp_path: Path) -> None:
    error = refused(write_table(tmp_path / "rows.csv", [{"Suche": "x", "url": "u", "list": "vanilla"}]))
    assert "say which one does; the file has Suche, url, list: --column query=NAME" in error.hint


def test_large_tables_are_read_quickly(tmp_path: Path) -> None:
    """A row must not cost more than reading its line as JSON costs some ten times over."""
    path = tmp_path / "rows.csv"
    number = 1_000
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("query", "list", "position", "url", "title", "snippet"))
        for query in range(number):
            for side in ("vanilla", "personalised"):
                for place in range(1, 11):
                    known = page(str(place))
                    writer.writerow((f"q{query}", side, place, f"{known['url']}{query}", known["title"], "words " * 9))
    line = json.dumps({"query": "q", "results": pages("abcdefghij")})
    begun = time.process_time()
    for _ in range(2 * number * 10):
        json.loads(line)
    unit = time.process_time() - begun
    taken = []
    for _ in range(2):
        begun = time.process_time()
        assert len(read_pairs([str(path)]).pairs) == number
        taken.append(time.process_time() - begun)
    assert min(taken) < 8 * unit
