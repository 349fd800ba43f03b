import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from aidos.errors import EngineError, InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.storage import MANIFEST
from aidos.model.text.analyser import Analyser

TEXTS = [(f"d{number}", f"word{number} common") for number in range(20)]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "index"
    Index.build(TEXTS, analyser=Analyser(stop_words="english"), path=path)
    return path


def files(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_an_index_opens_as_it_was_saved_and_is_mapped(saved):
    index = Index.open(saved)
    assert index.analyser == Analyser(stop_words="english")
    assert len(index) == 20
    mapped = index.segments[0].documents
    while isinstance(mapped, np.ndarray) and not isinstance(mapped, np.memmap):
        mapped = mapped.base
    assert isinstance(mapped, np.memmap)


def test_only_the_owner_may_read_it(saved):
    assert stat.S_IMODE(saved.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in saved.iterdir()} == {0o600}


def test_saving_twice_elsewhere_gives_the_same_files(saved, tmp_path):
    index = Index.open(saved)
    index.save(tmp_path / "one")
    index.save(tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_saving_at_home_writes_what_changed_and_tidies_up(saved):
    index = Index.open(saved)
    before = set(files(saved))
    index.delete(["d3"])
    index.save(saved)
    after = set(files(saved))
    kept = [name for name in before if name in after]
    assert any("documents" in name for name in kept)
    assert sum("deleted" in name for name in after) == 1
    named = json.loads((saved / MANIFEST).read_text())
    entries = [named["vocabulary"], named["collection"], *named["segments"]]
    assert {entry["file"] for arrays in entries for entry in arrays.values()} | {MANIFEST} == after
    assert len(Index.open(saved)) == 19


def test_a_reader_keeps_what_it_opened(saved):
    reader, writer = Index.open(saved), Index.open(saved)
    writer.delete([f"d{number}" for number in range(15)])
    writer.save(saved)
    assert len(reader) == 20
    assert reader.document("d3")[1].tolist() == [1, 1]
    assert len(Index.open(saved)) == 5


def test_a_writer_that_was_overtaken_is_refused(saved):
    one, two = Index.open(saved), Index.open(saved)
    one.add([("e", "new")])
    one.save(saved)
    two.add([("f", "newer")])
    with pytest.raises(EngineError, match="changed by somebody else"):
        two.save(saved)
    assert Index.open(saved).find("e")
    one.add([("g", "again")])
    one.save(saved)
    assert len(Index.open(saved)) == 22


def test_nothing_is_overwritten(saved, tmp_path):
    with pytest.raises(ParameterError, match="exists already"):
        Index.build(TEXTS, analyser=Analyser(), path=saved)
    other = Index.build([], analyser=Analyser())
    with pytest.raises(ParameterError, match="exists already"):
        other.save(saved)
    with pytest.raises(ParameterError, match="does not exist"):
        other.save(tmp_path / "no" / "where")
    assert len(Index.open(saved)) == 20


def test_a_failed_build_leaves_nothing(tmp_path):
    with pytest.raises(InputError):
        Index.build([*TEXTS, TEXTS[0]], analyser=Analyser(), path=tmp_path / "index", memory=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["missing", "file", "empty", "foreign"])
def test_what_is_no_index_is_told(tmp_path, place):
    path = tmp_path / place
    if place == "file":
        path.write_text("x")
    elif place in {"empty", "foreign"}:
        path.mkdir()
    if place == "foreign":
        (path / MANIFEST).write_text('{"kind": "something else"}')
    with pytest.raises(InputError):
        Index.open(path)


def test_any_damage_to_any_file_is_told(saved):
    for name, content in files(saved).items():
        path = saved / name
        flipped = bytearray(content)
        flipped[len(content) // 2] ^= 0x10
        for damaged in (content[:-1], content + b"x", bytes(flipped), b""):
            path.write_bytes(damaged)
            if name == MANIFEST and damaged in {content + b"\n", content}:
                continue
            with pytest.raises(InputError):
                Index.open(saved)
        path.unlink()
        with pytest.raises(InputError):
            Index.open(saved)
        path.write_bytes(content)
    assert len(Index.open(saved)) == 20


def test_another_format_is_told(saved):
    text = (saved / MANIFEST).read_text()
    (saved / MANIFEST).write_text(text.replace('"format": 1', '"format": 2'))
    with pytest.raises(InputError, match="format 2"):
        Index.open(saved)


def test_a_manifest_that_points_elsewhere_is_refused(saved, tmp_path):
    from aidos.model.retrieval.storage import read_manifest, write_manifest

    facts = read_manifest(saved)
    entry = facts["vocabulary"]["bytes"]
    (tmp_path / "outside.npy").write_bytes((saved / entry["file"]).read_bytes())
    entry["file"] = "../outside.npy"
    write_manifest(saved, {name: fact for name, fact in facts.items() if name not in {"kind", "format"}})
    with pytest.raises(InputError):
        Index.open(saved)


KILLED = """
import sys
from pathlib import Path
from aidos.model.retrieval.index import Index
path = Path(sys.argv[1])
index = Index.open(path)
for number in range(100_000):
    index.add([(f"new{number}", f"fresh{number} common")])
    index.save(path)
    print(number, flush=True)
"""


def test_a_kill_while_saving_leaves_a_whole_index(saved):
    for saves, seconds in ((1, 0.003), (4, 0.01), (7, 0.02), (9, 0.0)):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(saved)], stdout=subprocess.PIPE)
        for _ in range(saves):
            process.stdout.readline()
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        index = Index.open(saved)
        assert len(index) >= 20 + saves
        assert index.collection.document_counts[index.vocabulary.find("common")] == len(index)
        index.delete([f"new{number}" for number in range(len(index) - 20)])
        index.save(saved)
        assert len(Index.open(saved)) == 20


@pytest.mark.parametrize("where", ["home", "elsewhere"])
def test_a_full_disk_is_told_and_the_index_stays_as_it_was(saved, tmp_path, where):
    index = Index.open(saved)
    index.add([(f"e{number}", f"fresh{number} " * 50) for number in range(2000)])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(EngineError, match="the disk is full"):
            index.save(saved if where == "home" else tmp_path / "other")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert not (tmp_path / "other").exists()
    assert len(Index.open(saved)) == 20
    index.save(saved)
    assert len(Index.open(saved)) == 2020
