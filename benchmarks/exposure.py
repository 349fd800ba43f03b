"""How fast search exposure is computed and looked up, against asking PISA and tantivy one query after the other.

    python benchmarks/exposure.py [--posts 1000000] [--peers no]

Posts are made up: eleven and a half words on average, word frequencies by Zipf's law with a few hundred topics, so that
pairs of words grow with the number of posts as they do in tweets. Fifty thousand authors, some of whom write much.

Peers are asked a sample of the very queries that were computed, for ten results each, on one thread: PISA (query
likelihood, all queries in one batch) and tantivy (one query at a time), each when the interpreter named by the
environment variable AIDOS_PEERS_PYTHON (this one, if unset) can import it, and left out with a note otherwise.
Everything of ours runs in a fresh process, after the compiler has warmed up on a few posts. What is compared is
processor time, so that other work on the machine does not fail it; the limits on wall time hold for an idle machine.

Ends with status 3 when a limit is missed: ranking takes at least 100 times less processor time a query than PISA, 300
times less than tantivy; five million posts end to end, on two cores, within 240 s and 4 GB; a member looked up within
50 ms and a draft within 100 ms (medians); the answer for the heaviest member within 2 s and 500 MB more than the
lightest took; `aidos expose query`, `member` and `draft` within 0.7 s of processor time, starting up included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POSTS = 1_000_000
SAMPLE = 2_000
COMMON, COMMON_SHARE = 8_000, 0.78
TOPICS, RARE, STEEPNESS = 300, 550_000, 1.3
AUTHORS = 50_000
BATCH = 200_000


# Posts.


def made_words(number: int):
    """Words that no tokeniser cuts: syllables, the first words the shortest."""
    import numpy as np
    import pyarrow as pa

    ones = np.array([consonant + vowel for vowel in "aeiou" for consonant in "bcdfghjklmnpqrstvwxz"])
    twos = np.char.add(np.tile(ones, len(ones)), np.repeat(ones, len(ones)))
    threes = np.char.add(np.tile(twos, len(ones)), np.repeat(ones, len(twos)))
    return pa.array(np.concatenate([ones, twos, threes])[:number])


def write_posts(posts: int, path: Path) -> None:
    """The same every time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    random = np.random.default_rng(20)
    words = made_words(COMMON + RARE)
    common = np.cumsum(1 / (np.arange(COMMON) + 2.7))
    rare = np.cumsum(1 / (np.arange(RARE) + 3.0) ** STEEPNESS)
    topics = np.cumsum(1 / (np.arange(TOPICS) + 10.0))
    authors = np.cumsum(1 / (np.arange(AUTHORS) + 20.0) ** 0.8)
    strides, offsets = 2 * random.integers(1, RARE // 2, TOPICS) + 1, random.integers(0, RARE, TOPICS)

    def draw(shares, number: int):
        return np.minimum(np.searchsorted(shares, random.random(number) * shares[-1]), len(shares) - 1)

    def named(prefix: str, numbers):
        return pc.binary_join_element_wise(pa.scalar(prefix), pa.array(numbers).cast(pa.string()), "")

    kinds = {"post_id": pa.string(), "author_id": pa.string(), "timestamp": pa.timestamp("us"), "text": pa.string()}
    with pq.ParquetWriter(path, pa.schema(kinds), compression="lz4") as file:
        for begin in range(0, posts, BATCH):
            number = min(BATCH, posts - begin)
            lengths = np.clip(random.gamma(3.2, 11.5 / 3.2, number).round().astype(np.int64), 1, 40)
            topic, drawn = np.repeat(draw(topics, number), lengths), draw(common, lengths.sum())
            special = random.random(len(drawn)) > COMMON_SHARE
            topic = topic[special]
            # Each topic has an order of its own of the rare words.
            drawn[special] = COMMON + (draw(rare, len(topic)) * strides[topic] + offsets[topic]) % RARE
            starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
            texts = pc.binary_join(pa.ListArray.from_arrays(pa.array(starts), words.take(pa.array(drawn))), " ")
            seconds = 1_600_000_000 + random.integers(0, 63_000_000, number)
            columns = [
                named("post", random.permutation(number) + begin),
                named("member", draw(authors, number)),
                pa.array(seconds * 1_000_000).cast(pa.timestamp("us")),
                texts,
            ]
            file.write_table(pa.table(columns, schema=pa.schema(kinds)))


# Ours, in processes of their own.


def measure_compute(path: Path, target: Path) -> dict[str, float]:
    """All of it, tokenising included."""
    from aidos.engine.embedded import EmbeddedEngine
    from aidos.rooms.exposure.queries.compute import compute
    from aidos.rooms.exposure.queries.settings import SearchExposure

    with EmbeddedEngine(memory="1GB") as engine:
        warm_up(engine, target.with_name("warm"))
        wall, processor = time.perf_counter(), time.process_time()
        facts = compute(engine.parquet(path), SearchExposure(), target)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    counts = {name: getattr(facts, name) for name in ("posts", "words", "queries", "exposures")}
    return {"wall": wall, "processor": processor, "peak": peak, **counts}


def warm_up(engine, target: Path) -> None:
    from datetime import UTC, datetime

    import pyarrow as pa

    from aidos.rooms.exposure.queries.compute import compute
    from aidos.rooms.exposure.queries.settings import SearchExposure

    few = {"post_id": ["a", "b"], "author_id": ["a", "b"], "text": ["one two", "two three three"]}
    times = pa.array([datetime(2024, 1, 1, tzinfo=UTC)] * 2).cast(pa.timestamp("us"))
    compute(engine.table(pa.table({**few, "timestamp": times})), SearchExposure(), target)


def measure_kernel(target: Path) -> dict[str, float]:
    """Ranking and merging alone: every fourth chunk, nothing written."""
    from aidos.rooms.exposure.queries import manifest
    from aidos.rooms.exposure.queries.arrays import load_statistics
    from aidos.rooms.exposure.queries.chunks import Worker, sweep_chunk
    from aidos.rooms.exposure.queries.flat import flatten
    from aidos.rooms.exposure.queries.plan import make_plan

    facts = manifest.read(target)
    flat = flatten(target, facts, threads=1)
    statistics = load_statistics(target, facts)
    plan = make_plan(flat, facts.settings.k, statistics["members"], statistics["first_posts"])
    worker = Worker(flat, plan, facts.settings.k)
    chosen = range(0, len(plan.words) - 1, 4)
    sweep_chunk(flat, plan, chosen[0], facts.settings, worker)
    started = time.process_time()
    queries = sum(len(sweep_chunk(flat, plan, number, facts.settings, worker).first) for number in chosen)
    return {"microseconds": 1e6 * (time.process_time() - started) / queries, "queries": queries}


def measure_lookups(target: Path) -> dict[str, float]:
    """Members and drafts, wall clock, as somebody waits for them."""
    from datetime import datetime

    import numpy as np

    from aidos.rooms.exposure.queries.store import ExposureStore

    store = ExposureStore.open(target)
    random = np.random.default_rng(3)
    members = random.choice(store.facts.members, 200, replace=False).tolist()
    posts = store.posts(np.sort(random.choice(store.facts.posts, 100, replace=False)).astype(np.int32))
    texts = posts.column("text").to_pylist()
    when = datetime(2026, 1, 1)  # noqa: DTZ001 (posts have no zone)
    return {
        "member": median(store.member, members),
        "draft": median(lambda text: store.draft(text, member=None, when=when), texts),
    }


def measure_heaviest(target: Path) -> dict[str, float]:
    """The answer for the member with most exposures, as somebody waits for it."""
    import numpy as np

    from aidos.rooms.exposure.member import ShowMember, look_up_member
    from aidos.rooms.exposure.queries.store import ExposureStore

    store = ExposureStore.open(target)
    members = store.members()
    counts = members.column("exposures").to_numpy()
    names = [members.column("author_id")[int(at)].as_py() for at in np.argsort(counts)[[0, -1]]]
    few, most = (ShowMember(directory=target, author_id=name) for name in names)
    look_up_member(store, few)
    before, wall = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    look_up_member(store, most)
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"wall": wall, "peak": (after - before) * 1024, "exposures": float(counts.max())}


