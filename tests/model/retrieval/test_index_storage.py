import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from dataclasses import asdict

import numpy as np
import pytest

from aidos.engine.sealed import StoredFile
from aidos.errors import EngineError, InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.storage import ABOUT, MANIFEST
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
            if name == MANIFEST and damaged.strip() == content.strip():
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
    facts = ABOUT.read(saved)
    entry = facts["vocabulary"]["bytes"]
    (tmp_path / "outside.npy").write_bytes((saved / entry["file"]).read_bytes())
    entry["file"] = "../outside.npy"
    ABOUT.write(saved, facts)
    with pytest.raises(InputError):
        Index.open(saved)


def resealed(saved, name, change):
    """Change an array, and seal the directory as if it had been written so."""
    facts = ABOUT.read(saved)
    held = [facts["vocabulary"], facts["collection"], *facts["segments"]]
    entries = next(arrays for arrays in held if name in arrays)
    path = saved / entries[name]["file"]
    changed = change(np.load(path))
    np.save(path, changed)
    entries[name] = asdict(StoredFile.of(saved, path.name))
    ABOUT.write(saved, facts)


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


HOSTILE = {
    "starts": [put(1, 1 << 40), put(1, -1), put(0, 1), put(-1, 0), lambda a: a.astype(np.int32), lambda a: a[:0]],
    "documents": [put(0, 20), put(0, -1), lambda a: a[:-1], lambda a: a.astype(">i4"), lambda a: a.astype(float)],
    "frequencies": [put(0, 0), put(0, -5), lambda a: a.reshape(2, -1)],
    "lengths": [put(3, -1), put(3, (1 << 31) - 1), put(3, 7), lambda a: np.append(a, a)],
    "deleted": [lambda a: a[:5], lambda a: a.view(np.uint8), put(2, True)],
    "forward_starts": [put(3, 1 << 62), put(3, -(1 << 62)), lambda a: a[:-1], lambda a: a[::-1]],
    "forward_terms": [put(0, 21), put(0, -1), lambda a: a[:-1]],
    "forward_frequencies": [put(0, -1), lambda a: a.astype(np.int64)],
    "names_offsets": [put(1, 1 << 50), lambda a: a[:-1]],
    "names_bytes": [put(0, 0xFF), lambda a: a[:-1]],
    "names_table": [lambda a: np.full_like(a, 1), lambda a: a[:-1], lambda a: a | np.uint64(77)],
    "offsets": [put(1, -1), put(-1, 0)],
    "table": [np.zeros_like, lambda a: a + np.uint64(1), lambda a: a[:1]],
    "bytes": [put(4, 0x80), lambda a: np.zeros(0, np.uint8)],
    "term_counts": [put(0, -1), lambda a: a[:-1], lambda a: np.array(5)],
    "document_counts": [put(0, -1), lambda a: a.astype(np.float64)],
}


@pytest.mark.parametrize(("name", "change"), [(name, change) for name, all_ in HOSTILE.items() for change in all_])
def test_arrays_that_compiled_code_must_not_read_are_refused_with_right_checksums(saved, name, change):
    resealed(saved, name, change)
    with pytest.raises(InputError, match="is damaged"):
        Index.open(saved)


def test_postings_and_rows_that_differ_are_told_where_they_are_merged(saved):
    resealed(saved, "documents", put(slice(None), 19))
    index = Index.open(saved)
    with pytest.raises(InputError, match="postings and its documents differ"):
        index.delete([f"d{number}" for number in range(15)])


@pytest.mark.parametrize("change", [{"generation": "x"}, {"segments": 3}, {"analyser": "letters"}, {"tokens": 1 << 70}])
def test_a_sealed_manifest_of_nonsense_is_damage(saved, change):
    ABOUT.write(saved, {**ABOUT.read(saved), **change})
    with pytest.raises(InputError, match="is damaged"):
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
