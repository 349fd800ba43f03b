import subprocess
import sys

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import SubjectRanking
from aidos.rooms.fairness.terrier import equity_transformer


def results(scores, **columns):
    """A result frame as a retriever returns it; ``scores`` by query."""
    rows = [
        {"qid": qid, "docno": f"d{number}", "score": score, "rank": number}
        for qid, values in scores.items()
        for number, score in enumerate(values)
    ]
    return pd.DataFrame(rows).assign(**columns)


def test_it_is_a_transformer_and_fits_into_a_pipeline():
    frame = results({"q1": [3.0, 2.9, 1.0], "q2": [5.0, 4.0, 3.0]}, query="words", text="more")
    pipeline = pt.Transformer.from_df(frame) >> equity_transformer(attention="singular", quality_floor=0.5)
    assert isinstance(pipeline, pt.Transformer)
    served = pipeline(pd.DataFrame({"qid": ["q1", "q2"], "query": ["a", "b"]}))
    assert sorted(served.columns) == sorted(frame.columns)
    assert len(served) == len(frame)
    assert (served["text"] == "more").all()


def test_the_answers_are_those_of_equity_of_attention():
    rng = np.random.default_rng(3)
    scores = {f"q{number}": list(rng.random(10) + 0.1) for number in range(25)}
    parameters = {"attention": "geometric:positions=3", "quality_floor": 0.8}
    served = equity_transformer(**parameters)(results(scores))
    equity = EquityOfAttention(**parameters).reranker()
    for qid, values in scores.items():
        names = [f"d{number}" for number in range(10)]
        answer = equity.rank(SubjectRanking(subject_ids=names, relevance=np.array(values)))
        assert list(served[served["qid"] == qid]["docno"]) == list(answer.subject_ids)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # PyTerrier's own call, which pandas 3.1 deprecates
def test_score_and_rank_say_the_same_order_to_whoever_sorts():
    served = equity_transformer(attention="singular")(results({"q2": [1.0] * 5, "q1": [2.0, 1.0]}))
    assert list(served["qid"].unique()) == ["q2", "q1"]
    for _, rows in served.groupby("qid"):
        assert list(rows["rank"]) == list(range(len(rows)))
        assert (np.diff(rows["score"]) < 0).all()
        assert (rows["score"] > 0).all()
    again = pt.model.add_ranks(served.drop(columns="rank"))
    assert list(again["rank"]) == list(served["rank"])


def test_other_columns_stay_with_their_rows_and_the_input_stays_as_it_was():
    frame = results({"q": [1.0, 1.0, 1.0]}, mark=["x", "y", "z"])
    frame.index = [7, 7, 9]
    before = frame.copy()
    transformer = equity_transformer(attention="singular")
    for _ in range(4):
        served = transformer(frame)
        assert dict(zip(served["docno"], served["mark"], strict=True)) == {"d0": "x", "d1": "y", "d2": "z"}
    pd.testing.assert_frame_equal(frame, before)


def test_every_pass_counts_until_reset():
    frame = results({"q": [1.0, 1.0, 1.0]})
    transformer = equity_transformer(attention="singular")
    first = [transformer(frame)["docno"].iloc[0] for _ in range(6)]
    assert sorted(first[:3]) == sorted(first[3:]) == ["d0", "d1", "d2"]
    transformer.reset()
    assert [transformer(frame)["docno"].iloc[0] for _ in range(6)] == first


def test_the_rank_decides_among_equals():
    frame = results({"q": [1.0, 1.0, 1.0]}).iloc[::-1]
    assert list(equity_transformer(attention="singular", quality_floor=1.0)(frame)["docno"]) == ["d0", "d1", "d2"]
    without = frame.drop(columns="rank")
    served = equity_transformer(attention="singular", quality_floor=1.0)(without)
    assert list(served["docno"]) == ["d2", "d1", "d0"]
    assert list(served["rank"]) == [0, 1, 2]


