"""The thesis' facts on a world like its own, rankings against plain definitions, and work that is kept."""

from itertools import pairwise
from math import log

import numpy as np
import pytest

from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.language import Background, LanguageModel, personalise
from aidos.model.retrieval.search import search
from aidos.rooms.shield.mediator.accounts import MediatorAccounts, SharedAccounts
from aidos.rooms.shield.mediator.measures import coherence_losses, entropies, measure
from aidos.studies.mediator.derivation import Derivation, index_answers
from aidos.studies.mediator.searches import Searches
from aidos.studies.mediator.study import MEASURES, OWN_ACCOUNT, THESIS, MediatorStudy
from aidos.studies.mediator.world import ThesisWorld, thesis_world, write_posts
from oracles.agreement import jaccard_loss, kendall_loss


@pytest.fixture(scope="module")
def searched():
    objects = ThesisWorld(people=30, topics=12, least_queries=40).draw(3)
    table = write_posts(objects, 3, answers=1500)
    index = index_answers(table)
    log_made = Derivation(least_questions=40).derive(table, index)
    return log_made, index, Searches(log_made, index, queries_per_person=10)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_world_has_the_size_and_the_entropies_of_the_thesis(seed):
    objects = thesis_world(seed)
    assert objects.people_count == 975
    assert len(objects) == pytest.approx(253_000, rel=0.01)
    assert objects.labels.max() < 142
    for alpha in (0.0, 1.0):
        assignment = MediatorAccounts(alpha=alpha, heuristic="original").run(objects, Noise(seed))
        assert entropies(objects, assignment).mean() == pytest.approx(THESIS[alpha][0], rel=0.03)
        assert coherence_losses(objects, assignment).mean() == pytest.approx(THESIS[alpha][1], abs=0.03)


def test_large_and_diverse_profiles_gain_most():
    objects = thesis_world(5)
    found = measure(objects, MediatorAccounts(alpha=0.4, heuristic="original").run(objects, Noise(5)))
    # With 975 people a correlation of 0.2 comes by chance less than once in 10^9.
    assert np.corrcoef(np.log(found.objects), found.entropy)[0, 1] > 0.2
    assert np.corrcoef(found.diversity, found.entropy)[0, 1] > 0.5


def test_the_law_of_interests_is_that_of_the_closed_form():
    # Without a tail (discount 0) two queries share a topic with probability 1 / (1 + strength).
    objects = ThesisWorld(people=2000, topics=60, least_queries=50, discount=0.0, strength=1.0).draw(1)
    random = MediatorAccounts(accounts=10**6, alpha=1.0, heuristic="original").run(objects, Noise(1))
    losses = coherence_losses(objects, random)
    assert abs(losses.mean() - 0.5) < 5 * losses.std() / np.sqrt(2000)
    with pytest.raises(ParameterError, match="strength"):
        ThesisWorld(discount=0.1, strength=-0.2)


def curve(objects, heuristic, alphas):
    """Mean entropy and mean coherence loss, by alpha."""
    made = [MediatorAccounts(alpha=alpha, heuristic=heuristic).run(objects, Noise(9)) for alpha in alphas]
    return (
        np.array([entropies(objects, one).mean() for one in made]),
        np.array([coherence_losses(objects, one).mean() for one in made]),
    )


def test_commons_lose_less_coherence_at_equal_entropy():
    objects = thesis_world(4)
    entropy, loss = curve(objects, "original", np.linspace(0, 1, 11))
    better_entropy, better_loss = curve(objects, "commons", (0.0, 0.2, 0.4, 0.6))
    at_equal_entropy = np.interp(better_entropy, entropy, loss)
    assert (better_entropy < entropy[-1]).all()
    # The curves meet where all is random; before, the gap is many standard errors of the mean (0.01).
    assert (better_loss < at_equal_entropy - 0.03).all()
    assert better_loss[0] < 0.5 * at_equal_entropy[0]


def test_losses_of_rankings_are_those_of_one_search_after_the_other(searched):
    log_made, index, searches = searched
    assignment = MediatorAccounts(alpha=0.5, heuristic="original").run(log_made.objects, Noise(1))
    kendall, jaccard = searches.losses(assignment)
    people = log_made.objects.people

    def models(groups, number):
        made = [LanguageModel() for _ in range(number)]
        for question, (start, end) in enumerate(pairwise(log_made.starts)):
            made[groups[question]].add(log_made.terms[start:end])
        return made

    own, theirs = models(people, 30), models(assignment.chosen, 30)
    backgrounds = [Background.of(own), Background.of(theirs)]
    for person in (0, 7):
        losses = []
        for query in searches.chosen[people[searches.chosen] == person]:
            terms = log_made.queries.terms[log_made.queries.starts[query] : log_made.queries.starts[query + 1]]
            asked = " ".join(index.vocabulary.term(int(term)) for term in terms)
            hits = search(index, asked, size=100)
            mine = personalise(hits, own[person], backgrounds[0]).ids
            other = personalise(hits, theirs[assignment.chosen[query]], backgrounds[1]).ids
            losses.append((kendall_loss(mine, other), jaccard_loss(mine, other)))
        assert len(losses) == 10
        assert np.mean(losses, axis=0) == pytest.approx([kendall[person], jaccard[person]])


