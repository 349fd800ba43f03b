"""Interrupted work goes on, and ends as if nothing had happened."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from made_posts import as_table, made_post

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import EngineError, InputError
from aidos.rooms.exposure.queries import gathering, manifest, plan
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.settings import SearchExposure
from oracles.exposure import BrutePost

pytestmark = pytest.mark.slow

SMALL = {"RESULTS": 600, "BUCKET_ROWS": 50}
ROWS = 400

CHILD = """
import os, signal, sys
from pathlib import Path
from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.exposure.queries import gathering, plan
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.settings import SearchExposure

posts, target, moment, number = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
plan.RESULTS, plan.BUCKET_ROWS, gathering.PARTITION_ROWS = {RESULTS}, {BUCKET_ROWS}, {ROWS}
replace, rename, seen = Path.replace, Path.rename, 0


def watched(how):
    def moved(path, to):
        global seen
        seen += str(to).endswith(moment)
        if seen >= number:
            os.kill(os.getpid(), signal.SIGKILL)
        return how(path, to)

    return moved


Path.replace, Path.rename = watched(replace), watched(rename)
with EmbeddedEngine(threads=1) as engine:
    compute(engine.parquet(posts), SearchExposure(), target, threads=2)
"""


def made_posts() -> list[BrutePost]:
    random = np.random.default_rng(8)
    words = [f"w{at}" for at in range(20)]
    return [
        made_post(f"p{at}", " ".join(random.choice(words, random.integers(1, 8))), f"m{random.integers(6)}")
        for at in range(100)
    ]


def go_on(posts: Path, target: Path) -> manifest.Facts:
    with EmbeddedEngine(threads=1) as engine:
        return compute(engine.parquet(posts), SearchExposure(), target, threads=2)


def killed(posts: Path, target: Path, moment: str, number: int) -> subprocess.CompletedProcess[bytes]:
    """Run in another process, which dies when it names a file so for that time."""
    child = [sys.executable, "-c", CHILD.format(**SMALL, ROWS=ROWS), str(posts), str(target), moment, str(number)]
    return subprocess.run(child, check=False, capture_output=True, timeout=120)


def contents(target: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(target)): path for path in target.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items()}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many chunks and files of few posts."""
    for name, value in SMALL.items():
        monkeypatch.setattr(plan, name, value)
    monkeypatch.setattr(gathering, "PARTITION_ROWS", ROWS)


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("posts") / "posts.parquet"
    pq.write_table(as_table(made_posts()), path)
    return path


@pytest.fixture(scope="module")
def whole(posts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Computed without a break."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_small(monkeypatch)
        target = tmp_path_factory.mktemp("whole") / "exposure"
        go_on(posts, target)
    return target


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("/index", 1),
        ("00002.records", 1),
        ("queries/00003.parquet", 1),
        ("exposures/00002.parquet", 1),
        ("exposure.json", 3),
    ],
)
def test_killed_outright_it_goes_on_and_ends_the_same(
    posts: Path, whole: Path, tmp_path: Path, moment: str, number: int
) -> None:
    target = tmp_path / "exposure"
    done = killed(posts, target, moment, number)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with pytest.raises(InputError, match="is unfinished"):
        manifest.read(target)
    facts = go_on(posts, target)
    assert facts.state == "finished"
    assert manifest.read(target) == facts
    assert contents(target) == contents(whole)


def test_work_that_is_done_is_not_done_again(posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "exposure"
    done: list[int] = []
    real = gathering.Gathering.write

    def stopping(self: gathering.Gathering, number: int, sheet: gathering.Sheet) -> int:
        done.append(number)
        if len(done) == 4:
            raise KeyboardInterrupt
        return real(self, number, sheet)

    monkeypatch.setattr(gathering.Gathering, "write", stopping)
    with EmbeddedEngine(threads=1) as engine, pytest.raises(KeyboardInterrupt):
        compute(engine.parquet(posts), SearchExposure(), target, threads=1)
    before = {path: path.stat().st_mtime_ns for path in target.glob("queries/*")}
    go_on(posts, target)
    # The one that was interrupted came twice, the others once.
    assert sorted(done) == sorted([*set(done), done[3]])
    assert set(done) == set(range(len(list(target.glob("exposures/*")))))
    assert {path: path.stat().st_mtime_ns for path in target.glob("queries/*")} == before


def test_a_chunk_that_lost_its_end_is_computed_again(posts: Path, whole: Path, tmp_path: Path) -> None:
    target = tmp_path / "exposure"
    assert killed(posts, target, "exposures/00001.parquet", 1).returncode == -signal.SIGKILL
    rows = target / "spill" / "00001.rows"
    rows.write_bytes(rows.read_bytes()[:-8])
    go_on(posts, target)
    assert contents(target) == contents(whole)


@pytest.mark.parametrize("most", [1000, 4000])
def test_a_full_disk_is_said_in_words_and_the_work_goes_on_later(
    posts: Path, whole: Path, tmp_path: Path, most: int
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        with pytest.raises(EngineError, match="disk is full"):
            go_on(posts, tmp_path / "exposure")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    go_on(posts, tmp_path / "exposure")
    assert contents(tmp_path / "exposure") == contents(whole)
