"""Files of rankings as a stream: which format each file is in, then one ranking after the other.

No more than one ranking (or one batch of a Parquet file) is in memory, however large the files are. An error may
therefore come after many good rankings: whatever is made of them should be kept only when the stream has ended well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from aidos.errors import ParameterError, Problem
from aidos.ingest.problems import RANKINGS, Complaints, refuse
from aidos.ingest.rankings.columnar import read_columnar
from aidos.ingest.rankings.columns import check_given, find_columns
from aidos.ingest.rankings.rows import Door, Origin, RankingRows, RawRanking
from aidos.ingest.rankings.text import read_delimited, read_json, read_run
from aidos.ingest.recognise import name_other_file
from aidos.ingest.rows import looks_like_run
from aidos.ingest.sources import Source, find_sources, first_text

__all__ = ["FORMATS", "read_rankings", "recognise_format"]

FORMATS = ("jsonl", "trec", "parquet", "csv", "tsv")
"""What ``--format`` takes."""
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".run": "trec",
    ".trec": "trec",
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
}
AS_NAMED: Mapping[str, str] = MappingProxyType({})


def read_rankings(  # noqa: PLR0913 (each is an option of the command line)
    paths: Sequence[str],
    *,
    format: str = "",  # noqa: A002 (what --format is called)
    columns: Mapping[str, str] = AS_NAMED,
    system: str = "",
    skip_bad: bool = False,
    problems: list[Problem] | None = None,
) -> Iterator[RankingRows]:
    """The rankings of files or patterns, in the order of the files, each checked; InputError at the first bad one.

    ``columns`` says what the files call our columns, where their names do not say it. ``system`` keeps the rows of one
    system. With ``skip_bad`` a ranking with something wrong in it is left out whole, and told in ``problems``.
    """
    if not paths:
        raise ParameterError("no file was named")
    if format and format not in FORMATS:
        raise ParameterError(f"rankings have no format called {format}", hint=f"choose from {', '.join(FORMATS)}")
    check_given(columns)
    sources, unreadable = find_sources(paths)
    unreadable += [RANKINGS.tell("empty-file", source.name) for source in sources if not source.size]
    unreadable += [other for source in sources if not source.is_parquet and (other := name_other_file(source))]
    if unreadable:
        raise refuse(*unreadable)
    complaints = Complaints(skip_bad, [] if problems is None else problems)
    return _stream(sources, format, columns, system, complaints)


def recognise_format(source: Source, given: Mapping[str, str] = AS_NAMED) -> str:
    """The format of a file: by its first bytes, by its name, or else by its first line; InputError when unknown."""
    if source.is_parquet:
        return "parquet"
    suffix = "." + source.plain_name.rpartition(".")[2]
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    start = first_text(source)
    line = next((line for line in start.splitlines() if line.strip()), "")
    if not line:
        raise refuse(RANKINGS.tell("empty-file", source.name))
    if line.lstrip().startswith("{"):
        return "jsonl"
    if looks_like_run(line):
        return "trec"
    if find_columns([cell.strip('" ') for cell in line.replace("\t", ",").split(",")], given):
        return "tsv" if "\t" in line else "csv"
    raise refuse(RANKINGS.tell("unknown-format", source.name, formats=", ".join(FORMATS)))


def _stream(
    sources: Sequence[Source], asked: str, columns: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[RankingRows]:
    door = Door(complaints)
    for source in sources:
        passed, told = door.passed, complaints.count
        for raw, origin in _raw_rankings(source, asked, columns, system, complaints):
            ranking = door.admit(raw, origin)
            if ranking is not None:
                yield ranking
        if not system and door.passed == passed and complaints.count == told:
            raise refuse(RANKINGS.tell("header-only", source.name))
    if not door.passed:
        raise refuse(*(complaints.problems or [RANKINGS.tell("absent-system", sources[0].name)]))


def _raw_rankings(
    source: Source, asked: str, columns: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    match asked or recognise_format(source, columns):
        case "jsonl":
            return read_json(source, columns, system, complaints)
        case "trec":
            return read_run(source, system, complaints)
        case "parquet":
            return read_columnar(source, columns, system, complaints)
        case chosen:
            return read_delimited(source, "\t" if chosen == "tsv" else "", columns, system, complaints)
