"""What is fuzzed: every file that aidos reads, each with the commands that read it and seeds to begin with.

In a command ``@name`` is the file that the bytes are written to, ``%name`` something that it writes, and ``$name`` a
file that was made beforehand. Where a target has several commands, the first byte of an input chooses one.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

TESTS = Path(__file__).resolve().parent.parent
for _folder in ("ingest/formats", "ingest/history", "ingest/results", "service", "model/taxonomies"):
    sys.path.insert(0, str(TESTS / _folder))

Call = Callable[[bytes, Path], object]
FORMATS = (
    "aol",
    "excite",
    "csv",
    "ubi",
    "elastic",
    "solr",
    "trec-run",
    "trec-qrels",
    "qlogs",
    "stackexchange",
    "jsonl",
)
READ_ALL = "ingest @log --format {} --skip-bad-rows --normalise all -o %log.parquet"


@dataclass(frozen=True)
class Target:
    """One kind of file: what reads it, and where seeds are taken from."""

    name: str
    commands: tuple[str, ...] = ()
    seeds: Callable[[Path], Iterable[bytes]] = lambda _: ()
    """Gives whole files, from a directory with the parts of a tiny sample world."""
    call: Call | None = None
    """What reads the bytes, where no command does it alone."""

    def seed_inputs(self, given: Path) -> Iterator[bytes]:
        """Every seed, for up to three of the commands in turn: the fuzzer finds the other first bytes by itself."""
        several = len(self.commands)
        for number, content in enumerate(self.seeds(given)):
            chosen = {(number + step) % several for step in range(3)} if several > 1 else ()
            yield from (bytes([choice]) + content for choice in sorted(chosen)) if chosen else [content]

    def chosen(self, data: bytes) -> tuple[str, bytes]:
        """The command that an input asks for, and the content of its file."""
        if len(self.commands) == 1:
            return self.commands[0], data
        return self.commands[data[0] % len(self.commands) if data else 0], data[1:]


def make_given(given: Path) -> None:
    """Write what targets need beside the fuzzed file: a part of the sample world, a profile, a ledger, a release."""
    from aidos.surfaces.cli import run

    given.mkdir(parents=True)
    made = {part: str(given / f"{part}.parquet") for part in ("log", "posts", "rankings", "results")}
    words = [["sample", part, "--size", "40", "-o", path] for part, path in made.items()]
    words.append(["sample", "log", "--size", "40", "-o", str(given / "log.tsv")])
    (given / "notes.txt").write_text("Compost and seeds for the garden.\n\nThe loan is overdue; a bailiff wrote.\n")
    words.append(["shield", "profile", "build", str(given / "notes.txt"), "-o", str(given / "profile.json")])
    ledger = ["--epsilon", "30", "--delta", "1e-3", "-o", str(given / "log.ledger")]
    words.append(["ledger", "open", made["log"], *ledger])
    released = ["--epsilon", "9", "--delta", "1e-4", "--ledger", str(given / "log.ledger"), "--accept-large-delta"]
    words.append(["publish", made["log"], "--items", "queries", *released, "--yes", "-o", str(given / "release")])
    words.append(["risk", "topics", "--export", str(given / "topics.tsv")])
    (given / "paths.txt").write_text("Boats > Oars\nBoats > Sails > Spinnakers\nHealth > Ailments\nKites\n")
    tree = ["taxonomy", "import", str(given / "paths.txt"), "-o"]
    words.extend([*tree, str(given / name)] for name in ("small.taxonomy", "small.tsv"))
    for word in words:
        with contextlib.redirect_stdout(io.StringIO()):
            code = run([*word, "--quiet"])
        if code != 0:
            raise SystemExit(f"fuzz: a seed could not be made: aidos {' '.join(word[:2])}")


def first_lines(path: Path, count: int = 12) -> bytes:
    """The beginning of a text file."""
    with path.open("rb") as file:
        return b"".join(file.readline() for _ in range(count))


def small_parquet(path: Path, rows: int = 12) -> bytes:
    """The first rows of a Parquet file, as a file of its own."""
    sink = io.BytesIO()
    pq.write_table(pq.read_table(path).slice(0, rows), sink)
    return sink.getvalue()


def as_jsonl(path: Path, rows: int = 12) -> bytes:
    """The first rows of a Parquet file as JSON lines."""
    found = pq.read_table(path).slice(0, rows).to_pylist()
    return "".join(json.dumps(row, default=str) + "\n" for row in found).encode()


def as_csv(path: Path, rows: int = 12) -> bytes:
    """The first rows of a Parquet file as CSV."""
    from pyarrow import csv

    sink = io.BytesIO()
    table = pq.read_table(path).slice(0, rows)
    nested = [field.name for field in table.schema if pa.types.is_nested(field.type)]
    csv.write_csv(table.drop_columns(nested), sink)
    return sink.getvalue()


def log_seeds(given: Path) -> Iterator[bytes]:
    """Logs and posts of every format."""
    from format_samples import FILES

    yield from ("\n".join(lines).encode() + b"\n" for _, lines in FILES.values())
    yield first_lines(given / "log.tsv")
    yield as_csv(given / "log.parquet")
    yield as_jsonl(given / "posts.parquet", 4)


def packed_seeds(given: Path) -> Iterator[bytes]:
    """A log in every packing, whole, in two members and in two packings at once."""
    text = first_lines(given / "log.tsv")
    yield gzip.compress(text, mtime=0)
    yield gzip.compress(text, mtime=0) + gzip.compress(text, mtime=0)
    yield zstandard.compress(text)
    yield gzip.compress(zstandard.compress(text), mtime=0)


def table_seeds(part: str) -> Callable[[Path], Iterator[bytes]]:
    """A part of the sample world in the three forms of tables."""

    def seeds(given: Path) -> Iterator[bytes]:
        path = given / f"{part}.parquet"
        yield from (as_csv(path), as_jsonl(path), small_parquet(path))

    return seeds


def text_seeds(given: Path) -> Iterator[bytes]:
    """Somebody's own words, as a text and as a table."""
    yield from ((given / "notes.txt").read_bytes(), as_csv(given / "posts.parquet", 3))