def measure_commands(target: Path) -> dict[str, float]:
    """Processor time of whole commands, starting up included."""
    import pyarrow.parquet as pq

    name = pq.read_table(target / "members.parquet", columns=["author_id"]).column(0)[0].as_py()
    asked = {"query": ["query", "ba"], "member": ["member", name], "draft": ["draft", "ba bi bo"]}
    found = {}
    for what, words in asked.items():
        command = [sys.executable, "-m", "aidos", "expose", *words, "--in", str(target), "--quiet"]
        seconds = []
        for _ in range(3):
            begun = os.times()
            subprocess.run(command, check=True, capture_output=True)
            ended = os.times()
            spent = (ended.children_user, -begun.children_user, ended.children_system, -begun.children_system)
            seconds.append(sum(spent))
        found[what] = min(seconds)
    return found


def median(work, asked: list) -> float:
    import numpy as np

    work(asked[0])
    seconds = []
    for one in asked:
        started = time.perf_counter()
        work(one)
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))


def write_sample(posts: Path, target: Path, folder: Path) -> None:
    """The texts, and some of the pairs that were computed, for the peers."""
    import numpy as np
    import pyarrow.parquet as pq

    words = pq.read_table(target / "words.parquet", columns=["word"]).column("word")
    random, queries = np.random.default_rng(4), []
    files = sorted((target / "queries").glob("*.parquet"))
    sizes = np.array([pq.read_metadata(path).num_rows for path in files])
    for path, number in zip(files, random.multinomial(SAMPLE, sizes / sizes.sum()), strict=True):
        pairs = pq.read_table(path, columns=["first", "second"])
        pairs = pairs.take(np.sort(random.choice(len(pairs), number, replace=False)))
        for first, second in zip(*(pairs.column(name).to_pylist() for name in ("first", "second")), strict=True):
            queries.append(" ".join(words[word].as_py() for word in (first, second) if word >= 0))
    (folder / "queries.json").write_text(json.dumps(queries))
    (folder / "texts").write_text("\n".join(pq.read_table(posts, columns=["text"]).column("text").to_pylist()))


