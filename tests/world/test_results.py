from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pyarrow as pa
import pytest

from aidos.world.documents import document_blocks, document_count
from aidos.world.results import (
    DEPTH,
    Audit,
    SearchIndex,
    account_audit,
    account_count,
    build_index,
    result_blocks,
)
from aidos.world.size import World
from aidos.world.truth import truth_blocks
from aidos.world.vocabulary import Vocabulary

TINY = World("tiny")
LARGER = World(10_000)


@pytest.fixture(scope="module")
def documents() -> list[dict[str, str]]:
    return pa.concat_tables(document_blocks(TINY)).to_pylist()


@pytest.fixture(scope="module")
def index(vocabulary: Vocabulary) -> SearchIndex:
    return build_index(TINY, vocabulary)


@pytest.fixture(scope="module")
def larger(vocabulary: Vocabulary) -> SearchIndex:
    return build_index(LARGER, vocabulary)


@pytest.fixture(scope="module")
def audits(vocabulary: Vocabulary, larger: SearchIndex) -> list[Audit]:
    return [account_audit(LARGER, vocabulary, larger, account) for account in range(account_count(LARGER))]


def tokens(document: dict[str, str]) -> list[str]:
    return [word.strip(".").lower() for word in (document["title"] + " " + document["text"]).split()]


def test_documents_have_their_topics_words(documents: list[dict[str, str]], vocabulary: Vocabulary) -> None:
    assert len(documents) == document_count(TINY, vocabulary)
    lists = {
        topic.id: {vocabulary.words[number] for number in numbers}
        for topic, numbers in zip(vocabulary.topics, vocabulary.topic_words, strict=True)
    }
    background = {vocabulary.words[number] for number in vocabulary.background}
    for document in documents:
        found = set(tokens(document))
        assert found <= lists[document["topic"]] | lists[document["second_topic"]] | background
        assert document["topic"] != document["second_topic"]
        assert document["text"].startswith(document["snippet"])


def test_addresses_of_documents_are_unique(documents: list[dict[str, str]]) -> None:
    assert len({document["object_id"] for document in documents}) == len(documents)


def test_the_vanilla_ranking_is_query_likelihood(
    documents: list[dict[str, str]], index: SearchIndex, vocabulary: Vocabulary
) -> None:
    counts = [Counter(tokens(document)) for document in documents]
    lengths = [sum(count.values()) for count in counts]
    whole = sum(counts, Counter[str]())
    mu = sum(lengths) / len(lengths)

    def likelihood(words: list[str], place: int) -> float:
        shares = [whole[word] / sum(lengths) for word in words]
        return sum(
            log((counts[place][word] + mu * share) / (lengths[place] + mu))
            for word, share in zip(words, shares, strict=True)
        )

    for topic in (0, 13, 45):
        chosen = vocabulary.topic_words[topic, [0, 7, 22]].tolist()
        words = [vocabulary.words[number] for number in chosen]
        slow = np.array([likelihood(words, place) for place in range(len(documents))])
        assert np.allclose(index.scores(chosen), slow)
        best = index.best(chosen, DEPTH)
        assert slow[best].tolist() == pytest.approx(sorted(slow.tolist(), reverse=True)[:DEPTH])


def test_result_lists_mix_topics(index: SearchIndex, vocabulary: Vocabulary) -> None:
    lists = [index.best(vocabulary.topic_words[topic, 20:22].tolist(), DEPTH) for topic in range(52)]
    assert np.mean([len(set(index.topics[shown].tolist())) for shown in lists]) > 3


def test_both_lists_hold_the_same_results(audits: list[Audit]) -> None:
    for audit in audits:
        for vanilla, personalised in zip(audit.vanilla, audit.personalised, strict=True):
            assert len(set(vanilla.tolist())) == DEPTH
            assert set(vanilla.tolist()) == set(personalised.tolist())


def rise(audit: Audit, index: SearchIndex, place: int) -> float:
    """How many ranks the results that match the profile rose, on average; not a number when none or all do."""
    vanilla, personalised = audit.vanilla[place], audit.personalised[place].tolist()
    liked = audit.weights[index.topics[vanilla]] > 0
    if not liked.any() or liked.all():
        return float("nan")
    return float(np.mean([rank - personalised.index(vanilla[rank]) for rank in np.flatnonzero(liked)]))


def test_the_service_personalises_as_often_as_the_truth_says(audits: list[Audit]) -> None:
    queries = len(audits[0].switched)
    for audit in audits:
        assert 0.3 <= audit.rate <= 0.7
        assert abs(audit.switched.mean() - audit.rate) < 4 * np.sqrt(audit.rate * (1 - audit.rate) / queries)
    everywhere = np.mean([audit.switched.mean() for audit in audits])
    assert everywhere == pytest.approx(np.mean([audit.rate for audit in audits]), abs=0.03)


def test_liked_results_rise_only_when_the_switch_is_on(audits: list[Audit], larger: SearchIndex) -> None:
    on = [rise(audit, larger, place) for audit in audits for place in np.flatnonzero(audit.switched)]
    off = [rise(audit, larger, place) for audit in audits for place in np.flatnonzero(~audit.switched)]
    assert np.nanmean(on) > 0.4
    assert abs(np.nanmean(off)) < 0.06


def test_the_table_shows_pairs_of_lists_and_no_truth() -> None:
    table = pa.concat_tables(result_blocks(TINY))
    assert table.column_names == [
        "client_id",
        "query_id",
        "user_query",
        "ranking",
        "position",
        "object_id",
        "title",
        "snippet",
    ]
    assert table.num_rows == account_count(TINY) * 40 * 2 * DEPTH
    assert table["ranking"].slice(0, 2 * DEPTH).to_pylist() == ["vanilla"] * DEPTH + ["personalised"] * DEPTH


def test_the_truth_knows_profiles_and_switches() -> None:
    facts = Counter(pa.concat_tables(truth_blocks(TINY))["fact"].to_pylist())
    assert facts["switched"] == account_count(TINY) * 40
    assert facts["switch-rate"] == account_count(TINY)
    assert 3 * account_count(TINY) <= facts["profile"] <= 7 * account_count(TINY)
    assert sum(facts[role] for role in ("ordinary", "afflicted", "professional", "curious")) == TINY.people
