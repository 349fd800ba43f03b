"""What a person sees of a log with columns that have no use: `aidos check`, `ingest` and `publish`."""

import contextlib
import io
import json

import pytest

from aidos.surfaces.cli import run

NAMES = "visitor_id,event_time,search_term,sku,position,device"


@pytest.fixture
def aidos(tmp_path, monkeypatch):
    """Run a command in a directory with a shop's log; give its exit code and what it printed."""
    rows = [
        f"v{n % 9},2024-03-01 10:{n:02}:00,tent {n % 3},{f'A-{n % 4},{n % 5 + 1}' if n % 2 else ','},phone"
        for n in range(60)
    ]
    (tmp_path / "shop.csv").write_text("\n".join([NAMES, *rows]) + "\n")
    monkeypatch.setenv("COLUMNS", "120")

    def command(*arguments):
        said, complained = io.StringIO(), io.StringIO()
        with contextlib.chdir(tmp_path), contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            code = run([*map(str, arguments)])
        return code, said.getvalue(), complained.getvalue()

    return command


def test_check_lists_what_is_not_used_and_what_it_could_be(aidos):
    code, said, _ = aidos("check", "shop.csv")
    assert code == 2
    assert "not used: sku, device" in said
    assert "  sku could be object_id: --column object_id=sku" in said
    assert "30 times" in said
    code, said, _ = aidos("check", "shop.csv", "--column", "object_id=sku")
    assert (code, "not used: device" in said, "no problems found" in said) == (0, True, True)


def test_machines_are_told_the_same(aidos):
    _, said, _ = aidos("check", "shop.csv", "--json")
    (file,) = json.loads(said)["files"]
    assert file["unused"] == [
        {"name": "sku", "could_be": "object_id", "option": "--column object_id=sku"},
        {"name": "device", "could_be": "", "option": ""},
    ]
    assert [problem["kind"] for problem in file["problems"]] == ["position-without-object"]


def test_ingest_says_what_it_did_not_read(aidos, tmp_path):
    code, _, complained = aidos("ingest", "shop.csv", "-o", "log.parquet")
    assert (code, "--column object_id=sku" in complained) == (2, True)
    accepted = ("--accept", "position-without-object")
    code, _, complained = aidos("ingest", "shop.csv", *accepted, "-o", "log.parquet")
    assert code == 0
    assert "note: shop.csv: not read: sku, device" in complained
    assert "note: shop.csv: sku could be object_id: --column object_id=sku" in complained
    _, said, _ = aidos("ingest", "shop.csv", *accepted, "-o", "log.parquet", "--json")
    assert json.loads(said)["unused"] == {"shop.csv": ["sku", "device"]}
    assert aidos("check", "log.parquet")[0] == 0


def test_clicks_that_no_column_holds_are_refused_before_the_charge(aidos, tmp_path):
    assert aidos("ledger", "open", "shop.csv", "--epsilon", 3, "--delta", 0.05, "-o", "l.ledger")[0] == 0
    before = (tmp_path / "l.ledger").read_bytes()
    asks = ("--ledger", "l.ledger", "--items", "queries,clicks", "--epsilon", 2, "--yes", "-o", "release")
    code, _, complained = aidos("publish", "shop.csv", *asks)
    assert code == 2
    assert "no column holds the object_id" in complained
    assert complained.rstrip().endswith("--column object_id=sku")
    assert (tmp_path / "l.ledger").read_bytes() == before
    assert not (tmp_path / "release").exists()
    assert aidos("publish", "shop.csv", *asks, "--column", "object_id=sku")[0] == 0


def test_other_items_need_no_clicks(aidos):
    done = aidos("publish", "shop.csv", "--items", "queries,keywords,pairs", "--without-ledger", "-o", "release")
    assert done[0] == 0, done


@pytest.mark.parametrize(("clicks", "code"), [(0, 0), (10, 2)])
def test_the_pool_release_wants_clicks_unless_it_counts_none(aidos, clicks, code):
    options = ("--mechanism", "pool-release", "--set", "variant=thresholded", "--set", f"clicks-per-person={clicks}")
    done = aidos("publish", "shop.csv", *options, "--without-ledger", "--accept-large-delta", "-o", "release")
    assert done[0] == code, done


def test_a_spreadsheet_is_named_in_one_line(aidos, tmp_path):
    (tmp_path / "log.xlsx").write_bytes(b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml")
    code, said, _ = aidos("check", "log.xlsx")
    assert (code, said.count(" * ")) == (2, 1)
    assert "is an Excel workbook, which aidos does not read" in said
    code, _, complained = aidos("publish", "log.xlsx", "--without-ledger", "-o", "release")
    assert (code, "save the sheet as CSV" in complained) == (2, True)