OURS = {
    "compute": lambda folder: measure_compute(folder / "posts.parquet", folder / "exposure"),
    "kernel": lambda folder: measure_kernel(folder / "exposure"),
    "heaviest": lambda folder: measure_heaviest(folder / "exposure"),
    "commands": lambda folder: measure_commands(folder / "exposure"),
    "lookups": lambda folder: measure_lookups(folder / "exposure"),
    "sample": lambda folder: write_sample(folder / "posts.parquet", folder / "exposure", folder) or {},
}


# The peers, in an interpreter of their own: microseconds of processor time a query.


def run_pisa(folder: Path, texts: list[str], queries: list[str]) -> float:
    import pandas as pd
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder / "pisa"), text_field="text", stemmer="none", stops="none", threads=1)
    index.index({"docno": str(number), "text": text} for number, text in enumerate(texts))
    asked = pd.DataFrame({"qid": [str(at) for at in range(len(queries))], "query": queries})
    found = []
    for algorithm in ("block_max_wand", "block_max_maxscore"):
        retrieve = index.qld(mu=11.5, num_results=10, threads=1, query_algorithm=algorithm)
        retrieve.transform(asked[:50])
        found.append(per_query(lambda retrieve=retrieve: retrieve.transform(asked), len(queries)))
    return min(found)