def test_subjects_may_stand_in_a_column_of_their_own():
    # Two queries find different documents of the same two people: who came first in one is second in the other.
    frame = pd.DataFrame(
        {
            "qid": ["q1", "q1", "q2", "q2"],
            "docno": ["d1", "d2", "d3", "d4"],
            "score": [1.0, 1.0, 1.0, 1.0],
            "subject_id": ["ada", "ben", "ada", "ben"],
        }
    )
    served = equity_transformer(attention="singular")(frame)
    assert list(served["subject_id"]) == ["ada", "ben", "ben", "ada"]
    assert list(served["docno"]) == ["d1", "d2", "d4", "d3"]


def test_actors_may_have_several_results_and_searchers_a_floor():
    frame = results({"q": [1.0, 1.0, 1.0]}, actor_id=["ada", "ada", "ben"], searcher_id="eve")
    transformer = equity_transformer(attention="singular", level="actor", searcher_floor=0.9)
    first = [transformer(frame)["actor_id"].iloc[0] for _ in range(30)]
    assert first.count("ada") == 20
    assert transformer.reranker.keeper.accounts.searchers["eve"].rankings == 30


def test_an_experiment_can_be_run():
    frame = results({"q1": [3.0, 2.0, 1.0], "q2": [3.0, 2.0, 1.0]})
    topics = pd.DataFrame({"qid": ["q1", "q2"], "query": ["a", "b"]})
    qrels = pd.DataFrame({"qid": ["q1", "q2"], "docno": ["d0", "d0"], "label": [1, 1]})
    found = pt.Experiment(
        [
            pt.Transformer.from_df(frame),
            pt.Transformer.from_df(frame) >> equity_transformer(attention="singular", quality_floor=0.5),
        ],
        topics,
        qrels,
        ["recip_rank"],
        names=["by relevance", "equity"],
    )
    # The first query is served by relevance, the second gives the first place to who is owed most.
    assert list(found["recip_rank"]) == [1.0, 0.75]


def test_a_frame_without_rows_keeps_its_columns():
    empty = results({"q": [1.0]}).iloc[:0]
    served = equity_transformer()(empty)
    assert len(served) == 0
    assert list(served.columns) == list(empty.columns)


def test_pyterrier_can_inspect_it():
    outputs = pt.inspect.transformer_outputs(equity_transformer(), ["qid", "query", "docno", "score", "rank"])
    assert sorted(outputs) == ["docno", "qid", "query", "rank", "score"]


def test_what_is_no_ranking_is_refused():
    with pytest.raises(pt.validate.InputValidationError):
        equity_transformer()(pd.DataFrame({"qid": ["q"], "query": ["words"]}))
    with pytest.raises(InputError, match=r"query 2 of 2: .* negative"):
        equity_transformer(attention="singular")(results({"q1": [1.0], "q2": [1.0, -1.0]}))
    twice = results({"q": [2.0, 1.0]}, subject_id="ada")
    with pytest.raises(InputError, match="twice"):
        equity_transformer(attention="singular")(twice)
    with pytest.raises(ParameterError, match="quality_floor"):
        equity_transformer(quality_floor=3.0)


def test_it_prints_what_was_changed():
    assert repr(equity_transformer(quality_floor=0.9)) == "equity_transformer(quality_floor=0.9)"


def test_without_pyterrier_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyterrier", None)
    with pytest.raises(MissingExtraError) as caught:
        equity_transformer()
    assert caught.value.extra == "pyterrier"


def test_making_one_starts_no_java_and_opens_no_socket():
    code = (
        "import socket, sys\n"
        "def refuse(*_, **__): raise RuntimeError('a socket')\n"
        "import aidos.rooms.fairness.terrier\n"
        "assert 'pyterrier' not in sys.modules\n"
        "socket.socket.__init__ = refuse\n"
        "aidos.rooms.fairness.terrier.equity_transformer()\n"
        "import pyterrier\n"
        "assert not pyterrier.java.started() and 'jnius' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
