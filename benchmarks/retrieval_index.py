"""How fast short posts are analysed and indexed on one core, beside bm25s on the same texts.

    python benchmarks/retrieval_index.py [posts] [--peer PYTHON]

A million posts of 20 to 50 words from a Zipf distribution by default. Each run is a fresh process on one core, and the
verdict is on processor time, so that other work on the machine does not fail it. PYTHON is an interpreter that has
bm25s and pyarrow installed; without one the peer is left out. Compilers warm up on a few texts before the clock runs,
ours and the peer's. Ends with status 3 when the index is less than three times as fast as bm25s, or the texts are
analysed at less than a million a minute.
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
from collections.abc import Callable
from pathlib import Path

POSTS = 1_000_000
WANTED_RATIO = 3.0
WANTED_RATE = 1_000_000 / 60
WORDS = 500_000
EXPONENT = 1.07


def write_posts(number: int, path: Path) -> None:
    """Posts whose words are as frequent as those of a natural language; the same every time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(20)
    letters = np.frombuffer(b"eeeeaaatttooiinnsshhrrddllucmwfgypbvk", dtype="S1").astype("U1")
    sizes = random.integers(2, 12, WORDS)
    words = np.array(["".join(random.choice(letters, size)) for size in sizes], dtype=object)
    words = np.array(list(dict.fromkeys(words)), dtype=object)
    shares = np.cumsum(1 / np.arange(1, len(words) + 1) ** EXPONENT)
    with pq.ParquetWriter(path, pa.schema({"post_id": pa.string(), "text": pa.string()})) as file:
        for begin in range(0, number, 20_000):
            lengths = random.integers(20, 51, min(20_000, number - begin))
            drawn = words[np.searchsorted(shares, random.random(lengths.sum()) * shares[-1])]
            ends = np.cumsum(lengths)
            texts = [
                " ".join(drawn[end - size : end]).capitalize() + "." for end, size in zip(ends, lengths, strict=True)
            ]
            names = [f"post{row}" for row in range(begin, begin + len(texts))]
            file.write_table(pa.table({"post_id": names, "text": texts}))


def timed(work: Callable[[], object]) -> dict[str, float]:
    """Clock and processor seconds."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return {"clock": time.perf_counter() - clock, "processor": time.process_time() - processor}


def measure(what: str, path: Path) -> None:
    """Run one of the two and print what it took; runs in a process of its own."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    if what == "bm25s":
        found = {"index": measure_peer(table.column("text").to_pylist())}
    else:
        found = measure_index(table, path.parent)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({**found, "peak": peak, "bytes": table.column("text").nbytes}))


def measure_peer(texts: list[str]) -> dict[str, float]:
    import bm25s

    def index(some: list[str]) -> None:
        bm25s.BM25().index(bm25s.tokenize(some, stopwords=None, show_progress=False), show_progress=False)

    index(texts[:100])
    return timed(lambda: index(texts))


def measure_index(table: object, directory: Path) -> dict[str, dict[str, float]]:
    from aidos.model.retrieval.index import Index
    from aidos.model.text.analyser import Analyser
    from aidos.model.text.batch import analyse
    from aidos.model.text.vocabulary import Vocabulary

    english = Analyser(stop_words="english", stemmer="english")
    for analyser in (Analyser(), english):
        Index.build(table[:100], analyser=analyser)
    texts = table.column("text")
    return {
        "analyse": timed(lambda: analyse(texts, Vocabulary())),
        "analyse, stems": timed(lambda: analyse(texts, Vocabulary(), analyser=english)),
        "index": timed(lambda: Index.build(table, analyser=Analyser())),
        "index on disk": timed(lambda: Index.build(table, analyser=Analyser(), path=directory / "index")),
    }


def run(python: str, what: str, path: Path) -> dict[str, dict[str, float]]:
    """Measure one of the two on one core."""
    environment = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")}
    pinned = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if Path("/usr/bin/taskset").exists() else []
    command = [*pinned, python, __file__, "--measure", what, "--path", str(path)]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def has_peer(python: str) -> bool:
    tried = subprocess.run([python, "-c", "import bm25s, pyarrow"], capture_output=True, check=False)
    return tried.returncode == 0


def main(number: int, peer: str) -> int:
    """Print a table; give the exit status."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "posts.parquet"
        write_posts(number, path)
        ours = run(sys.executable, "aidos", path)
        theirs = run(peer, "bm25s", path) if has_peer(peer) else None
    print(f"{number:,} posts, {ours['bytes'] / 1e6:,.0f} MB")
    print(f"{'':>24} {'processor s':>12} {'clock s':>9} {'MB/s':>7} {'posts/s':>10}")
    rows = {f"aidos {name}": one for name, one in ours.items() if isinstance(one, dict)}
    rows |= {"bm25s index": theirs["index"]} if theirs else {}
    for name, one in rows.items():
        megabytes, posts = ours["bytes"] / one["processor"] / 1e6, number / one["processor"]
        print(f"{name:>24} {one['processor']:>12.2f} {one['clock']:>9.2f} {megabytes:>7.1f} {posts:>10,.0f}")
    print(
        f"peak of memory: aidos {ours['peak'] / 1e6:,.0f} MB", f"bm25s {theirs['peak'] / 1e6:,.0f} MB" if theirs else ""
    )
    slow = number / ours["analyse"]["processor"] < WANTED_RATE
    if theirs is None:
        print("bm25s is not installed: not compared")
        return 3 if slow else 0
    ratio = theirs["index"]["processor"] / ours["index"]["processor"]
    print(f"{ratio:.1f} times as fast as bm25s; {WANTED_RATIO:g} are wanted")
    return 3 if slow or ratio < WANTED_RATIO else 0


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("posts", nargs="?", type=int, default=POSTS)
    asked.add_argument("--peer", default=sys.executable)
    asked.add_argument("--measure", help=argparse.SUPPRESS)
    asked.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        measure(given.measure, given.path)
    else:
        sys.exit(main(given.posts, given.peer))
