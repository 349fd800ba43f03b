"""Exposure directories that are damaged, by accident or on purpose: always an error in words, never a crash."""

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_posts import as_table, compute_posts, made_post

from aidos.engine.sealed import StoredFile
from aidos.errors import InputError
from aidos.rooms.exposure.queries.layout import ABOUT
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore

POSTS = [made_post(f"p{at}", f"a b w{at % 5} x{at % 3}", f"m{at % 4}") for at in range(12)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Computed, and changed since."""
    path = tmp_path_factory.mktemp("damage") / "exposure"
    compute_posts(POSTS, SearchExposure(k=3), path)
    store = ExposureStore.open(path)
    store.add(as_table([made_post("q0", "a new w1", "m1"), made_post("q1", "b newer", "late")]))
    store.delete(["p3"])
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "exposure")
    return tmp_path / "exposure"


def use(path: Path) -> list[object]:
    """Ask and change everything; what came of it."""
    store, found = ExposureStore.open(path), []
    for member in range(store.state.members):
        rows = store.member(member)
        found += [rows.first.tolist(), rows.second.tolist(), store.posts(rows.posts).to_pylist()]
    for query in ("a", "a b", "new w1", "x1 w2"):
        answer = store.answer(query)
        found += [answer.posts.tolist(), answer.scores.tolist()]
    found.append(store.author(range(store.state.members)))
    found.append(len(store.draft("a b new", when=datetime(2024, 5, 1))))  # noqa: DTZ001
    found.append(store.add(as_table([made_post("r0", "a b w3 fresh", "m2")])))
    return found


def test_any_damage_to_any_file_is_told(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "whole")
    expected = use(tmp_path / "whole")
    for file in sorted(each for each in whole.rglob("*") if each.is_file()):
        content = file.read_bytes()
        flipped = bytearray(content)
        flipped[len(content) // 2] ^= 0x10
        for number, damaged in enumerate((content[:-1], bytes(flipped), b"", None)):
            place = tmp_path / f"{number}"
            shutil.copytree(whole, place)
            copy = place / file.relative_to(whole)
            copy.unlink()
            if damaged is not None:
                copy.write_bytes(damaged)
            try:
                # A page that nobody asks for is not compared: then nothing may have come of it.
                assert use(place) == expected
                assert damaged == bytes(flipped) if file.suffix == ".parquet" else file.suffix == ".json"
            except InputError:
                assert damaged != content
            shutil.rmtree(place)


def reseal(path: Path, name: str) -> None:
    facts = ABOUT.read(path)
    entry = facts["files"][name]
    facts["files"][name] = StoredFile.of(path, name, footer=entry["footer"])
    ABOUT.write(path, facts)


def put(place: Any, value: int) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array[place] = value
        return array

    return change


ARRAYS = {
    "statistics/precedence": [put(0, 1 << 40), put(0, -1), put(1, 0), lambda a: a[:-1]],
    "statistics/members": [put(0, 4), put(0, -1), lambda a: a.astype(np.int64)],
    "statistics/first_posts": [put(1, 1 << 40), put(1, -1), lambda a: a[:0]],
    "statistics/word_numbers": [put(0, 1 << 30), put(0, 1), lambda a: a[::-1][:-1]],
    "statistics/terms": [put(0, -1), lambda a: a.astype(">i4"), lambda a: a.reshape(1, -1)],
    "statistics/term_counts": [put(0, -1), lambda a: a[1:]],
    "singles/one_posts": [put((0, 0), 12), put((0, 0), -2), lambda a: a.ravel(), lambda a: a[:, :-1]],
    "singles/two_posts": [put((1, 0), 1 << 30), np.asfortranarray],
    "singles/two_scores": [put((0, 0), np.nan), lambda a: a[:-1]],
}


@pytest.mark.parametrize(("name", "change"), [(name, each) for name, all_ in ARRAYS.items() for each in all_])
def test_arrays_that_lead_nowhere_are_refused_with_right_checksums(path: Path, name: str, change: Any) -> None:
    np.save(path / f"{name}.npy", change(np.load(path / f"{name}.npy")))
    reseal(path, f"{name}.npy")
    with pytest.raises(InputError, match="is damaged"):
        use(path)


def cell(column: str, value: object) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        at, values = table.column_names.index(column), table.column(column).to_pylist()
        values[0] = value
        return table.set_column(at, table.schema.field(at), pa.array(values, type=table.schema.field(at).type))

    return change


def late(posts: pa.Table) -> pa.Table:
    """Times that no calendar knows."""
    field, at = posts.schema.field("timestamp"), posts.column_names.index("timestamp")
    return posts.set_column(at, field, pa.array([1 << 62] * len(posts), pa.int64()).cast(field.type))


TABLES = {
    "members": [cell("partition", 7), cell("first_row", -1), cell("exposures", 1 << 40), lambda t: t.slice(1)],
    "words": [cell("chunk", 9), cell("first_row", 1 << 40), cell("queries", -1), lambda t: t.drop_columns(["word"])],
    "posts": [cell("member", 99), late, lambda t: pa.concat_tables([t, t])],
    "queries/00000": [cell("posts", [1 << 20]), cell("second", -2), cell("certain", 9), cell("documents", -1)],
    "exposures/00000": [cell("post", -1), cell("first", 99), cell("member", 99), cell("rank", 0)],
}


@pytest.mark.parametrize(("name", "change"), [(name, each) for name, all_ in TABLES.items() for each in all_])
def test_tables_that_lead_nowhere_are_refused_with_right_checksums(path: Path, name: str, change: Any) -> None:
    file = path / f"{name}.parquet"
    pq.write_table(change(pq.ParquetFile(file).read()), file, write_page_checksum=True)
    reseal(path, f"{name}.parquet")
    with pytest.raises(InputError, match="is damaged"):
        use(path)


CHANGES = {
    "added": [
        cell("member", 99),
        cell("terms", [99]),
        cell("length", 1 << 20),
        cell("gap", -1),
        cell("timestamp", 1 << 62),
    ],
    "deleted": [cell("number", 12), cell("number", -1)],
    "singles": [cell("one_posts", [99] * 4), cell("two_posts", [0] * 3), cell("word", 99)],
    "queries": [cell("posts", [99]), cell("first", 99), lambda t: pa.concat_tables([t, t])],
    "exposures": [cell("post", 99), cell("member", 50)],
    "counts": [cell("tokens", -1), lambda t: t.slice(1)],
    "words": [lambda t: t.slice(1), lambda t: t.rename_columns(["word"])],
}


@pytest.mark.parametrize(("name", "change"), [(name, each) for name, all_ in CHANGES.items() for each in all_])
def test_changes_that_lead_nowhere_are_refused_with_right_checksums(path: Path, name: str, change: Any) -> None:
    (file,) = path.glob(f"changes/*/{name}.arrow")
    with pa.OSFile(str(file)) as source:
        changed = change(pa.ipc.open_file(source).read_all())
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, changed.schema) as writer:
        writer.write_table(changed.combine_chunks())
    reseal(path, file.relative_to(path).as_posix())
    with pytest.raises(InputError, match="is damaged"):
        use(path)


def test_an_index_of_other_posts_is_refused(path: Path, tmp_path: Path) -> None:
    compute_posts([*POSTS, made_post("z", "z", "z")], SearchExposure(k=3), tmp_path / "other")
    shutil.rmtree(path / "index")
    shutil.copytree(tmp_path / "other" / "index", path / "index")
    with pytest.raises(InputError, match="do not belong together"):
        use(path)
