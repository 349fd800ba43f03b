"""Accounts out of a store and into a new one."""

import csv

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_serving import HALF_LIFE, SETTINGS, in_memory, opened, serve, state_of

from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness.exchange import export_accounts, import_accounts
from aidos.rooms.fairness.keeper import StoreKeeper, store_facts


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "old.db"
    with opened(place) as keeper:
        for number in range(12):
            serve(keeper, number)
    return place


def write_csv(path, rows, header=("subject_id", "attention", "relevance")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.mark.parametrize("ending", ["parquet", "duckdb"])
def test_a_round_trip_keeps_every_bit_and_the_settings(path, tmp_path, ending):
    target, new = tmp_path / f"accounts.{ending}", tmp_path / "new.db"
    accounts = in_memory(range(12)).accounts
    assert export_accounts(path, target) == len(accounts)
    assert target.stat().st_mode & 0o777 == 0o600
    assert import_accounts(new, target) == len(accounts)
    assert new.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["old.db", "new.db", target.name])
    with opened(new, create=False) as keeper, keeper.turn() as read:
        assert read.names == accounts.names
        assert read.received().tobytes() == accounts.received().tobytes()
        assert read.earned().tobytes() == accounts.earned().tobytes()
        assert read.rankings == 12
        assert read.unfairness == pytest.approx(accounts.unfairness, rel=1e-12)
    facts = store_facts(new)
    assert (facts["settings"], facts["half_life"], facts["searchers"]) == (SETTINGS, HALF_LIFE, 0)


def test_an_imported_store_goes_on_like_the_old_one(path, tmp_path):
    new = tmp_path / "new.db"
    export_accounts(path, tmp_path / "a.parquet")
    import_accounts(new, tmp_path / "a.parquet", settings=SETTINGS, half_life=HALF_LIFE)
    with opened(path) as one, opened(new) as other:
        for number in range(12, 30):
            before, after = serve(one, number)[0], serve(other, number)[0]
            assert before.placed_ids == after.placed_ids
            assert before.unfairness == pytest.approx(after.unfairness, rel=1e-12)


def test_an_export_from_an_open_keeper_is_a_plain_table_with_a_note(path, tmp_path):
    with opened(path) as keeper:
        serve(keeper, 12)
        export_accounts(keeper, tmp_path / "a.parquet")
        export_accounts(keeper, tmp_path / "a.duckdb")
        assert state_of(keeper)[5] == 13
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["subject_id", "attention", "relevance"]
    assert b'"rankings": 13' in table.schema.metadata[b"aidos.accounts"]
    with duckdb.connect(tmp_path / "a.duckdb", read_only=True) as database:
        total, rows = database.execute("select sum(attention), count(*) from accounts").fetchone()
    assert total == pytest.approx(pa.compute.sum(table["attention"]).as_py())
    assert rows == table.num_rows


def test_csv_comes_in_by_column_name_and_needs_settings(tmp_path):
    source = write_csv(
        tmp_path / "a.csv",
        [[0.1, "x", "Ünal, Ada", 1e-300], [2, "y", "b", "3.5"]],
        ["relevance", "n", "subject_id", "attention"],
    )
    with pytest.raises(ParameterError, match="does not tell the settings"):
        import_accounts(tmp_path / "new.db", source)
    assert import_accounts(tmp_path / "new.db", source, settings=SETTINGS, rankings=40) == 2
    with StoreKeeper.open(tmp_path / "new.db", settings=SETTINGS) as keeper, keeper.turn() as accounts:
        assert accounts.names == ["Ünal, Ada", "b"]
        assert accounts.received().tolist() == [1e-300, 3.5]
        assert accounts.earned().tolist() == [0.1, 2.0]
        assert (accounts.rankings, accounts.unfairness) == (40, 1.6)


