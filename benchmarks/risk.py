"""How fast people are ranked: all fourteen measures, a loop over posts beside them, and what training takes.

    python benchmarks/risk.py [--posts 1000000] [--people 50000] [--train]

Makes posts with the words of the taxonomy, reads them, and computes all measures for the twelve sensitive topics of the
sample world with their domains. The loop does the same comparisons post by post, on a sample of people; its time is
taken as that of the sample times the posts there are to a post of the sample. Ends with status 3 when a limit is
missed; limits are for 1,000,000 posts and shrink with fewer: 5 minutes and 4 GB for everything from the table to the
risks, 20 times faster than the loop, 50 ms for a post that comes in later (however many there are), and with
``--train`` 15 minutes for 200 latent topics. The last two go by processor time, so that other work on the machine does
not fail them.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import READING, train_topics
from aidos.model.sensitive import TopicSet
from aidos.model.text.analyser import ENGLISH
from aidos.model.topics import default_taxonomy
from aidos.model.vectors import WordVectors
from aidos.rooms.risk.arrivals import Arrival, people_of_arrivals
from aidos.rooms.risk.evidence import gather
from aidos.rooms.risk.knowledge import RiskModels, make_presence, make_space
from aidos.rooms.risk.measures import MEASURES, RiskQuestion, risks
from aidos.rooms.risk.people import People, read_people
from aidos.rooms.risk.ranks import Bootstrap, rank_people
from aidos.rooms.risk.spaces import SPACES
from aidos.rooms.risk.state import RiskState
from aidos.world.vocabulary import choose_topics

SEED = 7
LATENT, DIMENSIONS = 200, 100
RARE_WORDS = 20_000
SHORTEST, LONGEST = 8, 36
"""Words of a post, before stop words are left out."""
SAMPLE = 300
"""Posts that the loop goes through."""
FULL = 1_000_000
MINUTES, TRAIN_MINUTES, GIGABYTES, FASTER, ARRIVAL = 5.0, 15.0, 4.0, 20.0, 50.0
ARRIVALS = 60
CORES = 2


def line(what: str, found: str, limit: str = "", *, good: bool = True) -> bool:
    print(f"{what:<64} {found:>14} {limit:>16}  {('ok' if good else 'MISSED') if limit else ''}", flush=True)
    return good


def made_posts(posts: int, people: int, seed: int) -> pa.Table:
    """Posts about topics of the taxonomy: half the words telling, the others common or rare; over two years."""
    stream = np.random.default_rng(seed)
    topics = [topic.words for topic in default_taxonomy().walk() if len(topic.words) >= 15]
    common, rare = sorted(ENGLISH), [f"rare{number}" for number in range(RARE_WORDS)]
    words = pa.array([word for group in topics for word in group] + common + rare)
    firsts = np.cumsum([0, *(len(group) for group in topics)])
    author = np.sort(stream.integers(people, size=posts))
    favourite = stream.integers(len(topics), size=(people, 3))
    about = np.where(
        stream.random(posts) < 0.7,
        favourite[author, stream.integers(3, size=posts)],
        stream.integers(len(topics), size=posts),
    )
    sizes = stream.integers(SHORTEST, LONGEST + 1, size=posts)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    topic = np.repeat(about, sizes)
    kind, place = stream.random(starts[-1]), stream.random(starts[-1])
    telling = firsts[topic] + (place**2 * np.diff(firsts)[topic]).astype(np.int64)
    other = firsts[-1] + (place * len(common)).astype(np.int64)
    unusual = firsts[-1] + len(common) + (place**3 * len(rare)).astype(np.int64)
    chosen = np.select([kind < 0.5, kind < 0.9], [telling, other], unusual)
    lists = pa.LargeListArray.from_arrays(pa.array(starts), words.take(pa.array(chosen)))
    return pa.table(
        {
            "post_id": pc.cast(pa.array(np.arange(posts)), pa.string()),
            "author_id": pc.cast(pa.array(author), pa.string()),
            "timestamp": pa.array(stream.integers(1_500_000_000, 1_563_000_000, size=posts), type=pa.timestamp("s")),
            "text": pc.binary_join(lists, " "),
        }
    )


def made_models(people: People, topics: TopicSet, seed: int) -> RiskModels:
    """Models of the size of trained ones over the words that people use; how good they are does not change the time."""
    stream = np.random.default_rng(seed)
    words = [word for word in people.vocabulary if word]
    numbers = {word: number for number, word in enumerate(words)}
    phi = stream.random((LATENT, len(words)), dtype=np.float32) * np.float32(0.02 / len(words))
    matrix = stream.normal(size=(len(words), DIMENSIONS)).astype(np.float32)
    for latent, topic in enumerate(topics):
        centre = stream.normal(size=DIMENSIONS)
        for term, weight in topic.analysed(READING).items():
            if term in numbers:
                phi[latent, numbers[term]] += weight
                matrix[numbers[term]] += 2 * centre
    for latent in range(len(topics), LATENT):
        phi[latent, stream.integers(len(words), size=40)] += np.float32(1 / 40)
    phi /= phi.sum(axis=1, keepdims=True)
    return RiskModels(
        topics=topics,
        latent=TopicModel(words=tuple(words), phi=phi, prior=np.full(LATENT, 2 / LATENT), analyser=READING),
        dimensions={name: latent for latent, name in enumerate(topics.names)},
        vectors=WordVectors(words=tuple(words), matrix=matrix, analyser=READING),
    )


def loop_seconds(question: RiskQuestion) -> dict[str, float]:
    """Seconds that a loop over all posts would take, by space, from a sample of people."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    from oracles.risk import plain_entries, plain_similarity

    people, models = question.people, question.models
    others = [models.topics.names[place] for topic in question.topics for place in models.topics.domain_of(topic)]
    wanted = list(dict.fromkeys([*question.topics, *others]))
    order = np.random.default_rng(SEED).permutation(len(people))
    entries = [entry for person in order[:SAMPLE].tolist() for entry in plain_entries(people, person)][:SAMPLE]
    terms = [set(models.topics[models.topics.find(topic)].analysed(people.analyser)) for topic in question.topics]
    loops = {"presence": lambda entry: [own & entry.keys() for own in terms]}
    loops |= {space: plain_similarity(space, wanted, models, people) for space in SPACES}
    spent = {}
    for name, compare in loops.items():
        started = time.perf_counter()
        for entry in entries:
            compare(entry)
        spent[name] = (time.perf_counter() - started) / len(entries) * people.entries
    return spent