def ranking_seeds(given: Path) -> Iterator[bytes]:
    """Rankings as tables, as a TREC run, and a list a line."""
    yield from table_seeds("rankings")(given)
    yield b"301 Q0 FT911-3 1 12.5 bm25\n301 Q0 FT911-4 2 11.0 bm25\n301 Q0 FT911-5 3 9 bm25\n"
    yield b'{"query_id": "q", "subjects": [{"subject_id": "a", "score": 1.0}, {"subject_id": "b", "score": 0.5}]}\n'


def pair_seeds(given: Path) -> Iterator[bytes]:
    """Saved result lists: pairs, rows, answers, and pages."""
    import saved_lists as saved

    for documents in (saved.pair_lines(), saved.flat_rows(), saved.answers("vanilla"), saved.serps("again")[0]):
        yield "".join(json.dumps(document) + "\n" for document in documents).encode()
    yield json.dumps(saved.answers("vanilla")[0]).encode()
    yield as_csv(given / "results.parquet")


def history_seeds(given: Path) -> Iterator[bytes]:
    """Databases and bookmarks of browsers, and texts."""
    import made_history as made

    pages = [("https://garden.example/a", "Compost and seeds", 3), ("https://news.example/b?q=loan", "Loans", 1)]
    place = given / "browser"
    place.mkdir(exist_ok=True)
    for make, name in ((made.make_firefox, "places.sqlite"), (made.make_chrome, "History")):
        (place / name).unlink(missing_ok=True)
        yield make(place / name, pages).read_bytes()
    yield made.make_chrome_bookmarks(place / "Bookmarks", [page[:2] for page in pages]).read_bytes()
    yield made.firefox_backup([(*page[:2], "garden") for page in pages]).encode()
    yield b'<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT><A HREF="https://garden.example/a">Seeds</A>\n</DL><p>\n'
    yield (given / "notes.txt").read_bytes()


def taxonomy_seeds(given: Path) -> Iterator[bytes]:
    """A tree in every published layout, and in our own, packed and not."""
    import test_taxonomy_formats as layouts

    yield from (text.encode() for text in (layouts.IAB, layouts.SHOPIFY, layouts.CHROME, layouts.DMOZ))
    yield from whole("paths.txt", "small.taxonomy", "small.tsv")(given)


def recipe_seeds(given: Path) -> Iterator[bytes]:
    """The recipe of a release, and recipes of other rooms."""
    manifest = json.loads((given / "release" / "MANIFEST.json").read_text())
    yield str(manifest.get("recipe", "")).encode()
    yield b'mechanism = "profile-generalisation"\n\n[parameters]\nrisk = "excess"\nrisk_limit = 0.1\n'
    yield b'mechanism = "search-exposure"\n\n[parameters]\nk = 5\nties = "oldest"\n'
    yield b'mechanism = "topical-risk"\n\n[parameters]\nmeasure = "lda-d"\n'
    yield b'mechanism = "steered-counts"\nitems = ["queries", "clicks"]\n\n[parameters]\nepsilon = 2.0\ndelta = 1e-6\n'


