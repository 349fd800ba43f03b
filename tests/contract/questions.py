"""A small question for every job, so that one test can ask them all on every surface.

`QUESTIONS` has the parameters of each job, by their names in Python. They name files that `prepare` writes:
parts of the sample world, and what other jobs leave behind.
"""

import pyarrow.compute as pc
import pyarrow.parquet as pq

from aidos.rooms.audit.collect.keeping import opened_collection
from aidos.rooms.audit.collect.site import Site
from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample

RANKS = {"directory": "ranks"}
EXPOSED = {"directory": "exposure"}

QUESTIONS = {
    "check": {"files": ["log.parquet"]},
    "ingest": {"files": ["log.parquet"], "output": "read.parquet"},
    "mediate assign": {"files": ["log.parquet"], "accounts": 40, "seed": 1, "output": "mixed", "finding": "mixed.html"},
    "mediate measure": {"files": ["log.parquet"], "alphas": [0.5], "heuristics": ["original"], "seed": 1},
    "taxonomy show": {"topic": "health", "depth": 1},
    "taxonomy find": {"words": ["saxophone", "lessons"], "most": 3},
    "taxonomy import": {"source": "topics.txt", "output": "topics.tsv"},
    "shield profile build": {"sources": ["diary.txt"], "output": "built.json"},
    "shield profile show": {"file": "profile.json", "depth": 2},
    "shield profile edit": {"file": "profile.json", "sensitive": ["debt=3"], "support": ["chess=2"], "merge": True},
    "shield profile forget": {"file": "profile.json", "session": True},
    "shield explain": {
        "query": "loan",
        "profile": "profile.json",
        "risk": "excess",
        "risk_limit": 0.2,
        "output": "explained.html",
    },
    "shield rerank": {"results": "results.json", "query": "loan", "profile": "profile.json", "output": "mine.json"},
    "shield rules export": {"file": "rules.toml", "form": "goggles", "output": "mine.goggle"},
    "sample": {"part": "log", "size": "40", "output": "sample.csv"},
    "expose compute": {"files": ["more.jsonl"], "output": "exposed", "k": 3, "semantics": "and"},
    "expose member": {**EXPOSED, "author_id": "10000144", "top": 3, "output": "member.html"},
    "expose query": {**EXPOSED, "text": "debt lawyer"},
    "expose draft": {**EXPOSED, "text": "a loan and a letter", "author": "10000144", "top": 3},
    "expose add": {**EXPOSED, "files": ["more.jsonl"]},
    "expose delete": {**EXPOSED, "post_ids": ["p00000000003"]},
    "expose forget": {**EXPOSED, "author_ids": ["10000144"]},
    "expose audit": {**EXPOSED, "least": 10, "output": "exposure-audit.html"},
    "publish": {
        "files": ["log.parquet"],
        "epsilon": 4.0,
        "items": "queries,clicks",
        "without_ledger": True,
        "seed": 3,
        "output": "release",
        "finding": "truth.html",
    },
    "verify": {"directory": "released"},
    "suggest": {"release": "released", "query": "fernpost", "least_ratio": 0.0},
    "rank": {"release": "released", "query": "fernpost", "most": 3},
    "calibrate": {"mechanism": "count-gaussian", "epsilon": 1.0, "delta": 1e-6},
    "ledger open": {"files": ["small.tsv"], "epsilon": 1.0, "delta": 1e-6, "output": "small.ledger"},
    "ledger show": {"file": "log.ledger"},
    "ledger extend": {"file": "log.ledger", "files": ["log.parquet"]},
    "ledger verify": {"file": "log.ledger", "releases": ["released"]},
    "ledger close": {"file": "log.ledger"},
    "explain impossibility": {
        "people": 1000000,
        "items_per_person": 10,
        "epsilon": 1.0,
        "threshold": 50,
        "domain": 5.3e35,
    },
    "attack sybil": {"mechanism": ["k-query-anonymity"], "trials": 20, "sybils": 9},
    "attack distinguish": {"mechanism": ["k-query-anonymity"], "trials": 20},
    "attack uniques": {"release": "released", "files": ["log.parquet"], "normalise": "all"},
    "risk rank": {
        "files": ["posts.parquet"],
        "topics": ["depression"],
        "measures": ["bow"],
        "output": "ranked",
        "i_am_the_operator": True,
    },
    "risk person": {**RANKS, "person_id": "10000144", "top": 3, "output": "person.html"},
    "risk add": {**RANKS, "files": ["more.jsonl"]},
    "risk forget": {**RANKS, "person": "10000144"},
    "risk local": {"files": ["diary.txt"], "top": 3},
    "risk topics": {"export": "topics.toml"},
    "risk annotate": {"agreement": ["ann.csv", "bob.csv"]},
    "risk train": {"files": ["posts.parquet"], "output": "models", "latent_topics": 5, "iterations": 5, "epochs": 1},
    "risk audit": {**RANKS, "output": "audit.html"},
    "fair rerank": {"rankings": ["rankings.parquet"], "output": "served.jsonl", "system": "changing"},
    "fair simulate": {"shape": "linear", "subjects": 8, "rankings": 20, "bound": False, "output": "simulated.html"},
    "fair measure": {"runs": ["rankings.parquet"], "system": "changing", "output": "measured.html"},
    "fair store": {"path": "attention.store"},
    "fair export": {"path": "attention.store", "output": "attention.parquet"},
    "doctor": {},
    "fair import": {"source": "exported.parquet", "store": "another.store"},
    "audit collect": {
        "site": "site.toml",
        "words": ["fern"],
        "account": "lists",
        "output": "lists",
        "i_may_automate": True,
    },
    "audit bookmarklet": {"site": "site.toml", "output": "bookmark.html"},
    "audit check": {"pairs": ["rehearsed/before.jsonl"]},
    "audit learn": {"pairs": ["rehearsed/before.jsonl"], "method": "inference", "output": "audited"},
    "audit evidence": {"directory": "rehearsed/before"},
    "audit compare": {"before": "rehearsed/before", "after": "rehearsed/after", "output": "compared.html"},
}
"""Words of a job to its parameters."""

