from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.ingest import bytescan
from aidos.ingest.bytescan import BOM, Piece, Scan, pieces, scan
from aidos.ingest.repair import repaired, transcoded
from aidos.ingest.sources import Source

CELLS = st.lists(
    st.sampled_from([b"a", b"b\tc", b"\xc3\xa9", b"\xff", b"\0", b"x" * 40, b"\n", b"\r\n", b"\r", b"\n", b"\n", b" "]),
    max_size=40,
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines and reads are short, so that boundaries fall everywhere."""
    monkeypatch.setattr(bytescan, "READ_SIZE", 7)
    monkeypatch.setattr(bytescan, "LONGEST_LINE", 30)
    monkeypatch.setattr("aidos.ingest.repair.LONGEST_LINE", 30)


def source_of(content: bytes) -> Source:
    with tempfile.NamedTemporaryFile(delete=False) as out:
        out.write(content)
    return Source(out.name, Path(out.name), len(content))


def scanned(content: bytes) -> Scan:
    source = source_of(content)
    try:
        return scan(source)
    finally:
        source.path.unlink()


def expected(content: bytes) -> dict[str, list[int]]:
    """The same found the slow and simple way."""
    found: dict[str, list[int]] = {"byte-order-mark": [1]} if content.startswith(BOM) else {}
    lines = content.splitlines(keepends=True)
    first_end = lines[0][len(lines[0].rstrip(b"\r\n")) :] if lines else b""
    for number, line in enumerate(lines, start=1):
        end = line[len(line.rstrip(b"\r\n")) :]
        if len(line) > 30:
            found.setdefault("line-too-long", []).append(number)
        if b"\0" in line:
            found.setdefault("nul-bytes", []).append(number)
        try:
            line.decode()
        except UnicodeDecodeError:
            found.setdefault("invalid-utf8", []).append(number)
        if end and end != first_end:
            found.setdefault("mixed-line-ends", []).append(number)
    return found


@given(CELLS, st.booleans())
def test_the_quick_pass_finds_what_the_simple_one_finds(cells: list[bytes], mark: bool) -> None:
    content = (BOM if mark else b"") + b"".join(cells)
    result, simple = scanned(content), expected(content)
    if simple.get("line-too-long"):
        assert result.found["line-too-long"].lines == simple["line-too-long"][:5]
        return  # what else a line holds that was too long to be kept is not told
    assert {kind: (tally.count, tally.lines) for kind, tally in result.found.items()} == {
        kind: (len(lines), lines[:5]) for kind, lines in simple.items()
    }
    assert result.lines == len(content.splitlines())
    assert result.is_blank == (not content.removeprefix(BOM).strip())


@given(CELLS)
def test_pieces_are_whole_lines_and_lose_nothing(cells: list[bytes]) -> None:
    content = b"".join(cell for cell in cells if len(cell) < 30)
    found = list(pieces(io.BytesIO(content)))
    kept = [piece for piece in found if not piece.too_long]
    assert all(piece.data.endswith((b"\n", b"\r")) for piece in kept[:-1])
    if all(len(line) <= 30 for line in content.splitlines(keepends=True)):
        assert b"".join(piece.data for piece in kept) == content
    assert sum(piece.lines() for piece in found) == len(content.splitlines())


@given(CELLS, st.booleans())
def test_a_repaired_file_is_clean_and_keeps_its_lines(cells: list[bytes], mark: bool) -> None:
    content = (BOM if mark else b"") + b"".join(cells)
    source = source_of(content)
    target = source.path.with_suffix(".repaired")
    try:
        mended = repaired(source, target)
        assert scan(mended).found == {}
        lines = content.removeprefix(BOM).splitlines()
        mended_lines = target.read_bytes().split(b"\n")
        for number, line in enumerate(lines):
            dropped = line.replace(b"\0", b"")
            if len(line) < 29 and bytescan.is_utf8(line):
                assert mended_lines[number] == dropped
    finally:
        source.path.unlink()
        target.unlink(missing_ok=True)


def test_a_piece_knows_its_lines() -> None:
    assert Piece(b"a\nb\r\nc\rd").lines() == 4
    assert Piece(b"", too_long=True).lines() == 1


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8-sig"])
def test_other_encodings_become_utf8(tmp_path: Path, encoding: str) -> None:
    source = source_of("fünf\tcafé\nx\n".encode(encoding))
    mended, problems = transcoded(source, encoding, tmp_path / "out")
    assert problems == []
    assert mended.path.read_text(encoding="utf-8") == "fünf\tcafé\nx\n"


def test_text_that_is_not_in_the_encoding_it_is_said_to_be_in(tmp_path: Path) -> None:
    _, problems = transcoded(source_of(b"a\nb\nc\x81\n"), "cp1252", tmp_path / "out")
    assert [(problem.kind, problem.lines, problem.option) for problem in problems] == [
        ("invalid-utf8", (3,), "--encoding latin-1")
    ]


@given(st.binary(max_size=30))
def test_utf8_is_what_python_can_decode(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        assert not bytescan.is_utf8(data)
    else:
        assert bytescan.is_utf8(data)


@pytest.mark.parametrize("data", [b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"])
def test_surrogates_overlong_forms_and_halves_are_not_utf8(data: bytes) -> None:
    assert not bytescan.is_utf8(b"x" + data)
