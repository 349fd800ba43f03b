"""Made-up result pages for the tests: a small taxonomy, results about its topics, and engines that lift one of them."""

import numpy as np

from aidos.core.resultpairs import Fetch, Result, ResultPair
from aidos.core.taxonomy import Taxonomy, Topic
from aidos.rooms.audit.topics.space import GivenTopics

WORDS = {
    "jazz": "saxophone swing trumpet bebop",
    "opera": "aria tenor soprano libretto",
    "diabetes": "insulin glucose diabetic sugar",
    "asthma": "inhaler wheezing bronchial breathing",
    "tennis": "racket wimbledon serve backhand",
    "rowing": "oar regatta boat stroke",
}
ABOVE = {
    "jazz": "music",
    "opera": "music",
    "diabetes": "health",
    "asthma": "health",
    "tennis": "sport",
    "rowing": "sport",
}
TAXONOMY = Taxonomy.of(
    [
        Topic("all", "", "Everything"),
        *(Topic(name, "all", name.title()) for name in ("music", "health", "sport")),
        *(Topic(name, ABOVE[name], name.title(), words=tuple(words.split())) for name, words in WORDS.items()),
    ]
)
TOPICS = tuple(WORDS)


def result(topic, number):
    words = WORDS[topic].split()
    return Result(
        url=f"https://{topic}.example/{number}",
        title=f"{words[number % 4]} {words[(number + 1) % 4]}",
        snippet=f"more about {words[(number + 2) % 4]} and {topic}",
    )


def shuffled(generator, results, lifted, strength):
    """Noise on ranks, and results of the lifted topic higher up."""
    scores = [
        rank + generator.normal(0, 0.7) - strength * (lifted is not None and f"//{lifted}." in each.url)
        for rank, each in enumerate(results)
    ]
    return tuple(results[place] for place in np.argsort(scores, kind="stable"))


def by_lot(number, again):
    """Lists from one place and variant, asked in an order that chance gave."""
    turns = np.random.default_rng([number, 77]).permutation(3 if again else 2) + 1
    return tuple(Fetch(place="here", turn=int(turn), bucket="usual") for turn in turns)


def ask(generator, *, queries=120, length=6, lifted="diabetes", strength=4.0, rate=0.7, again=False, written_down=True):
    """Pairs of lists that mix all topics; the lifted topic rises in most of them."""
    found = []
    for number in range(queries):
        topics = generator.permutation(TOPICS)[:length]
        results = tuple(result(str(topic), int(generator.integers(40))) for topic in topics)
        on = lifted if generator.random() < rate else None
        found.append(
            ResultPair(
                query=f"query {number}",
                vanilla=shuffled(generator, results, None, 0),
                personalised=shuffled(generator, results, on, strength),
                again=shuffled(generator, results, None, 0) if again else None,
                fetches=by_lot(number, again) if written_down else (),
            )
        )
    return found


def given_topics(pairs):
    """A table that says what each result is about."""
    urls = {each.url for pair in pairs for each in (*pair.vanilla, *pair.personalised)}
    return GivenTopics({url: {url.split("//")[1].split(".")[0]: 1.0} for url in urls})
