"""How fast searching and personalised re-ranking are, against PISA and bm25s, in one run.

    python benchmarks/retrieval_search.py [documents]

The peers are optional: bm25s (with numba) and pyterrier-pisa are used when the interpreter named by the environment
variable AIDOS_PEERS_PYTHON (this one, if unset) can import them, and are left out with a note otherwise. Documents are
made up: word frequencies follow Zipf's law, lengths are log-normal around fifty words. Queries are two to four words of
one document. "Usual" queries leave the hundred most frequent words out, as stop words; "any" queries do not.

Everything runs on one thread and is counted in CPU seconds, best of three. PISA names documents, and so do we beside
it; bm25s numbers them, and is given queries that are cut into words. Ends with status 3 when a limit is missed: a
median under 1 ms for a single query; for the hundred best of usual queries at least as many queries per CPU second as
PISA and twice as many as bm25s; 253,000 re-rankings of a hundred hits under a minute. What the weight of the query does
to the order of hits is printed below the table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

VOCABULARY = 200_000
SIZE = 100
BATCH = 3_000
MU = 50.0
MATCHING = f"ql-dirichlet:mu={MU:g},matching_only=true"


def made_words() -> np.ndarray:
    """Words that no tokeniser cuts: eight letters, a consonant and a vowel in turn."""
    numbers, letters = np.arange(VOCABULARY), []
    for at in range(8):
        alphabet = np.array(list("aeiou" if at % 2 else "bcdfghjklmnpqrstvwxz"))
        letters.append(alphabet[numbers % len(alphabet)])
        numbers = numbers // len(alphabet)
    return np.array(["".join(word) for word in zip(*letters, strict=True)], dtype=object)


def made_documents(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Terms of all documents, and where each begins."""
    stream = np.random.default_rng(1)
    lengths = np.maximum(1, stream.lognormal(np.log(50) - 0.18, 0.6, number).astype(np.int64))
    shares = 1 / (np.arange(VOCABULARY) + 2.7)
    terms = np.searchsorted(np.cumsum(shares / shares.sum()), stream.random(lengths.sum()))
    return np.minimum(terms, VOCABULARY - 1), np.concatenate([[0], np.cumsum(lengths)])


def made_queries(terms: np.ndarray, starts: np.ndarray, number: int, skipped: int) -> list[np.ndarray]:
    stream, queries = np.random.default_rng(2), []
    while len(queries) < number:
        document = stream.integers(len(starts) - 1)
        words = np.unique(terms[starts[document] : starts[document + 1]])
        words, size = words[words >= skipped], stream.integers(2, 5)
        if len(words) >= size:
            queries.append(stream.choice(words, size, replace=False))
    return queries


def per_cpu_second(work, queries: list[str]) -> float:
    """Queries per CPU second, best of three after one that warms up."""
    work(queries[:20])
    best = np.inf
    for _ in range(3):
        started = time.process_time()
        work(queries)
        best = min(best, time.process_time() - started)
    return len(queries) / best


# The peers, in an interpreter of their own.


def run_pisa(folder: Path, texts: list[str], queries: dict[str, list[str]]) -> dict[str, float]:
    import pandas as pd
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder / "pisa"), text_field="text", stemmer="none", stops="none", threads=1)
    index.index({"docno": f"post{number}", "text": text} for number, text in enumerate(texts))
    found = {}
    for algorithm in ("block_max_wand", "block_max_maxscore"):
        retrieve = index.qld(mu=MU, num_results=SIZE, threads=1, query_algorithm=algorithm)
        for kind, asked in queries.items():

            def work(some: list[str], retrieve=retrieve) -> None:
                retrieve.transform(pd.DataFrame({"qid": [str(at) for at in range(len(some))], "query": some}))

            found[kind] = max(found.get(kind, 0.0), per_cpu_second(work, asked))
    return found


def run_bm25s(folder: Path, texts: list[str], queries: dict[str, list[str]]) -> dict[str, float]:  # noqa: ARG001
    import bm25s

    retriever = bm25s.BM25(backend="numba", method="lucene", k1=0.9, b=0.4)
    retriever.index([text.split() for text in texts], show_progress=False)
    return {
        kind: per_cpu_second(
            lambda some: retriever.retrieve(
                [query.split() for query in some],
                k=SIZE,
                n_threads=1,
                show_progress=False,
                backend_selection="numba",
            ),
            asked,
        )
        for kind, asked in queries.items()
    }


PEERS = {"pisa": run_pisa, "bm25s": run_bm25s}


