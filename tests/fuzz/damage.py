"""Damage to state directories: by accident (bytes, files) and on purpose (values that cannot be, sealed again)."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

EXTREMES = (0, 1, -1, 2, 127, 128, 255, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
STRANGE = (None, True, -1, 0, 2**31, 2**70, 1.5, 1e308, "", "x", "../../x", "\0", [], {}, [[]], {"a": 1})
HUGE = 3 << 30
"""More than a child may hold in memory."""
DEEP = "[" * 100_000


def files_of(place: Path) -> list[Path]:
    """All files of a directory, or the one file."""
    return sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]


def mutate(place: Path, random: random.Random) -> str:
    """Damage one thing; what was done, without content."""
    path = random.choice(files_of(place))
    how = random.choice([*ACCIDENTS, values, values, values])
    how(path, place, random)
    return f"{how.__name__} {path.relative_to(place) if path != place else path.name}"


def flip(path: Path, _: Path, random: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(random.choice((1, 1, 2, 20)) if content else 0):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def overwrite(path: Path, _: Path, random: random.Random) -> None:
    content = bytearray(path.read_bytes())
    begin = random.randrange(len(content) + 1)
    size = min(len(content) - begin, random.choice((1, 4, 8, 64, 4096)))
    content[begin : begin + size] = random.choice((bytes(size), b"\xff" * size, random.randbytes(size)))
    path.write_bytes(content)


def cut(path: Path, _: Path, random: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(len(content) + 1)])


def extend(path: Path, _: Path, random: random.Random) -> None:
    path.write_bytes(path.read_bytes() + random.randbytes(random.choice((1, 8, 4096))))


def empty(path: Path, _: Path, __: random.Random) -> None:
    path.write_bytes(b"")


def remove(path: Path, _: Path, __: random.Random) -> None:
    path.unlink()


def swap(path: Path, place: Path, random: random.Random) -> None:
    others = [file for file in files_of(place) if file != path]
    alike = [file for file in others if file.suffix == path.suffix]
    if others:
        other = random.choice(alike if alike and random.random() < 0.8 else others)
        mine, theirs = path.read_bytes(), other.read_bytes()
        path.write_bytes(theirs)
        other.write_bytes(mine)


def directory(path: Path, _: Path, __: random.Random) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path, _: Path, __: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def huge(path: Path, _: Path, __: random.Random) -> None:
    os.truncate(path, HUGE)  # sparse: it takes no room


def deep(path: Path, _: Path, __: random.Random) -> None:
    path.write_text(DEEP)


ACCIDENTS = (flip, flip, overwrite, overwrite, cut, extend, empty, remove, swap, swap, directory, pipe, huge, deep)


def values(path: Path, place: Path, random: random.Random) -> None:
    """Another value that fits the form of the file, where it has one that is known."""
    change = {
        ".npy": _change_array,
        ".npz": _change_archive,
        ".parquet": _change_parquet,
        ".arrow": _change_arrow,
        ".json": _change_json,
        ".ledger": _change_lines,
        ".sqlite": _change_database,
        ".store": _change_database,
    }.get(path.suffix, _change_text)
    try:
        change(path, random)
    except (ValueError, KeyError, OSError, pa.ArrowException, sqlite3.Error):
        flip(path, place, random)


def reseal(place: Path) -> None:
    """Make all checksums right again, as whoever does it on purpose would."""
    if not place.is_dir():
        return
    for name, hold in (
        ("index.json", _index_entries),
        ("exposure.json", _file_entries),
        ("entries.json", _file_entries),
    ):
        for path in place.rglob(name):
            _reseal(path, hold)
    for path in place.rglob("MANIFEST.json"):
        said = _read_json(path)
        if isinstance(said, dict) and isinstance(said.get("files"), dict):
            for file, about in said["files"].items():
                if isinstance(about, dict) and _is_small(path.parent, file):
                    content = (path.parent / file).read_bytes()
                    about |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            path.write_text(json.dumps(said))


def _reseal(path: Path, entries: Callable[[dict], list[dict]]) -> None:
    from aidos.engine.sealed import StoredFile

    said = _read_json(path) if path.is_file() else None
    if not isinstance(said, dict):
        return
    for entry in entries(said):
        if isinstance(entry, dict) and isinstance(entry.get("file"), str) and _is_small(path.parent, entry["file"]):
            found = StoredFile.of(path.parent, entry["file"], footer=entry.get("footer") is True)
            entry |= {"bytes": found.bytes, "crc32": found.crc32}
    said.pop("checksum", None)
    said["checksum"] = zlib.crc32(json.dumps(said, sort_keys=True).encode())
    path.write_text(json.dumps(said))


def _is_small(place: Path, file: str) -> bool:
    return "\0" not in file and (place / file).is_file() and (place / file).stat().st_size < HUGE


def _index_entries(said: dict) -> list[dict]:
    groups = [said.get("vocabulary"), said.get("collection"), *(said["segments"] if _lists(said, "segments") else [])]
    return [entry for group in groups if isinstance(group, dict) for entry in group.values()]


def _file_entries(said: dict) -> list[dict]:
    return list(said["files"].values()) if isinstance(said.get("files"), dict) else []


def _lists(said: dict, name: str) -> bool:
    return isinstance(said.get(name), list)


def _read_json(path: Path) -> object:
    try:
        return json.loads(path.read_text()) if path.is_file() else None  # damage may have made it a pipe
    except (ValueError, RecursionError, OSError):
        return None


def _changed(array: np.ndarray, random: random.Random) -> np.ndarray:
    array = np.array(array)
    how = random.randrange(8)
    if how == 0:
        return array[: random.randrange(len(array) + 1)] if array.ndim else array
    if how == 1:
        return array.astype(random.choice(("int32", "int64", "float64", ">i4", ">i8", "uint8", "bool", "int16")))
    if how == 2:
        return random.choice((array.reshape(1, -1), array[::-1], np.append(array, array), array.ravel()[:1].sum()))
    flat = array.reshape(-1)
    for _ in range(random.choice((1, 1, 3, 50)) if flat.size else 0):
        at = random.randrange(flat.size)
        if array.dtype.kind == "f":
            flat[at] = random.choice((np.nan, np.inf, -np.inf, -1.0, 1e300, 0.0))
        elif array.dtype.kind == "b":
            flat[at] = not flat[at]
        else:
            near = int(flat[at]) + random.choice((-1, 1, 2))
            limits = np.iinfo(array.dtype)
            flat[at] = min(max(random.choice((*EXTREMES, near, near)), limits.min), limits.max)
    return array


def _change_array(path: Path, random: random.Random) -> None:
    np.save(path, _changed(np.load(path), random))


def _change_archive(path: Path, random: random.Random) -> None:
    with np.load(path) as held:
        arrays = dict(held)
    name = random.choice(sorted(arrays))
    arrays[name] = _changed(arrays[name], random)
    if random.random() < 0.1:
        del arrays[name]
    np.savez_compressed(path, **arrays)


def _changed_table(table: pa.Table, random: random.Random) -> pa.Table:
    at = random.randrange(table.num_columns)
    if random.random() < 0.2:
        return random.choice((table.slice(1), table.remove_column(at), pa.concat_tables([table, table])))
    column, kind = table.column(at).to_pylist(), table.schema.field(at).type
    for _ in range(random.choice((1, 1, 20)) if column else 0):
        place = random.randrange(len(column))
        column[place] = _changed_cell(column[place], random)
    changed = pa.array(column, type=kind)
    return table.set_column(at, pa.field(table.schema.field(at).name, kind), changed)


def _changed_cell(value: object, random: random.Random) -> object:
    match value:
        case bool():
            return not value
        case int():
            return random.choice((value + 1, value - 1, -1, 0, 127, 2**31 - 1, 255, 2**60))
        case float():
            return random.choice((float("nan"), float("inf"), -1.0))
        case list() if value:
            return random.choice(([_changed_cell(each, random) for each in value], value[:-1], value * 2))
        case str():
            return random.choice(("", "x" * 1000, value[::-1], "\u202e\x1b[2J"))
        case _:
            return None


def _change_parquet(path: Path, random: random.Random) -> None:
    changed = _changed_table(pq.ParquetFile(path).read(), random)
    pq.write_table(changed, path, write_page_checksum=True)


def _change_arrow(path: Path, random: random.Random) -> None:
    with pa.OSFile(str(path)) as source:
        table = _changed_table(pa.ipc.open_file(source).read_all(), random)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _replace_leaf(value: object, random: random.Random) -> object:
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(sorted(value))
        if random.random() < 0.1:
            return {key: each for key, each in value.items() if key != name}
        return {**value, name: _replace_leaf(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        at = random.randrange(len(value))
        return [*value[:at], _replace_leaf(value[at], random), *value[at + 1 :]]
    return random.choice(STRANGE)


def _change_json(path: Path, random: random.Random) -> None:
    path.write_text(json.dumps(_replace_leaf(json.loads(path.read_text()), random)))


def _change_lines(path: Path, random: random.Random) -> None:
    lines = path.read_text().splitlines()
    at = random.randrange(len(lines))
    lines[at] = json.dumps(_replace_leaf(json.loads(lines[at]), random))
    path.write_text("\n".join(lines) + "\n")


def _change_text(path: Path, random: random.Random) -> None:
    lines = path.read_text(errors="replace").splitlines()
    if lines:
        at = random.randrange(len(lines))
        lines[at] = random.choice(("", lines[at] * 2, lines[at][::-1], "\t".join("x" * 9), "\x1b[2J", "9" * 5000))
    path.write_text("\n".join(lines))


def _change_database(path: Path, random: random.Random) -> None:
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")]
        table = random.choice(sorted(tables))
        columns = [row[1] for row in connection.execute(f"pragma table_info({table})")]
        rows = connection.execute(f"select * from {table}").fetchall()
        if not rows:
            return
        row, at = random.choice(rows), random.randrange(len(columns))
        match row[at]:
            case bytes() as blob:
                new = random.choice(
                    (blob[:-1], b"", bytes(len(blob)), random.randbytes(len(blob)), _repacked(blob, random))
                )
            case str() as text:
                new = random.choice(("", "x", DEEP, text[:-1], "9" * 5000, json.dumps(random.choice(STRANGE))))
            case _:
                new = random.choice((-1, 0, 2**62, None, "x", 1e308, b"x", float("inf")))
        where = " and ".join(f"{name} is ?" for name in columns)
        connection.execute(f"update {table} set {columns[at]} = ? where {where}", (new, *row))
        connection.commit()


def _repacked(blob: bytes, random: random.Random) -> bytes:
    """Other numbers under a right checksum."""
    try:
        content = bytearray(zlib.decompress(blob))
    except zlib.error:
        content = bytearray(blob)
    for _ in range(4 if content else 0):
        content[random.randrange(len(content))] = random.randrange(256)
    return zlib.compress(bytes(content))


def copy(place: Path, to: Path) -> Path:
    """The state once more, to be damaged."""
    if place.is_dir():
        shutil.copytree(place, to)
    else:
        shutil.copy(place, to)
    return to