def test_more_accounts_than_one_page_come_back_in_order(tmp_path):
    rng = np.random.default_rng(1)
    size = 10_000
    columns = {
        "subject_id": [f"s{n}" for n in range(size)],
        "attention": rng.random(size),
        "relevance": rng.random(size),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    import_accounts(tmp_path / "new.db", tmp_path / "a.parquet", settings={})
    with StoreKeeper.open(tmp_path / "new.db", settings={}) as keeper, keeper.turn() as accounts:
        assert accounts.received().tobytes() == columns["attention"].tobytes()
        assert accounts.earned().tobytes() == columns["relevance"].tobytes()
        assert accounts.names == columns["subject_id"]


BAD_ROWS = [
    (["a", 1, 1], ["b", "", 1], "row 2: attention is not a number"),
    (["a", 1, "nan"], ["b", 1, 1], "row 1: relevance is not a number"),
    (["a", "secret words", 1], ["b", 1, 1], "row 1: attention is not a number"),
    (["a", 1, 1], ["b", 1, -0.5], "row 2: relevance is negative"),
    (["a", 1, 1], ["b", "-inf", 1], "row 2: attention is infinite"),
    (["a", 1, 1], ["a", 2, 2], "row 2: subject_id stands in an earlier row already"),
    (["a", 1, 1], ["b", 1], "row 2: 2 cells where the header has 3"),
]


@pytest.mark.parametrize(("one", "two", "words"), BAD_ROWS)
def test_bad_rows_are_named_and_make_no_store(tmp_path, one, two, words):
    source = write_csv(tmp_path / "a.csv", [one, two])
    with pytest.raises(InputError, match=words) as caught:
        import_accounts(tmp_path / "new.db", source, settings={})
    assert "secret" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("ending", ["parquet", "duckdb"])
def test_all_bad_rows_of_a_table_are_told_at_once(tmp_path, ending):
    source = tmp_path / f"a.{ending}"
    names = ["a", None, "c", "a", "a"]
    table = pa.table({"subject_id": names, "attention": [1, None, -1, -2, 0.0], "relevance": [1.0, 1, 1, 1, np.inf]})
    if ending == "parquet":
        pq.write_table(table, source)
    else:
        with duckdb.connect(source) as database:
            database.register("given", table)
            database.execute("create table accounts as select * from given")
    with pytest.raises(InputError) as caught:
        import_accounts(tmp_path / "new.db", source, settings={})
    told = {(one.column, one.kind): one.lines for one in caught.value.problems}
    assert told == {
        ("attention", "not-a-number"): (2,),
        ("attention", "negative"): (3, 4),
        ("relevance", "infinite"): (5,),
        ("subject_id", "missing"): (2,),
        ("subject_id", "duplicate"): (4, 5),
    }


def sources(tmp_path):
    pq.write_table(pa.table({"subject_id": ["a"], "attention": [1.0]}), tmp_path / "short.parquet")
    pq.write_table(
        pa.table({"subject_id": ["a"], "attention": ["much"], "relevance": [1.0]}), tmp_path / "words.parquet"
    )
    with duckdb.connect(tmp_path / "other.duckdb") as database:
        database.execute("create table other as select 1 as one")
    for name in ("junk.parquet", "junk.duckdb"):
        (tmp_path / name).write_bytes(b"no such format" * 100)
    (tmp_path / "latin.csv").write_bytes("subject_id,attention,relevance\nJosé,1,1\n".encode("latin-1"))
    (tmp_path / "empty.csv").write_bytes(b"")
    write_csv(tmp_path / "twice.csv", [], ["subject_id", "attention", "relevance", "attention"])
    (tmp_path / "a.xlsx").write_bytes(b"")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("short.parquet", "has no column relevance"),
        ("words.parquet", "wrong type"),
        ("other.duckdb", "has no table accounts"),
        ("junk.parquet", "not a whole Parquet file"),
        ("junk.duckdb", "cannot be read as a DuckDB file"),
        ("latin.csv", "not a whole CSV file in UTF-8"),
        ("empty.csv", "has no column subject_id and no column attention"),
        ("twice.csv", "has the column attention twice"),
        ("a.xlsx", "no known format"),
        ("nothing.csv", "is no file"),
    ],
)
def test_sources_that_are_no_accounts_are_refused(tmp_path, name, words):
    sources(tmp_path)
    with pytest.raises(InputError, match=words):
        import_accounts(tmp_path / "new.db", tmp_path / name, settings={})
    assert not (tmp_path / "new.db").exists()


def test_existing_stores_and_other_settings_are_refused(path, tmp_path):
    export_accounts(path, tmp_path / "a.parquet")
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="exists"):
        import_accounts(path, tmp_path / "a.parquet")
    assert path.read_bytes() == before
    with pytest.raises(ParameterError, match="attention differ"):
        import_accounts(
            tmp_path / "new.db", tmp_path / "a.parquet", settings=SETTINGS | {"attention": "dcg"}, half_life=HALF_LIFE
        )
    with pytest.raises(ParameterError, match="half_life differ"):
        import_accounts(tmp_path / "new.db", tmp_path / "a.parquet", settings=SETTINGS)
    with pytest.raises(ParameterError, match="rankings must be"):
        import_accounts(tmp_path / "new.db", tmp_path / "a.parquet", rankings=-1)
    with pytest.raises(ParameterError, match="no known format"):
        export_accounts(path, path)
    with pytest.raises(ParameterError, match="directory"):
        export_accounts(path, tmp_path / "nowhere" / "a.duckdb")
    with pytest.raises(InputError, match="there is no store"):
        export_accounts(tmp_path / "none.db", tmp_path / "b.parquet")