FEW = {"epsilons": [50.0], "ks": [3], "usual_epsilon": 50.0}
SLOW_QUESTIONS = {
    "plan": {"files": ["log.parquet"], "mechanism": "laplace-threshold", "people": 300, "output": "plan.html"},
    "audit plan": {"weight": 5.0, "results": 20},
    "audit rehearse": {"queries": 20, "output": "loop"},
    "expose train": {**EXPOSED, "target": "topics", "output": "model.json"},
    "evaluate mediator": {
        "posts": ["posts.parquet"],
        "least_questions": 3,
        "alphas": [0.5],
        "heuristics": ["original"],
        "output": "study",
    },
    "evaluate exposure": {"size": "500", "output": "study"},
    "evaluate risk": {"size": "tiny", "measure": ["entropy", "bow"], "match": ["debt=none"], "output": "study"},
    "evaluate ups": {"size": "150", "part": ["quality"], "output": "study"},
    "evaluate audit": {"size": "tiny", "part": ["recovery"], "output": "study"},
    "evaluate utility": {"files": ["small.csv"], "kinds": ["queries"], "output": "study"},
    "evaluate statistics": {"files": ["small.csv"], "kinds": ["queries"], "items_per_person": [1], "output": "study"},
    "evaluate caching": {"size": "120", **FEW, "items_per_person": [1], "output": "study"},
    "evaluate substitution": {"size": "120", **FEW, "output": "study"},
    "evaluate retrieval": {
        "size": "120",
        "noise_scales": [2.0],
        "thresholds": [10],
        "folds": 2,
        "tried_queries": 40,
        "output": "study",
    },
    "evaluate mechanisms": {"files": ["small.csv"], "kinds": ["queries"], "output": "study"},
}
"""The same for jobs that take longer."""

ASK_OTHERS = {"run", "describe", "demo"}
"""They ask other jobs: the first two are tried with each of them, the demo has tests of its own."""

BEFORE = (
    "shield profile build diary.txt -o profile.json",
    "expose compute posts.parquet -o exposure",
    "ledger open log.parquet --epsilon 9 --delta 1e-4 -o log.ledger",
    "publish log.parquet --items queries,clicks,pairs --epsilon 50 --without-ledger --seed 1 -o released",
    "fair rerank rankings.parquet -o served-before.jsonl --system changing --store attention.store",
    "fair export attention.store -o exported.parquet",
    "risk rank posts.parquet --topic depression --measure bow -o ranks --i-am-the-operator",
    "audit rehearse --queries 20 -o rehearsed",
)
"""Commands that leave behind what some questions ask about."""


def prepare(home):
    """The files that the questions name, in the working directory."""
    for part in ("rankings", "log", "posts"):
        write_sample(part, World(size="tiny"), home / f"{part}.parquet")
    posts = pq.read_table(home / "posts.parquet")
    pq.write_table(posts.filter(pc.equal(posts["community"], "open")), home / "posts.parquet")
    (home / "small.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n1\tfern\t2024-03-01 10:00:00\t\t\n")
    (home / "diary.txt").write_text("The loan is overdue and the creditor wants it now.\n\nThe arrears grow.\n")
    (home / "more.jsonl").write_text(
        '{"post_id": "n1", "author_id": "newcomer", "timestamp": "2024-06-01T10:00:00", "text": "hopeless"}\n'
    )
    for judge, answer in (("ann", "yes"), ("bob", "no")):
        rows = f"topic,judge,sensitive,domain\ndebt,{judge},yes,\ngambling,{judge},{answer},\n"
        (home / f"{judge}.csv").write_text(rows)
    (home / "topics.txt").write_text("Arts > Music > Jazz\nFood\n")
    (home / "results.json").write_text('[{"url": "https://a.example", "title": "Loan"}, {"title": "Creditor"}]')
    (home / "rules.toml").write_text('block = ["forum.example"]\n')
    asked = [(f"p{person}", query) for person in range(12) for query in ("jazz", "piano")]
    lines = [f"{person},2024-03-05T09:{minute:02}:00,{query}" for minute, (person, query) in enumerate(asked)]
    (home / "small.csv").write_text("\n".join(["client_id,timestamp,user_query", *lines]) + "\n")
    site = Site(address="https://search.example/find?q={query}", results="li")
    (home / "site.toml").write_text(f'address = "{site.address}"\nresults = "{site.results}"\n')
    with opened_collection(home / "lists", site) as kept:  # all was asked before: no browser is needed
        sides = ("vanilla", "personalised", "again")
        kept.add("fern", [{"query": "fern", "list": side, "position": 1, "url": "https://a.example"} for side in sides])
    for command in BEFORE:
        assert run([*command.split(), "--quiet"]) == 0, command
