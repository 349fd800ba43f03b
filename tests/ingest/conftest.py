from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aidos.engine.embedded import EmbeddedEngine

AOL_HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    (tmp_path / "scratch").mkdir()
    with EmbeddedEngine(memory="500MB", threads=2, scratch=tmp_path / "scratch") as opened:
        yield opened


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], str]:
    def write_file(name: str, content: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write_file


@pytest.fixture
def aol_rows() -> Callable[..., list[bytes]]:
    """Good rows of an AOL log, in order, with words in them that no message may repeat."""

    def rows(count: int) -> list[bytes]:
        return [b"%d\tsecretword%d\t2006-03-%02d 10:00:00\t\t\n" % (7, i, 1 + i % 28) for i in range(min(count, 28))]

    return rows
