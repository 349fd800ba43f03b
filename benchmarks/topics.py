"""How often a query has a right topic among three: real queries that one reader labelled, known by hashes alone.

The labels are in ``topics_labels.tsv``: a salted hash of the query in small letters, and the topics of the default
taxonomy that the reader accepts (none where no topic fits). The queries themselves are nowhere in this repository: name
files that hold them, one query a line, and those that are among them are judged.

    python benchmarks/topics.py titles.txt queries.txt
"""

import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import TopicSearch

LABELS = Path(__file__).with_name("topics_labels.tsv")
WRONGLY = "of all, a wrong sensitive topic among three"
SALT = "aidos topics of queries"


def key(query: str) -> str:
    """What a query is known by."""
    return sha256(f"{SALT}\n{' '.join(query.split()).lower()}".encode()).hexdigest()[:24]


def judge(search: TopicSearch, query: str, accepted: frozenset[str]) -> str:
    """What became of a query."""
    found = [search.tree.ids[place] for place in search.find(query).places[:3]]
    if not found:
        return "nothing"
    if accepted & set(found):
        return "right"
    return "wrong, sensitive" if search.taxonomy[found[0]].sensitive else "wrong"


def names_wrongly(search: TopicSearch, query: str, accepted: frozenset[str]) -> bool:
    """Whether a sensitive topic is among three that is neither accepted nor next to one that is."""
    known, root = search.taxonomy, search.tree.ids[0]
    near = {
        each for topic in accepted for each in (topic, *known.children.get(topic, ()), known[topic].parent)
    } | {
        each
        for topic in accepted
        if known[topic].parent != root
        for each in known.children[known[topic].parent]
    }  # fmt: skip
    found = [search.tree.ids[place] for place in search.find(query).places[:3]]
    return any(known.sensitive_category(topic) and topic not in near for topic in found)


def main(files: list[str]) -> None:
    """Print a table: drawn when words and limits were fixed, and before."""
    if not files:
        print("no queries to judge: name files that hold them, one a line")
        return
    labels = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        hashed, part, topics = line.split("\t")
        labels[hashed] = part, frozenset(topics.split())
    queries = {
        key(line): line
        for file in files
        for line in Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    }
    search, counts = TopicSearch(default_taxonomy()), Counter[tuple[str, str]]()
    for hashed, (part, accepted) in labels.items():
        if hashed in queries:
            told = judge(search, queries[hashed], accepted)
            counts[part, told if accepted else "no topic fits" + (", and none found" if told == "nothing" else "")] += 1
            counts[part, WRONGLY] += names_wrongly(search, queries[hashed], accepted)
    print("| queries | what became of them | count |\n| --- | --- | ---: |")
    for (part, told), count in sorted(counts.items()):
        print(f"| {part} | {told} | {count} |")


if __name__ == "__main__":
    main(sys.argv[1:])
