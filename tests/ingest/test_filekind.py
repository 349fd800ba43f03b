from __future__ import annotations

import gzip
import io
import pickle
import sqlite3
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import check_files
from aidos.ingest.recognise import SIGNS, name_other_file
from aidos.ingest.sources import Source

Write = Callable[[str, bytes], str]
SECRET = "secretword"


def zipped(*names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            archive.writestr(name, SECRET)
    return made.getvalue()


def database() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.sqlite")
        opened = sqlite3.connect(path)
        opened.execute(f"create table {SECRET} (a)")
        opened.commit()
        opened.close()
        return path.read_bytes()


def written(write: Callable[[pa.Table, io.BytesIO], None]) -> bytes:
    made = io.BytesIO()
    write(pa.table({SECRET: [1, 2]}), made)
    return made.getvalue()


def tarred() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("log.tsv"))
    return made.getvalue()


FILES = {
    "an SQLite database": database(),
    "a DuckDB database": b"\x01" * 8 + b"DUCK" + bytes(40),
    "an Excel workbook": zipped("[Content_Types].xml", "xl/workbook.xml"),
    "a spreadsheet (ODS)": b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
    "a Word document": zipped("[Content_Types].xml", "word/document.xml"),
    "a zip archive": zipped("log.csv"),
    "an old Excel or Word file": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
    "a PDF document": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
    "an RTF document": b"{\\rtf1\\ansi secretword}",
    "a web page (HTML)": b"\n<!DOCTYPE HTML>\n<html><title>Log in</title>\n",
    "an image": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "a Python pickle": pickle.dumps({SECRET: [1, 2]}),
    "an ORC file": written(pa.orc.write_table),
    "an Avro file": b"Obj\x01\x04\x14avro.codec\x08null",
    "a Feather (Arrow) file": written(pa.feather.write_feather),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n\0",
    "a NumPy array": b"\x93NUMPY\x01\0v\0{'descr'",
    "an R data file": b"RDX3\nX\n\0\0\0\x03",
    "a data file of Stata or SPSS": b"$FL2@(#) SPSS DATA FILE",
    "compressed with bzip2": b"BZh91AY&SY\x01\x02",
    "compressed with xz": b"\xfd7zXZ\0\0\4",
    "compressed with LZ4": b"\x04\x22\x4d\x18\x64@\xa7",
    "compressed twice": gzip.compress(gzip.compress(b"user,time,query\n")),
    "an archive": b"7z\xbc\xaf'\x1c\0\4",
    "a tar archive": tarred(),
    "a Git LFS pointer": b"version https://lfs.example/v1\noid sha256:4d7a21\nsize 12\n",
    "one JSON array": b'[\n {"user": "secretword", "time": "2024-03-01"}\n]\n',
}


def test_every_sign_has_its_file() -> None:
    assert {sign.what for sign in SIGNS} == set(FILES)


@pytest.mark.parametrize("what", FILES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_file_is_named_for_what_it_is_in_one_line(
    what: str, pack: Callable[[bytes], bytes], engine: EmbeddedEngine, write: Write
) -> None:
    (problem,) = check_files(engine, [write("file", pack(FILES[what]))]).problems
    assert (problem.kind, problem.sentence) == ("other-file", f"is {what}, which aidos does not read")
    assert problem.remedy
    assert SECRET not in f"{problem}{problem.remedy}"


def test_naming_a_format_does_not_change_what_it_is(engine: EmbeddedEngine, write: Write) -> None:
    path = write("log.xlsx", FILES["an Excel workbook"])
    for options in (ReadOptions(format="csv"), ReadOptions(encoding="latin-1"), ReadOptions(format="parquet")):
        assert [found.kind for found in check_files(engine, [path], options).problems] == ["other-file"]


@pytest.mark.parametrize(
    "header",
    [
        b"ORCID,time,query\n",
        b"PK,user,time,query\n",
        b"RDX2,time,query\n",
        b"BZh9,time,query\n",
        b"FEA1\tq\ttime\n",
        b'[{"user": 7}, 2]\n'[1:],
        b"<posts>\n",
        b"Object,time\n",
        b"ARROW1;time;query\n",
    ],
)
def test_text_that_begins_alike_is_text(header: bytes, write: Write) -> None:
    path = Path(write("log", header + b"7,2024-03-01,tent\n"))
    assert name_other_file(Source("log", path, path.stat().st_size)) is None


def test_in_a_release_without_bad_rows_no_cell_makes_the_file_another(engine: EmbeddedEngine, write: Write) -> None:
    """Without a header the first cell may be anybody's, and nobody may have the release refused."""
    path = write("log", b"%PDF-\t970916105432\tsolar stove\nBED75271605EBD0C\t970916001949\ttent\n")
    options = ReadOptions(format="excite", for_release=True, skip_bad_rows=True)
    assert check_files(engine, [path], options).problems == ()


@given(content=st.binary(max_size=400), start=st.sampled_from(sorted(FILES.values())))
def test_no_bytes_are_too_strange(content: bytes, start: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(start[: len(content)] + content)
        file.flush()
        name_other_file(Source("log", Path(file.name), 1))
