"""The informed adversary equals the plain formula, finds planted authors, and is blind where nothing tells them."""

from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts
from aidos.rooms.shield.mediator.adversary import InformedAdversary, Texts
from aidos.rooms.shield.mediator.assignment import Assignment, one_account, own_accounts
from aidos.rooms.shield.mediator.objects import Objects

HALF = 0.5


def texts_of(rows):
    return Texts(starts=np.cumsum([0, *map(len, rows)]), words=np.array([word for row in rows for word in row], int))


def community(seed, *, people=20, each=60, topics=8, own_words=0.3, interests=0.3):
    """People with interests and with words of their own among words that everybody uses."""
    draws = np.random.default_rng(seed)
    tastes = draws.dirichlet(np.full(topics, interests), people)
    chosen = np.concatenate([draws.choice(topics, each, p=taste) for taste in tastes])
    order = draws.permutation(people * each)
    who = np.repeat(np.arange(people), each)[order]
    words = draws.integers(0, 50, (people * each, 4))
    own = 50 + who[:, None] * 5 + draws.integers(0, 5, words.shape)
    rows = np.where(draws.random(words.shape) < own_words, own, words)
    return Objects(people=who, topics=chosen[order]), texts_of(rows.tolist())


def plain_scores(objects, rows, known, smoothing):
    """A function of (words, topic): every person's score by the formula, nothing left out and nothing precomputed."""
    people = objects.people_count
    width = max([word for row in rows for word in row], default=0) + 1
    mine = [[word for i in known if objects.people[i] == who for word in rows[i]] for who in range(people)]
    all_words = [word for each in mine for word in each]
    share = [(all_words.count(word) + HALF) / (len(all_words) + HALF * width) for word in range(width)]
    kinds = max(objects.topics.tolist()) + 1

    def score(words, topic):
        found = []
        for who in range(people):
            asked = sum(objects.people[i] == who for i in known)
            on_topic = sum(objects.people[i] == who and objects.topics[i] == topic for i in known)
            popular = (sum(objects.topics[i] == topic for i in known) + HALF) / (len(known) + HALF * kinds)
            # How much she asks, times how much of it is about the topic, two queries being everybody's.
            total = log((asked + HALF) * (on_topic + 2 * popular) / (asked + 2))
            for word in words:
                uses = mine[who].count(word)
                total += log((uses + smoothing * share[word]) / (len(mine[who]) + smoothing))
            found.append(total)
        return found

    return score


@st.composite
def scenes(draw):
    number = draw(st.integers(1, 24))
    people = draw(st.lists(st.integers(0, 3), min_size=number, max_size=number))
    topics = draw(st.lists(st.integers(0, 2), min_size=number, max_size=number))
    chosen = draw(st.lists(st.integers(0, 2), min_size=number, max_size=number))
    rows = draw(st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=number, max_size=number))
    objects = Objects(people=np.array(people), topics=np.array(topics))
    made = Assignment(accounts=3, chosen=np.array(chosen), noise_source="none")
    return objects, made, rows, draw(st.sampled_from([1.0, 500.0])), draw(st.integers(0, 99))


def names(scores):
    """Who may be named: rounding may tell ties apart."""
    return {who for who, score in enumerate(scores) if score >= max(scores) - 1e-9}


@given(scenes())
def test_authors_are_those_of_the_formula_written_out(scene):
    objects, made, rows, smoothing, seed = scene
    informed = InformedAdversary(smoothing=smoothing, seed=seed).learn(objects, texts_of(rows))
    found = informed.attack(made)
    seen = informed.seen.tolist()
    known = [i for i in range(len(objects)) if i not in seen]
    score = plain_scores(objects, rows, known, smoothing)
    least, most, alone_least, alone_most = (np.zeros(objects.people_count) for _ in range(4))
    for i in seen:
        who = objects.people[i]
        cell = [j for j in seen if made.chosen[j] == made.chosen[i] and objects.topics[j] == objects.topics[i]]
        named = names(score([word for j in cell for word in rows[j]], objects.topics[i]))
        least[who] += named == {who}
        most[who] += who in named
        named = names(score(rows[i], objects.topics[i]))
        alone_least[who] += named == {who}
        alone_most[who] += who in named
    for who in range(objects.people_count):
        asked = sum(objects.people[i] == who for i in seen)
        if not asked:
            assert np.isnan(found.by_account[who])
            assert np.isnan(found.main_account[who])
            continue
        assert least[who] <= round(found.by_account[who] * asked) <= most[who]
        assert alone_least[who] <= round(found.by_words[who] * asked) <= alone_most[who]