def warm(question: RiskQuestion) -> None:
    """Compile everything."""
    one = question.people.alone(0)
    for name in SPACES:
        gather(one, make_space(name, question.topics, question.models, READING, domains=True), {7: 3})
    gather(one, make_presence(question.topics, question.models, READING), {})


def scoring(question: RiskQuestion, reading: float) -> bool:
    """All measures, each space on its own, and the loop."""
    share = question.people.entries / FULL
    spaces = {"presence": ("entropy", "differential-privacy"), "bow": (), "lda": (), "w2v": ()}
    warm(question)
    spent, found = {}, {}
    for name, own in spaces.items():
        measures = [MEASURES[key] for key in own or [key for key in MEASURES if key.split("-")[0] == name]]
        started = time.perf_counter()
        found |= risks(measures, question)
        spent[name] = time.perf_counter() - started
        line(f"{len(measures)} measures ({name})", f"{spent[name]:.1f} s")
    total = sum(spent.values())
    everything = reading + total
    good = line(
        "from the table to all 14 measures",
        f"{everything:.1f} s",
        f"< {MINUTES * 60 * share:.0f} s",
        good=everything < MINUTES * 60 * share,
    )
    loops = loop_seconds(question)
    for name, seconds in loops.items():
        line(f"a loop over posts ({name}; {SAMPLE} posts measured)", f"{seconds:.0f} s")
    times = sum(loops.values()) / total
    good &= line("times faster than the loops", f"{times:.0f}", f"> {FASTER:.0f}", good=times > FASTER)
    started = time.perf_counter()
    for values in found.values():
        for topic in range(values.shape[1]):
            rank_people(values[:, topic])
    line("ranks of everybody, 14 measures and 12 topics", f"{time.perf_counter() - started:.2f} s")
    started = time.perf_counter()
    Bootstrap().intervals(MEASURES["lda-dt"], question, 0, found[MEASURES["lda-dt"]])
    line("intervals of one person, lda-dt, 12 topics, 1000 resamples", f"{time.perf_counter() - started:.2f} s")
    return good


