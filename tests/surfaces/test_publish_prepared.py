"""What can be known beforehand is known before the charge; what fails afterwards does not lose the release."""

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.rooms.publish import directory
from aidos.surfaces.cli import run

PEOPLE = 300
BYTES = 100_000
"""More than any file of a rehearsal, less than the table of the release with long items."""


def aidos(*arguments, cwd):
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = run([*map(str, arguments)])
    return code, said.getvalue(), complained.getvalue()


@pytest.fixture
def place(tmp_path):
    (tmp_path / "there").mkdir()
    rows = [(f"u{person}", query) for person in range(PEOPLE) for query in ("fern", "moss")]
    lines = "".join(f"{person}\t{query}\t2024-03-01 10:00:00\t\t\n" for person, query in rows)
    (tmp_path / "log.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + lines)
    assert aidos("ledger", "open", "log.tsv", "--epsilon", 3, "--delta", 1e-4, "-o", "l.ledger", cwd=tmp_path)[0] == 0
    return tmp_path


def publish(place, *options):
    return aidos("publish", "log.tsv", "--ledger", "l.ledger", "--yes", *options, "-o", "there/out", cwd=place)


def charges(place):
    return json.loads(aidos("ledger", "show", "l.ledger", "--json", cwd=place)[1])["charges"]


def publish_without(package, place):
    """In a process of its own: a package that is not installed cannot be imported, wherever that is tried."""
    hide = f"import sys; sys.modules[{package!r}] = None; from aidos.surfaces.cli import main; main()"
    options = ["publish", "log.tsv", "--ledger", "l.ledger", "--yes", "-o", "out"]
    return subprocess.run(
        [sys.executable, "-c", hide, *options], cwd=place, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_broken_installation_is_told_before_the_charge(place):
    done = publish_without("jinja2", place)
    assert done.returncode == 2, done.stderr
    assert "the package jinja2 is not installed" in done.stderr
    assert charges(place) == []
    assert sorted(os.listdir(place)) == ["l.ledger", "log.tsv", "there"]


def test_a_release_without_the_packages_for_charts_has_a_page_all_the_same(place):
    done = publish_without("vl_convert", place)
    assert done.returncode == 0, done.stderr
    assert (place / "out" / "report.html").is_file()
    assert len(charges(place)) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--mechanism", "pool-release", "--set", "pool=missing.txt"], "missing.txt"),
        (["--mechanism", "pool-release", "--set", "pool=latin.txt"], "latin.txt"),
        (["--mechanism", "pool-release", "--set", "pool=p.txt", "--set", "click_lists=p.txt"], "2 were expected"),
        (["--mechanism", "click-counts", "--results", "missing.tsv"], "missing.tsv"),
    ],
)
def test_lists_that_cannot_be_read_are_told_before_the_charge(place, options, words):
    (place / "latin.txt").write_bytes(b"caf\xe9\n")
    (place / "p.txt").write_text("fern\n")
    code, _, complained = publish(place, *options)
    assert code == 2
    assert words in complained
    assert charges(place) == []


def test_columns_that_a_table_lacks_are_told_before_the_charge(place):
    (place / "t.csv").write_text("who,what\na,b\n")
    opened = aidos(
        "ledger", "open", "t.csv", "--person", "whose", "--epsilon", 1, "--delta", 1e-6, "-o", "t", cwd=place
    )
    assert opened[0] == 0
    options = ["--person", "whose", "--item", "what", "--ledger", "t", "--yes", "-o", "out"]
    code, _, complained = aidos("publish", "t.csv", *options, cwd=place)
    assert code == 2
    assert "whose" in complained
    assert json.loads(aidos("ledger", "show", "t", "--json", cwd=place)[1])["charges"] == []


def test_a_full_disk_is_told_before_the_charge(place, monkeypatch):
    monkeypatch.setattr(directory, "ROOM", 2**62)
    code, _, complained = publish(place)
    assert code == 2
    assert "MB left" in complained
    assert charges(place) == []


def break_writing(monkeypatch, breaks):
    """The disk fails where the condition on the path holds, once a release was made."""
    write = pq.write_table

    def failing(table, where, **more):
        if table.column("user_query").to_pylist() != ["a", "b", "c"] and breaks(Path(where)):
            raise OSError(28, "No space left on device")
        return write(table, where, **more)

    monkeypatch.setattr(pq, "write_table", failing)


def test_a_release_that_cannot_be_written_where_it_should_stands_elsewhere(place, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    break_writing(monkeypatch, lambda path: path.parent.parent.name == "there")
    code, _, complained = publish(place)
    assert code == 2
    (rescued,) = place.glob("out.rescued-*")
    assert str(rescued) in complained
    assert "charged again" in complained
    assert [charge["outcome"] for charge in charges(place)] == ["published"]
    assert aidos("verify", rescued, cwd=place)[0] == 0
    assert list((place / "there").iterdir()) == []


def test_a_release_that_can_be_written_nowhere_is_said_to_be_lost(place, monkeypatch):
    break_writing(monkeypatch, lambda _: True)
    code, _, complained = publish(place)
    assert code == 2
    assert "lost" in complained
    assert [charge["outcome"] for charge in charges(place)] == ["abandoned"]
    assert list((place / "there").iterdir()) == []


def test_a_disk_that_really_fills_up_costs_one_charge_and_leaves_no_half_release(tmp_path):
    """A limit on the size of files in place of a small disk: the rehearsal fits, five long queries do not."""
    rows = [(f"u{person}", f"{query} {'fern ' * 8000}") for person in range(60) for query in range(5)]
    pq.write_table(
        pa.table({"who": [who for who, _ in rows], "what": [what for _, what in rows]}), tmp_path / "t.parquet"
    )
    limits = ["--person", "who", "--epsilon", 9, "--delta", 1e-5, "-o", "t.ledger"]
    assert aidos("ledger", "open", "t.parquet", *limits, cwd=tmp_path)[0] == 0
    options = ["t.parquet", "--person", "who", "--item", "what", "--epsilon", "9"]
    options += ["--ledger", "t.ledger", "--yes", "-o", "out"]
    done = subprocess.run(
        [sys.executable, "-m", "aidos", "publish", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES)),
    )
    assert done.returncode == 2, done.stderr
    assert "lost" in done.stderr
    charged = json.loads(aidos("ledger", "show", "t.ledger", "--json", cwd=tmp_path)[1])["charges"]
    assert [charge["outcome"] for charge in charged] == ["abandoned"]
    assert sorted(os.listdir(tmp_path)) == ["t.ledger", "t.parquet"]


def test_a_table_without_its_columns_quotes_no_row(place):
    (place / "rows.csv").write_text("ann,gout\nbob,gout\n")
    table = ("publish", "rows.csv", "--without-ledger", "-o", "there/out", "--item", "illness", "--person")
    code, _, complained = aidos(*table, "who", cwd=place)
    assert code == 2
    assert "the first line names no column who" in complained
    assert not {"ann", "gout", "--column"} & set(complained.replace(",", " ").split())
    (place / "rows.csv").write_text("who,disease\nann,gout\n")
    assert "it names who, disease" in aidos(*table, "who", cwd=place)[2]
