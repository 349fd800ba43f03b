import pytest

from aidos.core.ranking import Ranking
from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.keeper import open_store
from aidos.rooms.fairness.reranker import Reranker

RANKING = Ranking(("a", "b", "c"), (3.0, 2.0, 1.0))


def test_a_store_goes_on_where_the_re_ranker_was(tmp_path):
    path, equity = tmp_path / "attention.store", EquityOfAttention(attention="singular", half_life=20.0)
    counting = equity.reranker()
    expected = [counting.rank(RANKING).subject_ids for _ in range(6)]
    found = []
    for _ in range(3):
        with open_store(equity, path) as keeper:
            found += [Reranker(equity, keeper).rank(RANKING).subject_ids for _ in range(2)]
    assert found == expected


@pytest.mark.parametrize("changes", [{"attention": "geometric"}, {"half_life": 5.0}, {"level": "actor"}])
def test_a_re_ranker_of_other_settings_is_refused(tmp_path, changes):
    given = {"attention": "singular", "half_life": 20.0}
    open_store(EquityOfAttention(**given), tmp_path / "attention.store").close()
    with pytest.raises(ParameterError, match="other settings"):
        open_store(EquityOfAttention(**given | changes), tmp_path / "attention.store")


def test_a_store_that_must_be_there_is_not_made(tmp_path):
    with pytest.raises(InputError):
        open_store(EquityOfAttention(), tmp_path / "nowhere.store", create=False)
    assert not (tmp_path / "nowhere.store").exists()
