"""The observer who knows the algorithm: exact by hand and by brute force, and what each rule gives her."""

from itertools import product

import numpy as np
import pytest
from ups_cases import Hits, golden

from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.adversary import Observer, Rule, Sight, play, unasked
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
from aidos.rooms.shield.profile.guessing import guess
from aidos.studies.ups.eavesdropping import small_world

EXCESS, PAPER = (Rule(mechanism=ProfileGeneralisation(risk=risk)) for risk in ("excess", "paper"))
REMEMBERING = Rule(mechanism=ProfileGeneralisation(risk="excess"), remembers=True)


def places(case, *names):
    return np.array([case.tree.places[name] for name in names], np.int32)


def observer():
    case = golden()
    leaves = np.flatnonzero(case.tree.sizes == 1).astype(np.int32)
    common = np.linspace(0.2, 0.6, len(leaves))
    return case, Observer(
        tree=case.tree, topics=leaves, sensitive=np.sort(places(case, "Figure", "Depression")), common=common
    )


def test_beliefs_are_those_of_bayes_rule_over_all_that_could_be_held():
    case, watching = observer()
    wanted = places(case, "Figure", "Depression", "Sports")
    ids = [case.tree.ids[place] for place in watching.topics]
    queries = [{"Figure": 1.0, "Jazz": 2.0}, {"Depression": 1.0, "Figure": 0.5}, {"Figure": 1.0}]
    total, right = 0.0, np.zeros(3)
    for held in product([False, True], repeat=len(ids)):
        mine = {topic for topic, has in zip(ids, held, strict=True) if has}
        chance = np.prod([c if has else 1 - c for has, c in zip(held, watching.common, strict=True)])
        for query in queries:
            anything = 0.3 if mine else 1.0
            wants = {t: anything / len(ids) + (1 - anything) * (t in mine) / max(len(mine), 1) for t in query}
            chance *= sum(score * wants[topic] for topic, score in query.items())
        sports = mine & {"EaglesNFL", "GiantsNFL", "Figure", "Speed"}
        total += chance
        right += chance * np.array(["Figure" in mine, "Depression" in mine, bool(sports)])
    sights = [Sight(hits=Hits(places(case, *query), np.array(list(query.values())))) for query in queries]
    assert watching.exactly(sights, None, wanted) == pytest.approx(right / total)
    plain = watching.exactly([], None, wanted)
    assert plain[:2] == pytest.approx(watching.common[[ids.index("Figure"), ids.index("Depression")]])


def test_what_was_plainly_shown_is_certain_and_what_nobody_would_send_is_refused():
    case, watching = observer()
    query = Hits(places(case, "Figure", "Jazz", "Diet"), np.ones(3))
    seen = Sight(hits=query, shown=places(case, "root", "Arts", "Music", "Jazz"))
    assert watching.exactly([seen], None, places(case, "Jazz", "Arts")) == pytest.approx([1, 1])
    impossible = Sight(hits=query, shown=places(case, "root", "Health", "Depression"))
    with pytest.raises(InputError, match="nobody"):
        watching.exactly([impossible], Rule(), places(case, "Figure"))
    many = Observer(tree=case.tree, topics=np.arange(15), sensitive=watching.sensitive, common=np.full(15, 0.5))
    with pytest.raises(ParameterError, match="at most 14"):
        many.exactly([], None, watching.sensitive)


def attack(rule, people, queries):
    """What is guessed of some people under a rule, beside from queries alone, and with all unmarked interests told."""
    outcomes = []
    for number in people:
        draws = np.random.default_rng(number)
        watching, held = small_world(draws)
        asked = watching.asking(held, queries, draws)
        sights = [
            Sight(hits=hits, shown=sent)
            for hits, sent in zip(asked, play(rule, watching.tree, *watching.holding(held), asked), strict=True)
        ]
        alone = [Sight(hits=hits) for hits in asked]
        truth = np.isin(watching.sensitive, watching.topics[held])
        shown = np.isin(watching.sensitive, np.concatenate([sight.shown for sight in sights]))
        told = watching.exactly(sights, rule, watching.sensitive)
        bound = watching.exactly(alone, None, watching.sensitive, told=held)
        naive = watching.exactly(alone, None, watching.sensitive)
        outcomes.append((told, bound, naive, truth, shown))
    return outcomes