def ask_peer(name: str, folder: Path) -> dict[str, float] | None:
    """What a peer does with the documents and queries in a folder; None if it is not there."""
    python = os.environ.get("AIDOS_PEERS_PYTHON", sys.executable)
    command = [python, str(Path(__file__).resolve()), "--peer", name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode:
        print(f"{name} is left out: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'it failed'}")
        return None
    return json.loads((folder / f"{name}.json").read_text())


def peer_main(name: str, folder: Path) -> int:
    texts = (folder / "texts").read_text().splitlines()
    found = PEERS[name](folder, texts, json.loads((folder / "queries.json").read_text()))
    (folder / f"{name}.json").write_text(json.dumps(found))
    return 0


# Ours.


def line(what: str, found: str, limit: str = "", *, good: bool = True) -> bool:
    print(f"{what:<66} {found:>24} {limit:>10}  {('ok' if good else 'MISSED') if limit else ''}".rstrip())
    return good


def single(index, queries: list[str]) -> bool:
    from aidos.model.retrieval.search import search

    seconds = []
    for query in queries[:500]:
        started = time.perf_counter()
        _ = search(index, query).ids
        seconds.append(time.perf_counter() - started)
    middle, late = np.median(seconds), np.quantile(seconds, 0.95)
    line("one query, ten best, wall clock: 95th percentile", f"{1e6 * late:,.0f} us")
    return line("one query, ten best, wall clock: median", f"{1e6 * middle:,.0f} us", "< 1 ms", good=middle < 1e-3)


def batched(index, queries: dict[str, list[str]], folder: Path) -> bool:
    from aidos.model.retrieval.scorers import parse_scorer
    from aidos.model.retrieval.search import search_batch

    ours = {}
    for name in ("ql-dirichlet", MATCHING, "bm25", "ql-jm"):
        for kind, asked in queries.items():
            scorer = parse_scorer(name)
            bare = per_cpu_second(lambda some, scorer=scorer: search_batch(index, some, scorer, SIZE, 1), asked)
            named = per_cpu_second(lambda some, scorer=scorer: search_batch(index, some, scorer, SIZE, 1).ids(), asked)
            ours[name, kind] = named, bare
            line(f"{name}, {kind} queries", f"{named:,.0f} /s ({bare:,.0f} unnamed)")
    good = []
    for peer, least, name, form in (("pisa", 1.0, MATCHING, 0), ("bm25s", 2.0, "ql-dirichlet", 1)):
        found = ask_peer(peer, folder)
        for kind in found or ():
            # PISA names documents, bm25s numbers them.
            ratio = ours[name, kind][form] / found[kind]
            words = f"{peer}, {kind} queries: {found[kind]:,.0f} /s; ours is faster"
            limit = f">= {least:g}" if kind == "usual" else ""
            good.append(line(words, f"{ratio:.2f} times", limit, good=ratio >= least or not limit))
    return all(good)


def personalised(index, queries: list[str]) -> bool:
    """Re-rank for a thousand histories, and see what the weight of the query does to the order."""
    from aidos.model.retrieval.language import Histories, Personalisation, personalise_batch
    from aidos.model.retrieval.search import read_queries, search_queries

    read = read_queries(index, queries)
    owners = np.random.default_rng(4).integers(0, 975, len(queries))
    histories = Histories.gather(np.repeat(owners, np.diff(read.starts)), read.terms, 975)
    lists = search_queries(index, read, size=SIZE)
    personalise_batch(lists, histories, owners)
    started = time.process_time()
    personalise_batch(lists, histories, owners, threads=1)
    seconds = (time.process_time() - started) * 253_000 / len(queries)
    good = line("253,000 re-rankings of a hundred hits, CPU time", f"{seconds:.1f} s", "< 60 s", good=seconds < 60)
    others = np.roll(owners, 1)
    print("\nKendall tau of the first hundred: with the query's own order / between two histories")
    print(f"{'weight of the query':<24}" + "".join(f"{name:>18}" for name in ("mean", "standard", "sum")))
    for weight in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0):
        cells = []
        for name in ("mean", "standard", "sum"):
            how = Personalisation(query_weight=weight, normalisation=name)
            one = personalise_batch(lists, histories, owners, how)
            two = personalise_batch(lists, histories, others, how)
            cells.append(f"{mean_tau(lists, one):+.2f} / {mean_tau(one, two):+.2f}")
        print(f"{weight:<24}" + "".join(f"{cell:>18}" for cell in cells))
    return good


def mean_tau(one, two) -> float:
    """Mean over queries with full lists, which hold the same documents in another order."""
    found = []
    for query in np.flatnonzero(one.sizes == SIZE)[:300]:
        where = {place: at for at, place in enumerate(two.places[query].tolist())}
        order = np.array([where[place] for place in one.places[query].tolist()])
        rising = np.sign(order[None, :] - order[:, None])
        found.append(np.triu(rising, 1).sum() / (SIZE * (SIZE - 1) / 2))
    return float(np.mean(found))


def main() -> int:
    """Print a table; give the exit status."""
    if sys.argv[1:2] == ["--peer"]:
        return peer_main(sys.argv[2], Path(sys.argv[3]))
    from aidos.model.retrieval.index import Index
    from aidos.model.text.analyser import Analyser

    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    words = made_words()
    terms, starts = made_documents(number)
    texts = [" ".join(words[terms[begin:end]]) for begin, end in pairwise(starts)]
    queries = {
        kind: [" ".join(words[query]) for query in made_queries(terms, starts, BATCH, skipped)]
        for kind, skipped in (("usual", 100), ("any", 0))
    }
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "texts").write_text("\n".join(texts))
        (folder / "queries.json").write_text(json.dumps(queries))
        pairs = ((f"post{at}", text) for at, text in enumerate(texts))
        index = Index.build(pairs, analyser=Analyser(), path=folder / "index")
        print(f"{f'{number:,} documents, hundred best, queries per CPU second':<66} {'measured':>24} {'limit':>10}")
        good = [single(index, queries["usual"]), batched(index, queries, folder), personalised(index, queries["usual"])]
    return 0 if all(good) else 3


if __name__ == "__main__":
    sys.exit(main())