@given(st.integers(0, 10**6))
@example(1251)  # two people fit a group equally well, up to the last digit
def test_the_main_account_is_that_with_most_of_what_was_taken_for_hers(seed):
    draws = np.random.default_rng(seed)
    objects, texts = community(seed, people=4, each=12, topics=3, own_words=draws.random())
    made = Assignment(accounts=5, chosen=draws.integers(0, 5, 48), noise_source="none")
    informed = InformedAdversary().learn(objects, texts)
    found = informed.attack(made)
    rows = [texts.words[a:b].tolist() for a, b in zip(texts.starts, texts.starts[1:], strict=False)]
    known = [i for i in range(48) if i not in informed.seen]
    score = plain_scores(objects, rows, known, 500.0)
    cells = {}
    for i in informed.seen.tolist():
        cells.setdefault((int(made.chosen[i]), int(objects.topics[i])), []).append(i)
    scored = {cell: score([word for i in held for word in rows[i]], cell[1]) for cell, held in cells.items()}
    for who in range(4):
        held = np.zeros(5)
        for (account, _), numbers in cells.items():
            held[account] += sum(objects.people[i] == who for i in numbers)
        behind = {cell: max(scores) - scores[who] for cell, scores in scored.items()}
        # Sums in another order differ in their last digits: groups that are equally close may stand for each other,
        # and a group that fits two people equally well may be taken for either's.
        closest = {cell[0] for cell, gap in behind.items() if gap <= min(behind.values()) + 1e-9}
        hers = [cell for cell, gap in behind.items() if gap <= 1e-9]
        others = {cell: np.sort(scored[cell])[-2] for cell in hers}
        shared = [cell for cell in hers if max(scored[cell]) - others[cell] <= 1e-9]
        guesses = set()
        for number in range(len(shared) + 1):
            for left_out in combinations(shared, number):
                taken = np.zeros(5)
                for cell in set(hers) - set(left_out):
                    taken[cell[0]] += len(cells[cell])
                guesses |= {int(taken.argmax())} if taken.any() else closest
        assert found.main_account[who] in {held[guess] == held.max() for guess in guesses}
        assert found.main_chance[who] == (held == held.max()).sum() / 5


def test_planted_authors_are_found_behind_their_own_accounts_and_less_so_the_more_is_scattered():
    objects, texts = community(1)
    informed = InformedAdversary().learn(objects, texts)
    own = informed.attack(own_accounts(objects))
    # Thirty queries with words of one's own tell an author for sure, four words often do not.
    assert own.by_account.mean() > 0.95
    assert own.main_account.mean() > 0.95
    assert own.main_chance.mean() == pytest.approx(1 / 20)
    assert own.by_words.mean() < 0.9
    shares = [
        informed.attack(MediatorAccounts(heuristic="original", alpha=alpha).run(objects, Noise(1))).by_account.mean()
        for alpha in (0.0, 0.5, 1.0)
    ]
    assert own.by_account.mean() >= shares[0] > shares[1] > shares[2]


def test_accounts_that_say_nothing_leave_what_words_say():
    objects, texts = community(2)
    informed = InformedAdversary().learn(objects, texts)
    pooled = informed.attack(MediatorAccounts(people_per_pool=2).run(objects, Noise(1)))
    assert (pooled.best == pooled.by_words).all()
    assert (informed.attack(one_account(objects)).by_words == pooled.by_words).all()


def test_where_neither_words_nor_topics_tell_people_apart_she_guesses():
    objects, texts = community(3, people=10, each=400, topics=1, own_words=0.0)
    found = InformedAdversary().learn(objects, texts).attack(own_accounts(objects))
    # 2,000 blind guesses among ten people: five standard deviations, off by chance less than once in a million.
    assert abs(found.by_words.mean() - 0.1) < 5 * np.sqrt(0.09 / 2000)


def test_whole_texts_tell_more_than_the_queries_made_from_them():
    objects, queries = community(4)
    draws = np.random.default_rng(4)
    whole = texts_of((50 + objects.people[:, None] * 5 + draws.integers(0, 5, (len(objects), 20))).tolist())
    made = one_account(objects)
    few, many = (InformedAdversary().learn(objects, queries, told).attack(made) for told in (None, whole))
    assert many.by_words.mean() > few.by_words.mean() + 0.05


def test_memory_is_bounded_by_people_and_texts_not_by_their_product():
    people, each = 3000, 4
    objects = Objects(people=np.repeat(np.arange(people), each), topics=np.tile(np.arange(each), people))
    texts = texts_of((objects.people[:, None] + np.zeros((1, 2), int)).tolist())
    found = InformedAdversary().learn(objects, texts).attack(own_accounts(objects))
    assert found.by_account.mean() == 1


def test_bad_parameters_and_other_peoples_texts_are_refused():
    objects, texts = community(5, people=2, each=3)
    for wrong in ({"known": 0.0}, {"known": 1.0}, {"smoothing": 0.0}):
        with pytest.raises(ParameterError):
            InformedAdversary(**wrong)
    with pytest.raises(InputError, match="6 objects but 5"):
        InformedAdversary().learn(objects, texts.taken(np.arange(5)))
    informed = InformedAdversary().learn(objects, texts)
    with pytest.raises(InputError, match="3 accounts"):
        informed.attack(Assignment(accounts=2, chosen=np.zeros(3, int), noise_source="none"))