def mean(outcomes, which, what):
    return float(np.nanmean([getattr(guess(each[which], each[3], each[4]), what) for each in outcomes]))


def test_the_observer_of_the_default_rule_knows_what_the_unmarked_interests_tell_and_no_more():
    """Where everything unmarked is known already, the profiles sent change no belief at all: that is the promise."""
    for number in range(6):
        draws = np.random.default_rng(number)
        watching, held = small_world(draws)
        asked = watching.asking(held, 6, draws)
        sent = play(Rule(), watching.tree, *watching.holding(held), asked)
        sights = [Sight(hits=hits, shown=shown) for hits, shown in zip(asked, sent, strict=True)]
        alone = [Sight(hits=hits) for hits in asked]
        told = watching.exactly(sights, Rule(), watching.sensitive, told=held)
        assert told == pytest.approx(watching.exactly(alone, None, watching.sensitive, told=held), abs=1e-12)


@pytest.mark.slow
def test_the_default_rule_tells_no_more_than_queries_and_unmarked_interests():
    outcomes = attack(Rule(), range(25), 8)
    # By the information inequality; the samples are few, and the two observers see the same.
    assert mean(outcomes, 0, "loss") >= mean(outcomes, 1, "loss") - 0.03
    assert mean(outcomes, 0, "shown") == 0


@pytest.mark.slow
@pytest.mark.parametrize("rule", [EXCESS, REMEMBERING, PAPER], ids=["excess", "remembering", "paper"])
def test_the_observer_catches_the_paper_s_rule(rule):
    outcomes, blind = attack(rule, range(12), 8), attack(Rule(), range(12), 8)
    assert mean(outcomes, 0, "found") > mean(blind, 0, "found") + 0.25
    assert mean(outcomes, 0, "loss") < 0.6 * mean(blind, 0, "loss")
    for told, _, _, truth, _ in outcomes:  # She knows the truth to be possible.
        assert (told[truth] > 0).all()
        assert (told[~truth] < 1).all()


@pytest.mark.slow
def test_beliefs_of_the_default_rule_are_right_as_often_as_they_say():
    outcomes = attack(Rule(), range(40), 6)
    told, truth = (np.concatenate([each[which] for each in outcomes]) for which in (0, 3))
    # Calibrated in the large: 5 standard errors of a sum of independent coin tosses of these chances.
    assert abs(truth.sum() - told.sum()) <= 5 * np.sqrt((told * (1 - told)).sum() + 1)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [None, Rule(), EXCESS], ids=["queries", "unmarked", "excess"])
def test_the_walk_comes_near_the_exact_beliefs(rule):
    gaps = []
    for number in range(4):
        draws = np.random.default_rng(number)
        watching, held = small_world(draws)
        asked = watching.asking(held, 5, draws)
        shown = (
            [np.zeros(0, np.int32)] * 5
            if rule is None
            else list(play(rule, watching.tree, *watching.holding(held), asked))
        )
        sights = [Sight(hits=hits, shown=sent) for hits, sent in zip(asked, shown, strict=True)]
        exact = watching.exactly(sights, rule, watching.sensitive)
        walked = watching.by_sampling(sights, rule, watching.sensitive, draws, steps=3_000 if rule is None else 1_000)
        gaps += np.abs(exact - walked).tolist()
    assert np.mean(gaps) < (0.04 if rule is None else 0.12)


def test_topics_that_end_a_profile_and_were_not_asked_for_are_found():
    case = golden()
    shown = places(case, "root", "Arts", "Music", "EaglesBand", "Sports", "IceSkating")
    assert unasked(case.tree, Sight(hits=case.hits, shown=np.sort(shown))).tolist() == [case.tree.places["IceSkating"]]
