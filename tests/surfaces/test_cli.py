"""The command line as a person uses it: another process, its exit code, what it says and where."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run
from aidos.surfaces.registry import COMMANDS

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROW = "17\tfern care\t2006-03-01 10:00:00\t\t\n"
SECRET = "xyzzy-secret"


def aidos(*arguments, cwd=None, env=None, **options):
    command = [sys.executable, "-m", "aidos", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300, check=False, **options)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(HEADER + ROW * 3)
    return path


def test_version_and_help_answer():
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", aidos("--version").stdout)
    shown = aidos("--help").stdout
    assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_commands_help_has_examples(command):
    shown = aidos(command, "--help")
    assert shown.returncode == 0
    assert f"    aidos {command}" in shown.stdout.partition("For example:")[2]


def test_check_says_what_it_is_and_exits_with_0(log):
    done = aidos("check", log)
    assert done.returncode == 0
    for words in ("AOL", "AnonID", "user_query", "no problems found", "2006-03-01"):
        assert words in done.stdout
    assert done.stderr == ""


def test_check_tells_all_problems_at_once_without_a_cell_and_exits_with_2(log):
    log.write_text("\ufeff" + HEADER + ROW + f"{SECRET}\n" + f"17\tq\t{SECRET}\t\t\n" + ROW)
    done = aidos("check", log)
    assert done.returncode == 2
    for words in ("--accept byte-order-mark", "--skip-bad-rows", "line 3", "line 4"):
        assert words in done.stdout
    assert SECRET not in done.stdout + done.stderr
    told = json.loads(aidos("check", log, "--json").stdout)
    assert {problem["kind"] for problem in told["problems"]} == {"byte-order-mark", "ragged-rows", "unreadable-time"}


def test_the_options_that_check_suggests_mend_the_file(log, tmp_path):
    log.write_text("\ufeff" + HEADER + ROW * 8 + "short\n" + ROW)
    told = json.loads(aidos("check", log, "--json").stdout)
    options = " ".join(problem["option"] for problem in told["problems"]).split()
    done = aidos("ingest", log, *options, "-o", tmp_path / "out.parquet")
    assert done.returncode == 0, done.stderr
    assert pq.read_metadata(tmp_path / "out.parquet").num_rows == 9
    assert "skipped 1 row" in done.stderr


def test_ingest_writes_whole_or_nothing(log, tmp_path):
    log.write_text(HEADER + ROW + "17\tq\tyesterday\t\t\n")
    done = aidos("ingest", log, "-o", tmp_path / "out.parquet")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "line 3" in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["log.tsv"]


def test_ingest_normalises_and_makes_sessions_when_asked(log, tmp_path):
    log.write_text(HEADER + ROW + "17\tFERN   Care\t2006-03-01 10:10:00\t\t\n" + "17\tmoss\t2006-03-01 12:00:00\t\t\n")
    out = tmp_path / "out.parquet"
    done = aidos("ingest", log, "--normalise", "all", "--session-gap", "30", "-o", out, "--json")
    assert json.loads(done.stdout)["rows"] == 3
    rows = pq.read_table(out).to_pylist()
    assert [row["user_query"] for row in rows] == ["fern care", "fern care", "moss"]
    assert len({row["session_id"] for row in rows}) == 2


def test_sample_then_check_then_ingest(tmp_path):
    made = aidos("sample", "log", "--size", "tiny", "--seed", "3", "-o", tmp_path / "log.tsv")
    assert made.returncode == 0, made.stderr
    checked = json.loads(aidos("check", tmp_path / "log.tsv", "--json").stdout)
    assert checked["problems"] == []
    read = aidos("ingest", tmp_path / "log.tsv", "-o", tmp_path / "log.parquet", "--json")
    assert json.loads(read.stdout)["rows"] == checked["files"][0]["rows"] > 1000


def test_quiet_is_quiet(tmp_path):
    done = aidos("sample", "posts", "--size", "tiny", "-o", tmp_path / "posts.parquet", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chek"], "check"),
        (["check"], "requires"),
        (["sample", "log", "--size", "gigantic", "-o", "x.parquet"], "tiny, small, medium"),
        (["sample", "weather", "-o", "x.parquet"], "rankings"),
        (["sample", "log", "--size", "tiny", "-o", "x.docx"], "parquet"),
        (["check", "x", "--memory", "lots"], "1GB"),
        (["check", "x", "--threads", "0"], "at least 1"),
        (["check", "nowhere.tsv"], "nowhere.tsv"),
        (["check", "x", "--column", "client_id"], "OURS=THEIRS"),
        (["check", "x", "--earliest", "long ago"], "2006-03-01"),
        (["check", "x", "--accept", "everything"], "byte-order-mark"),
    ],
)
def test_wrong_words_get_one_clear_line_and_exit_2(arguments, words, tmp_path):
    done = aidos(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_bug_says_where_but_not_with_which_data(monkeypatch, capsys):
    def fails(*_arguments):
        raise ValueError(SECRET)

    monkeypatch.setattr("aidos.surfaces.cli._grown", lambda _arguments: fails)
    assert run(["doctor"]) == 4
    told = capsys.readouterr().err
    assert "ValueError" in told
    assert SECRET not in told
    assert run(["doctor", "--debug"]) == 4
    assert SECRET in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(log):
    process = subprocess.Popen(
        [sys.executable, "-m", "aidos", "check", log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert told == ""


def test_interrupted_work_leaves_nothing(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    command = [sys.executable, "-m", "aidos", "sample", "log", "--size", "aol", "-o", tmp_path / "log.parquet"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".log.parquet.*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert [path.name for path in tmp_path.rglob("*")] == ["scratch"]


def test_doctor_lists_packages_and_extras():
    told = json.loads(aidos("doctor", "--json").stdout)
    assert told["core"]["duckdb"]
    assert "report" in told["extras"]
    assert "duckdb" in aidos("doctor").stdout


@pytest.mark.slow
def test_demo_writes_one_page_and_says_where_twice_in_a_row(tmp_path):
    for _ in range(2):
        done = aidos("demo", "--size", "tiny", "-o", tmp_path / "demo")
        assert done.returncode == 0, done.stderr
        path = done.stdout.rstrip().splitlines()[-1]
        assert path == str(tmp_path / "demo" / "index.html")
    page = (tmp_path / "demo" / "index.html").read_text()
    assert "<script" not in page
    # People quote addresses in their posts; nothing may point there.
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?\w+://|url\([^)]*://|@import""", page)
    assert "The sample world" in page
    assert not [name for name in os.listdir(tmp_path / "demo") if name.startswith(".")]


def run_in_a_terminal(*arguments):
    """What a person sees on stderr."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "aidos", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 65536)
        except OSError:  # the other end was closed
            break
    os.close(ours)
    return process.wait(timeout=60), re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode())


@pytest.mark.slow
def test_long_work_shows_a_bar_with_rate_and_time_left_and_short_work_shows_none(tmp_path):
    code, seen = run_in_a_terminal("sample", "log", "--size", "60000", "-o", tmp_path / "log.parquet")
    assert code == 0, seen
    assert "making log" in seen
    assert re.search(r"\d+%.* people/s.* \d:\d\d:\d\d", seen)
    code, seen = run_in_a_terminal("sample", "rankings", "--size", "tiny", "-o", tmp_path / "r.parquet")
    assert code == 0
    assert "making" not in seen
    code, seen = run_in_a_terminal("sample", "log", "--size", "60000", "-o", tmp_path / "log.parquet", "--quiet")
    assert (code, seen) == (0, "")
