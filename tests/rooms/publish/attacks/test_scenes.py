import numpy as np

from aidos.rooms.publish.attacks.scenes import SEPARATOR, ClickScene, PairScene, QueryScene, asked

PEOPLE = "select user_query, count(distinct client_id) from {table} group by 1"
PAIRS = """
    select q || chr(31) || n, count(distinct client_id) from (
        select client_id, user_query as q, lead(user_query) over (partition by client_id order by "timestamp") as n
        from {table}
    ) where n is not null group by 1
"""


def test_every_guess_has_its_sybils_and_in_every_second_trial_its_victim(nobody):
    scene = QueryScene(trials=6, items=2)
    people = dict(scene.plant(nobody, 3).rows(PEOPLE))
    assert scene.observe(people).tolist() == [[3, 3], [4, 4]] * 3
    assert asked(6).tolist() == [False, True] * 3
    assert set(people) == set(scene.guesses())


def test_without_sybils_only_the_victims_are_there(nobody):
    seen = QueryScene(trials=4).observe(dict(QueryScene(trials=4).plant(nobody, 0).rows(PEOPLE)))[:, 0]
    assert np.isneginf(seen).tolist() == [True, False, True, False]


def test_with_a_decoy_every_victim_is_somewhere(nobody):
    count = "select count(distinct client_id), count(distinct user_query) from {table}"
    assert QueryScene(trials=4, decoy=True).plant(nobody, 0).rows(count) == [(4, 4)]
    assert QueryScene(trials=4).plant(nobody, 0).rows(count) == [(2, 2)]


def test_rung_n_of_the_ladder_has_n_sybils(nobody):
    scene = QueryScene(trials=9)
    assert scene.observe(dict(scene.ladder(nobody, 5).rows(PEOPLE)))[:6, 0].tolist() == [1, 2, 3, 4, 5, -np.inf]


def test_every_trial_has_a_pair_of_its_own_and_every_known_query_its_crowd(nobody):
    scene = PairScene(trials=7, crowd=20)
    log = scene.plant(nobody, 2)
    assert len(scene.known_queries()) == 4
    assert scene.observe(dict(log.rows(PAIRS)))[:, 0].tolist() == [2, 3, 2, 3, 2, 3, 2]
    assert all(count >= 20 for _, count in log.rows(PEOPLE))
    assert scene.observe(dict(scene.ladder(nobody, 5).rows(PAIRS)))[:5, 0].tolist() == [1, 2, 3, 4, 5]
    assert SEPARATOR.join(scene.known_queries()[:2]) in dict(log.rows(PAIRS))


def test_a_click_is_a_row_with_a_result(nobody):
    scene = ClickScene(trials=4)
    clicks = "select user_query || chr(31) || object_id, count(distinct client_id) from {table} group by 1"
    assert scene.observe(dict(scene.plant(nobody, 2).rows(clicks)))[:, 0].tolist() == [2, 3, 2, 3]
    assert scene.observe(dict(scene.ladder(nobody, 4).rows(clicks)))[:, 0].tolist() == [1, 2, 3, 4]
    assert {query for query, _ in scene.results()} == {"known"}


def test_the_crowd_stays_in_the_log(nobody):
    scene = QueryScene(trials=2)
    twice = scene.plant(scene.plant(nobody, 1), 1)
    assert twice.count() == 2 * scene.plant(nobody, 1).count()
