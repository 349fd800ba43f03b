from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.ingest import bytescan
from aidos.ingest.bytescan import BOM, Piece, Scan, line_troubles, pieces, scan
from aidos.ingest.repair import repaired, transcoded
from aidos.ingest.sources import Source, find_sources

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
    for number, line in enumerate(lines_of(content), start=1):
        if len(line) > 30:
            found.setdefault("line-too-long", []).append(number)
        if b"\0" in line:
            found.setdefault("nul-bytes", []).append(number)
        try:
            line.decode()
        except UnicodeDecodeError:
            found.setdefault("invalid-utf8", []).append(number)
        if b"\r" in line.removesuffix(b"\r"):
            found.setdefault("mixed-line-ends", []).append(number)
    return found


def lines_of(content: bytes) -> list[bytes]:
    return content.removesuffix(b"\n").split(b"\n") if content else []


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
    assert result.lines == len(lines_of(content))
    assert result.blank == sum(line in {b"", b"\r"} for line in lines_of(content))
    assert result.is_blank == (not content.removeprefix(BOM).strip())


@given(CELLS, st.booleans())
def test_pieces_are_whole_lines_and_lose_nothing(cells: list[bytes], any_end: bool) -> None:
    content = b"".join(cell for cell in cells if len(cell) < 30)
    found = list(pieces(io.BytesIO(content), any_end=any_end))
    kept = [piece for piece in found if not piece.too_long]
    if any_end:
        content = b"\n".join(content.replace(b"\r\n", b"\n").split(b"\r"))
    assert all(piece.data.endswith(b"\n") for piece in kept[:-1])
    if all(len(line) < 30 for line in lines_of(content)):
        assert b"".join(piece.data for piece in kept) == content
    assert sum(piece.lines() for piece in found) == len(lines_of(content))


@given(CELLS, st.booleans(), st.booleans())
def test_a_repaired_file_is_clean_and_keeps_its_lines(cells: list[bytes], mark: bool, drop_nuls: bool) -> None:
    content = (BOM if mark else b"") + b"".join(cells)
    source = source_of(content)
    target = source.path.with_suffix(".repaired")
    try:
        mended = repaired(source, target, drop_nuls=drop_nuls)
        assert scan(mended.source).found == {}
        mended_lines = target.read_bytes().split(b"\n")
        for number, line in enumerate(lines_of(content.removeprefix(BOM))):
            troubles = set(line_troubles(line)) - ({"nul-bytes"} if drop_nuls else set())
            if len(line) < 29:
                assert mended_lines[number] == (b"" if troubles else line.replace(b"\0", b"").removesuffix(b"\r"))
        assert mended.blank == sum(not line for line in lines_of(target.read_bytes()))
    finally:
        source.path.unlink()
        target.unlink(missing_ok=True)


def test_a_piece_knows_its_lines() -> None:
    assert Piece(b"a\nb\r\nc\rstill c").lines() == 3
    assert Piece(b"", too_long=True).lines() == 1


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8-sig"])
def test_other_encodings_become_utf8(tmp_path: Path, encoding: str) -> None:
    source = source_of("fünf\tcafé\nx\n".encode(encoding))
    mended, problems = transcoded(source, encoding, tmp_path / "out")
    assert problems == []
    assert mended.path.read_text(encoding="utf-8") == "fünf\tcafé\nx\n"


def test_text_that_is_not_in_the_encoding_it_is_said_to_be_in(tmp_path: Path) -> None:
    mended, problems = transcoded(source_of(b"a\nb\nc\x81\nd\n"), "cp1252", tmp_path / "out")
    assert problems == []
    found = scan(mended, encoding="cp1252").problems
    assert [(problem.kind, problem.lines, problem.option) for problem in found] == [
        ("invalid-utf8", (3,), "--encoding latin-1")
    ]


@given(st.sampled_from(["shift_jis", "gbk", "big5", "euc-jp", "gb18030", "cp1252", "koi8-r"]), st.binary(max_size=12))
def test_no_line_of_another_encoding_changes_the_next(encoding: str, typed: bytes) -> None:
    source = source_of(b"before\n" + typed.replace(b"\n", b"") + b"\nafter\n")
    target = source.path.with_suffix(".utf8")
    try:
        transcoded(source, encoding, target)
        before, _, *after = target.read_bytes().split(b"\n")
        assert (before, after) == (b"before", [b"after", b""])
    finally:
        source.path.unlink()
        target.unlink(missing_ok=True)


@pytest.mark.parametrize("unit", [b"\x00\xd8", b"\x00\xdc", b"\xff\xff", b"\x0d\x00"])
def test_half_a_pair_in_utf_16_costs_its_own_line_at_most(tmp_path: Path, unit: bytes) -> None:
    source = source_of("before\nx".encode("utf-16-le") + unit + "\nafter\n".encode("utf-16-le"))
    transcoded(source, "utf-16-le", tmp_path / "out")
    before, _, *after = (tmp_path / "out").read_bytes().split(b"\n")
    assert (before, after) == (b"before", [b"after", b""])


@pytest.mark.parametrize("encoding", ["utf-7", "iso2022_jp", "hz", "unicode_escape", "cp037", "idna"])
def test_encodings_with_a_state_are_refused(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(ParameterError, match="line by line"):
        transcoded(source_of(b"a\n"), encoding, tmp_path / "out")


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


@pytest.mark.parametrize(
    ("data", "plain"),
    [
        (b"a\tb c\r\nd\n", True),
        (b"a\x0bb\n", False),
        (b"a\x1fb\n", False),
        (b"a\x7fb\n", False),
        ("\u00e4\n".encode(), False),
        (b"a\0b\n", False),
    ],
)
def test_plain_is_visible_ascii_blanks_tabs_and_line_ends(tmp_path: Path, data: bytes, plain: bool) -> None:
    path = tmp_path / "log.tsv"
    path.write_bytes(data)
    assert scan(find_sources([str(path)])[0][0]).is_plain is plain