def streaming(question: RiskQuestion, texts: list[str]) -> bool:
    """Posts that come in one by one, from people who are there and from new ones, into all ranks."""
    started = time.perf_counter()
    state = RiskState.of(question, list(MEASURES.values()))
    line("a state of everybody, for posts to come in", f"{time.perf_counter() - started:.1f} s")
    spent = []
    for number, text in enumerate(texts):
        name = question.people.ids[number].as_py() if number % 4 else f"new {number}"
        when = datetime.fromtimestamp(1_570_000_000 + number, tz=UTC)
        started = time.process_time()
        state.add(people_of_arrivals([Arrival(person=name, text=text, when=when)], analyser=READING))
        state.standings(name)
        spent.append(time.process_time() - started)
    middle = 1000 * float(np.median(spent))
    good = middle < ARRIVAL
    return line(
        "a new post into all ranks (median processor time)", f"{middle:.1f} ms", f"< {ARRIVAL:.0f} ms", good=good
    )


def training(table: pa.Table, people: People) -> bool:
    """Latent topics of all posts, on all cores."""
    clock, processor = time.perf_counter(), time.process_time()
    authors = table.column("author_id").to_pylist()
    train_topics(table.column("text"), topics=LATENT, people=authors, threads=None)
    line(f"training {LATENT} latent topics", f"{(time.perf_counter() - clock) / 60:.1f} min")
    minutes = (time.process_time() - processor) / 60 / CORES
    limit = TRAIN_MINUTES * people.entries / FULL
    what = f"  its processor time on {CORES} cores"
    return line(what, f"{minutes:.1f} min", f"< {limit:.1f} min", good=minutes < limit)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posts", type=int, default=200_000)
    parser.add_argument("--people", type=int, default=0, help="a twentieth of the posts if not said")
    parser.add_argument("--train", action="store_true")
    asked = parser.parse_args()
    _, chosen = choose_topics(default_taxonomy(), 52)
    topics = tuple(topic.id for topic in chosen)
    table = made_posts(asked.posts, asked.people or max(asked.posts // 20, 1), SEED)
    read_people(table.slice(0, 10), analyser=READING)  # compiles
    started = time.perf_counter()
    people = read_people(table, analyser=READING)
    reading = time.perf_counter() - started
    facts = people.facts
    print(
        f"{facts.entries:,} posts of {facts.people:,} people, {facts.words:,} words, {len(people.bags.words):,} pairs"
    )
    line("reading", f"{reading:.1f} s")
    texts = table.column("text").slice(0, ARRIVALS).to_pylist()
    if not asked.train:
        del table
    models = made_models(people, TopicSet.default(), SEED)
    columns = make_space("w2v", topics, models, READING, domains=True).layout.columns
    line(f"{len(topics)} topics, with their domains", f"{columns}")
    question = RiskQuestion(people=people, topics=topics, models=models)
    good = scoring(question, reading)
    good &= streaming(question, texts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    good &= line(
        "memory, the making of the posts included", f"{peak:.1f} GB", f"< {GIGABYTES:.0f} GB", good=peak < GIGABYTES
    )
    if asked.train:
        good &= training(table, people)
    return 0 if good else 3


if __name__ == "__main__":
    sys.exit(main())