def test_all_settings_are_measured_and_who_keeps_her_account_loses_nothing(searched):
    log_made, _, searches = searched
    outcome = MediatorStudy().measure(log_made.objects, searches)
    assert len(outcome.tried) == 15
    for name in ("entropy", "coherence_loss", "least_divergence", "kendall_loss", "jaccard_loss"):
        assert outcome.mean(OWN_ACCOUNT, None, name) == pytest.approx(0, abs=1e-12)
    for name in ("entropy", "coherence_loss", "kendall_loss", "jaccard_loss"):
        assert outcome.mean("original", 1.0, name) > outcome.mean("original", 0.0, name)
    summary = outcome.table().to_pylist()
    assert len(summary) == 15 * len(MEASURES)
    assert all(row["low"] <= row["mean"] <= row["high"] for row in summary)
    row = next(row for row in summary if row["measure"] == "entropy" and row["alpha"] == 0.4)
    values = outcome.of("original", 0.4)["entropy"].to_numpy()
    assert row["mean"] == pytest.approx(values.mean())
    assert row["high"] - row["mean"] == pytest.approx(1.96 * values.std(ddof=1) / np.sqrt(30), rel=1e-4)
    assert outcome.mean("original", 0.4, "entropy") < log(30)
    shown = {(each.heuristic, each.alpha): each for each in outcome.settings()}
    own, pools = shown["own account", None], shown["pools", None]
    # An account of one's own is re-linked more often than what is mixed, and pools no more than words are.
    assert own.means["relinked"] > shown["original", 0.4].means["relinked"] > pools.means["relinked"]
    assert pools.means["relinked"] == outcome.mean("pools", None, "by_words")
    assert (own.epsilon, pools.epsilon, shown["one account", None].epsilon) == (None, 0, 0)
    assert shown["original", 0.4].epsilon == pytest.approx(log(1 + 0.6 * 30 / 0.4))


def test_finished_settings_are_kept_and_other_data_are_refused(tmp_path):
    objects = ThesisWorld(people=10, topics=4, least_queries=20).draw(1)
    study = MediatorStudy(alphas=(0.0, 1.0), heuristics=("original",), output=tmp_path / "kept")
    first = study.measure(objects)
    mark, *files = sorted((tmp_path / "kept").iterdir())
    assert mark.name == "experiment.sha256"
    names = ["one-account", "original-0.0", "original-1.0", "own-account"]
    assert [path.name for path in files] == [f"{name}.parquet" for name in names]
    times = {path: path.stat().st_mtime_ns for path in files[1:]}
    files[0].unlink()
    again = study.measure(objects)
    assert again.table().equals(first.table())
    assert {path: path.stat().st_mtime_ns for path in files[1:]} == times
    with pytest.raises(InputError, match="other data"):
        study.measure(ThesisWorld(people=10, topics=4, least_queries=20).draw(2))
    files[0].write_bytes(b"broken")
    with pytest.raises(InputError, match="cannot be read"):
        study.measure(objects)


TEXTUAL = {"kendall_loss", "jaccard_loss", "by_account", "by_words", "main_account", "main_chance"}


def test_without_searches_neither_rankings_nor_authors_are_measured():
    study = MediatorStudy(alphas=(0.5,), shared=SharedAccounts(people_per_pool=5))
    outcome = study.measure(ThesisWorld(people=5, topics=4, least_queries=9).draw(1), threads=1)
    assert {row["measure"] for row in outcome.table().to_pylist()} == set(MEASURES) - TEXTUAL
    with pytest.raises(InputError, match="not tried"):
        outcome.of("original", 0.1)


def test_impossible_experiments_are_refused(searched):
    log_made, index, searches = searched
    with pytest.raises(ParameterError, match="alpha"):
        MediatorStudy(alphas=(0.5, 1.5))
    with pytest.raises(ParameterError, match="at least one alpha"):
        MediatorStudy(alphas=())
    with pytest.raises(ParameterError, match="each of heuristics must be one of pools, original, commons"):
        MediatorStudy(heuristics=("best",))
    with pytest.raises(ParameterError, match="queries_per_person"):
        Searches(log_made, index, queries_per_person=0)
    with pytest.raises(InputError, match="another log"):
        MediatorStudy().measure(ThesisWorld(people=5, topics=4).draw(1), searches)
    with pytest.raises(ParameterError, match="threads"):
        MediatorStudy().measure(log_made.objects, threads=0)