def http_seeds(_: Path) -> Iterator[bytes]:
    """What search services answered, by kind."""
    from replay import RECORDED

    for path in sorted(RECORDED.glob("*.json")):
        for exchange in json.loads(path.read_text(encoding="utf-8")):
            answer = exchange["response"]
            content = answer["text"] if "text" in answer else json.dumps(answer.get("body"))
            kind = next((at for at, name in enumerate(("searxng", "opensearch", "solr")) if name in path.name), 0)
            yield bytes([kind, 0]) + content.encode()
            yield bytes([kind, 1]) + gzip.compress(content.encode(), mtime=0)


def read_answer(data: bytes, _: Path) -> None:
    """Take the bytes for the answer of a search service: the first says of which, the second how it is encoded."""
    import httpx
    from replay import ADDRESSES, Pauses

    from aidos.service.access import Access
    from aidos.service.base import Retries
    from aidos.service.opensearch import OpenSearch
    from aidos.service.searxng import SearXNG
    from aidos.service.solr import Solr

    kind = ("searxng", "opensearch", "solr")[data[0] % 3 if data else 0]
    encoding = ("", "gzip", "deflate", "gzip, gzip", "zstd", "br")[data[1] % 6 if len(data) > 1 else 0]
    headers = {"Content-Type": "application/json"} | ({"Content-Encoding": encoding} if encoding else {})
    answer = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=httpx.ByteStream(data[2:])))
    way = Access(address=ADDRESSES[kind], transport=answer, clock=Pauses().clock, retries=Retries(first_pause=1))
    made = {"searxng": SearXNG, "solr": Solr}.get(kind)
    with made(way) if made else OpenSearch(way, index="articles") as service:
        service.search("windmill repair")


def read_word_vectors(data: bytes, place: Path) -> None:
    """Word vectors: text and binary, told apart by their content and name."""
    from aidos.model.vectors import read_vectors

    path = place / ("vectors.txt", "vectors.bin", "vectors.npz")[data[0] % 3 if data else 0]
    path.write_bytes(data[1:])
    read_vectors(path)


def vector_seeds(_: Path) -> Iterator[bytes]:
    """Three words in each layout."""
    import numpy as np

    text = b"loan 0.1 0.2 0.3\ndebt 0.3 0.2 0.1\nboat -1 0 1e-3\n"
    binary = b"".join(word + b" " + np.arange(3, dtype="<f4").tobytes() + b"\n" for word in (b"loan", b"debt"))
    packed = io.BytesIO()
    np.savez(packed, words=np.array(["loan", "debt"]), vectors=np.ones((2, 3), dtype="f4"))
    yield from (b"\0" + text, b"\0" + b"3 3\n" + text, b"\1" + b"2 3\n" + binary, b"\2" + packed.getvalue())


def whole(*names: str) -> Callable[[Path], Iterator[bytes]]:
    """Files that were made beforehand, as they are."""
    return lambda given: ((given / name).read_bytes() for name in names)


def texts(*contents: bytes) -> Callable[[Path], Iterable[bytes]]:
    """Files as they are written here."""
    return lambda _: contents


def verify_manifest(data: bytes, place: Path) -> int:
    """A release whose manifest was exchanged."""
    import shutil

    from aidos.surfaces.cli import run

    shutil.copytree(place.parent / "given" / "release", place / "release", dirs_exist_ok=True)
    (place / "release" / "MANIFEST.json").write_bytes(data)
    return run(["verify", str(place / "release"), "--quiet"])


def ask_recipe(data: bytes, place: Path) -> None:
    """Take the bytes for the recipe of a job; what it asks is not answered."""
    from aidos.jobs.asking import ask_job
    from aidos.surfaces.registry import find_job
    from aidos.surfaces.running import read_job

    (place / "job.toml").write_bytes(data)
    words, given = read_job(place / "job.toml")
    ask_job(find_job(words), given, called=words)