def run_tantivy(folder: Path, texts: list[str], queries: list[str]) -> float:
    import tantivy

    schema = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="whitespace").build()
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer(heap_size=256_000_000, num_threads=1)
    for text in texts:
        writer.add_document(tantivy.Document(text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    asked = [index.parse_query(query, ["text"]) for query in queries]
    return per_query(lambda: [searcher.search(query, 10) for query in asked], len(queries))


def per_query(work, number: int) -> float:
    """The best of three."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return 1e6 * best / number


PEERS = {"pisa": run_pisa, "tantivy": run_tantivy}


def measure_peer(name: str, folder: Path) -> dict[str, float]:
    texts = (folder / "texts").read_text().splitlines()
    return {"microseconds": PEERS[name](folder, texts, json.loads((folder / "queries.json").read_text()))}


# The table.


def run(what: str, folder: Path, python: str = sys.executable) -> dict[str, float] | None:
    """Measure something in a fresh process; None if it failed, with a note why."""
    command = [python, str(Path(__file__).resolve()), "--measure", what, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    if done.returncode:
        print(f"{what} is left out: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'it failed'}")
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def line(what: str, found: str, limit: str = "", *, good: bool = True) -> bool:
    print(f"{what:<62} {found:>16} {limit:>12}  {('ok' if good else 'MISSED') if limit else ''}".rstrip(), flush=True)
    return good


def compare(folder: Path, microseconds: float) -> list[bool]:
    """How many times more processor time peers take for the same queries."""
    good = []
    run("sample", folder)
    for name, least in (("pisa", 100), ("tantivy", 300)):
        python = os.environ.get("AIDOS_PEERS_PYTHON", sys.executable)
        theirs = run(name, folder, python) or (run(name, folder) if python != sys.executable else None)
        if theirs:
            line(f"{name}, a query", f"{theirs['microseconds']:,.1f} us")
            ratio = theirs["microseconds"] / microseconds
            good.append(line(f"{name}, times ours", f"{ratio:,.0f}", f">= {least}", good=ratio >= least))
    return good


def main(posts: int, *, peers: bool) -> int:
    """Print a table; give the exit status."""
    good = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_posts(posts, folder / "posts.parquet")
        all_of_it = run("compute", folder)
        kernel = run("kernel", folder) if all_of_it else None
        if all_of_it is None or kernel is None:
            return 1
        large = posts >= 5_000_000
        wall, peak = all_of_it["wall"], all_of_it["peak"] / 1e9
        counts = ", ".join(f"{all_of_it[name]:,} {name}" for name in ("posts", "words", "queries", "exposures"))
        print(f"{counts}\n{'':<62} {'measured':>16} {'limit':>12}")
        good.append(line("end to end, wall clock", f"{wall:,.0f} s", "< 240 s" if large else "", good=wall < 240))
        line("end to end, processor time", f"{all_of_it['processor']:,.0f} s")
        line("end to end, a query", f"{1e6 * all_of_it['processor'] / all_of_it['queries']:.2f} us")
        good.append(line("peak of memory", f"{peak:.2f} GB", "< 4 GB", good=peak < 4))
        line("ranking and merging, a query", f"{kernel['microseconds']:.2f} us")
        if lookups := run("lookups", folder):
            for name, most in (("member", 0.05), ("draft", 0.1)):
                found = lookups[name]
                good.append(line(f"{name}, median", f"{1e3 * found:.1f} ms", f"< {1e3 * most:g} ms", good=found < most))
        if heaviest := run("heaviest", folder):
            wall, peak = heaviest["wall"], heaviest["peak"] / 1e6
            told = f"the heaviest member ({heaviest['exposures']:,.0f} exposures)"
            good.append(line(f"{told}, answer", f"{wall:.2f} s", "< 2 s", good=wall < 2))
            good.append(line(f"{told}, memory", f"{peak:,.0f} MB", "< 500 MB", good=peak < 500))
        for what, spent in (run("commands", folder) or {}).items():
            good.append(line(f"aidos expose {what}, processor time", f"{spent:.2f} s", "< 0.7 s", good=spent < 0.7))
        if peers:
            good += compare(folder, kernel["microseconds"])
    return 0 if all(good) else 3


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--posts", type=int, default=POSTS)
    asked.add_argument("--peers", choices=["yes", "no"], default="yes")
    asked.add_argument("--measure", help=argparse.SUPPRESS)
    asked.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        measured = (
            OURS[given.measure](given.folder) if given.measure in OURS else measure_peer(given.measure, given.folder)
        )
        print(json.dumps(measured))
    else:
        sys.exit(main(given.posts, peers=given.peers == "yes"))
