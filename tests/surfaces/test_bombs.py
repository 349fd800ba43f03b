"""Bombs, made here and read by real commands in a process of their own: refused, quickly and in little memory."""

import gzip
import subprocess
import sys

import pytest
import zstandard

MOST = 400_000
"""Kilobytes above what the command takes for a small file."""
CHILD = """
import resource, sys
from aidos.surfaces.cli import run
code = run(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def in_one_frame(data, times):
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    return b"".join(packer.compress(data) for _ in range(times)) + packer.flush()


def run_apart(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=True
    )
    code, peak = done.stdout.splitlines()[-1].split()
    return int(code), int(peak), done.stdout + done.stderr


ZEROS = b"\0" * (1 << 24)
LINES = (b"7\t" + b"word " * 200 + b"\t2006-03-01 00:00:00\t\t\n") * 16_000
PATHS = b"A > B\n" + (b" " * (1 << 20) + b"\n") * 16
LISTS = b"[" + b"[]," * (5 << 20)


@pytest.mark.parametrize(
    ("command", "name", "make"),
    [
        ("check", "log.tsv.zst", lambda: in_one_frame(ZEROS, 256)),
        ("check", "log.tsv.zst", lambda: in_one_frame(LINES, 64)),
        ("check", "log.tsv.gz", lambda: gzip.compress(ZEROS) * 256),
        ("fair measure", "served.jsonl.zst", lambda: in_one_frame(ZEROS, 64)),
        ("audit check", "pairs.json.gz", lambda: gzip.compress(LISTS)),
        ("taxonomy import -o kept.taxonomy", "topics.txt.gz", lambda: gzip.compress(PATHS) * 64),
        ("taxonomy import -o kept.taxonomy", "topics.txt.zst", lambda: in_one_frame(PATHS, 64)),
        ("taxonomy import -o kept.taxonomy", "topics.json.gz", lambda: gzip.compress(b'{"verticals": ' + LISTS)),
    ],
    ids=["zeros", "lines", "gzip", "rankings", "lists", "taxonomy", "taxonomy zstd", "taxonomy json"],
)
def test_a_bomb_is_refused_in_little_memory(tmp_path, command, name, make):
    bomb, small = tmp_path / name, tmp_path / f"small{name[name.index('.') :]}"
    bomb.write_bytes(make())
    small.write_bytes(bomb.read_bytes()[:100])
    words = [str(tmp_path / word) if word.endswith(".taxonomy") else word for word in command.split()]
    _, usual, _ = run_apart(*words, small)
    code, peak, said = run_apart(*words, bomb)
    assert code == 2, said
    assert "bug" not in said
    assert peak - usual < MOST


def test_the_limits_are_in_the_guide():
    from pathlib import Path

    from aidos.core import jsontext, taxonomy
    from aidos.engine import inputs, unpacking
    from aidos.ingest.bytescan import LONGEST_LINE
    from aidos.ingest.sources import LONGEST
    from aidos.service.access import Access

    guide = (Path(__file__).parents[2] / "docs/guides/limits.md").read_text()
    told = [
        f"beyond {unpacking.SUSPECT >> 20} MB that are more than {unpacking.DENSEST} times",
        f"| a line of a log | {LONGEST_LINE >> 20} MB |",
        f"word vectors | {LONGEST >> 20} MB |",
        f"models) | {inputs.LARGEST >> 20} MB;",
        f"| {taxonomy.DEEPEST} levels below the root |",
        f"| {jsontext.DEEPEST} levels; JSON also {jsontext.MOST_DIGITS} digits in a whole number",
        f"and {jsontext.MOST_PARTS // 1_000_000} million objects and lists |",
        f"| {Access(address='http://localhost').longest_answer // 1_000_000} MB after unpacking",
    ]
    assert [words for words in told if words not in guide] == []