RESULTS = (
    b'{"query": "patch", "results": [{"url": "https://forum.example/ski", "title": "Ski", "content": "wax"}]}',
    b"url,title\nhttps://news.example/patch,Security patch\n",
    b'{"url": "https://garden.example/p", "title": "Patch"}\n',
)
RULES = b'block = ["forum.example"]\n[boost]\n"games.example" = 10\n[downrank]\n"news.example" = 3\n'
SITE = b'address = "https://site.example/find?q={query}"\nresults = ".result"\nlink = "a"\nlanguage = "en-GB"\n'
JOB_RECIPES = (
    b'job = "fair rerank"\nrankings = ["r.jsonl"]\noutput = "served.jsonl"\nquality_floor = 0.9\n',
    b'job = "publish"\nfiles = ["log.tsv"]\nitems = ["queries"]\nepsilon = 2.0\ncolumn = ["client_id=AnonID"]\n',
)
JUDGED = b"topic,judge,sensitive,domain\ndebt,ann,yes,finances\nboats,ann,no,\ndebt,joe,yes,finances\nboats,joe,yes,\n"

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("check", ("check @log", "check @log.csv --json", "check @log.jsonl"), log_seeds),
        Target("ingest", tuple(READ_ALL.format(name) for name in FORMATS), log_seeds),
        Target(
            "publish",
            (
                "publish @log --without-ledger -o %out",
                "publish @log.csv --plan -o %o.html",
                "publish @log --format ubi --skip-bad-rows --without-ledger -o %out",
            ),
            log_seeds,
        ),
        Target("packed", ("check @log.tsv.gz", "check @log.tsv.zst", "ingest @log.tsv.gz -o %o.parquet"), packed_seeds),
        Target("log-table", ("check @log.parquet", "ingest @log.parquet -o %log.parquet"), table_seeds("log")),
        Target(
            "posts", ("check @posts.parquet", "check @posts.csv", "ingest @p.jsonl -o %o.parquet"), table_seeds("posts")
        ),
        Target("texts", ("risk local @posts.csv --measure lda-d", "risk local @notes.txt"), text_seeds),
        Target(
            "rankings",
            (
                "fair measure @runs.jsonl --short-rankings share",
                "fair measure @runs.csv --short-rankings share",
                "fair measure @runs.parquet --short-rankings share",
                "fair measure @runs.run --short-rankings share",
            ),
            ranking_seeds,
        ),
        Target(
            "ratings",
            ("fair simulate --ratings @r.csv --rankings 5 --methods relevance --no-bound --attention singular",),
            texts(b"subject_id,stars,price\na,4.5,10\nb,3,20\nc,1,\n"),
        ),
        Target(
            "pairs",
            ("audit check @pairs.jsonl", "audit check @pairs.csv", "audit check @vanilla.json", "audit check @p.har"),
            pair_seeds,
        ),
        Target("history", ("shield profile build @source -o %profile.json",), history_seeds),
        Target(
            "taxonomy",
            (
                "taxonomy show --taxonomy @tree",
                "taxonomy import @tree -o %tree.taxonomy",
                "taxonomy show --taxonomy @t.tsv",
            ),
            taxonomy_seeds,
        ),
        Target("vectors", seeds=vector_seeds, call=read_word_vectors),
        Target(
            "recipe",
            (
                "publish $log.parquet --recipe @recipe.toml --without-ledger -o %out",
                "shield explain patch --profile $profile.json --recipe @recipe.toml",
                "expose compute $posts.parquet --recipe @recipe.toml -o %out",
                "risk rank $posts.parquet --recipe @recipe.toml --i-am-the-operator -o %out",
            ),
            recipe_seeds,
        ),
        Target("ledger", ("ledger show @log.ledger", "ledger verify @log.ledger $release"), whole("log.ledger")),
        Target(
            "profile",
            ("shield profile show @profile.json", "shield explain patch --profile @profile.json"),
            whole("profile.json"),
        ),
        Target("manifest", seeds=whole("release/MANIFEST.json"), call=verify_manifest),
        Target(
            "results",
            (
                "shield rerank @results.json --query patch --profile $profile.json",
                "shield rerank @results.csv --query p",
            ),
            texts(*RESULTS),
        ),
        Target("rules", ("shield rules export @rules.toml --format goggles",), texts(RULES)),
        Target("site", ("audit bookmarklet @site.toml -o %bookmark.html",), texts(SITE)),
        Target("job", seeds=texts(*JOB_RECIPES), call=ask_recipe),
        Target(
            "topics",
            ("risk topics --import @topics.tsv", "mediate measure $log.parquet --topics @topics.tsv --seed 1"),
            whole("topics.tsv"),
        ),
        Target("judgements", ("risk annotate --agreement @ann.csv",), texts(JUDGED)),
        Target("http", seeds=http_seeds, call=read_answer),
    )
}
