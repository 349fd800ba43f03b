"""Judgements of topics: agreement by hand, majorities, and files."""

import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.model.annotations import Annotations, Judgement, read_annotations, write_annotations
from aidos.model.sensitive import SensitiveTopic, TopicSet


def judged(*rows):
    return Annotations(judgements=tuple(Judgement(topic=t, judge=j, sensitive=s, domain=d) for t, j, s, d in rows))


CANDIDATES = TopicSet(
    topics=tuple(SensitiveTopic(name=name, words=(name,), sensitive=s) for name, s in (("a", 0), ("b", 0), ("c", 1)))
)


def test_kappa_of_two_judges_by_hand():
    found = judged(
        ("a", "x", True, "other"), ("a", "y", True, "other"), ("b", "x", True, "humanities"), ("b", "y", False, "")
    )
    # Observed (1 + 0) / 2; by chance (3/4)^2 + (1/4)^2 = 5/8.
    assert found.kappa() == pytest.approx((1 / 2 - 5 / 8) / (1 - 5 / 8))
    # On domains only "a" has two judges: they agree, and by chance half do.
    assert found.domain_kappa() == pytest.approx(1.0)
    assert (found.judges, found.topics, len(found)) == (("x", "y"), ("a", "b"), 4)


def test_one_judge_has_no_kappa():
    with pytest.raises(InputError, match="no item has two judges"):
        judged(("a", "x", True, "")).kappa()
    with pytest.raises(InputError, match="no item has two judges"):
        judged(("a", "x", True, "")).domain_kappa()


def test_the_majority_decides_ties_are_sensitive_and_what_nobody_judged_stays_as_it_was():
    found = judged(
        ("a", "x", True, "humanities"),
        ("a", "y", False, "law and politics"),
        ("b", "x", True, ""),
        ("b", "y", False, ""),
        ("b", "z", False, "other"),
    ).majority(CANDIDATES)
    assert found.names == ("a", "c")
    assert (found[0].sensitive, found[0].domain) == (0.5, "law and politics")
    assert (found[1].sensitive, found[1].domain) == (1.0, "other")


def test_most_votes_make_the_domain_and_an_unknown_topic_is_named():
    votes = judged(("a", "x", True, "own"), ("a", "y", True, "own"), ("a", "z", True, "humanities"))
    assert votes.majority(CANDIDATES)[0].domain == "own"
    with pytest.raises(ParameterError, match="no topic 'nowhere'"):
        judged(("nowhere", "x", True, "")).majority(CANDIDATES)
    none = TopicSet(topics=CANDIDATES.topics[:2])
    with pytest.raises(InputError, match="no topic is sensitive"):
        judged(("a", "x", False, "")).majority(none)


def test_a_judge_judges_a_topic_once():
    with pytest.raises(ParameterError, match="more than one judgement"):
        judged(("a", "x", True, ""), ("a", "x", False, ""))
    with pytest.raises(ParameterError, match="a topic and a judge"):
        judged(("a", " ", True, ""))


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6)


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(NAMES, NAMES, st.booleans(), st.sampled_from(["", "other", "law, or order"])),
        min_size=1,
        unique_by=lambda row: row[:2],
    )
)
def test_judgements_survive_their_file(tmp_path_factory, rows):
    made = judged(*rows)
    path = tmp_path_factory.getbasetemp() / "judgements.csv"
    write_annotations(made, path)
    assert read_annotations(path) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_all_problems_of_a_file_are_told(tmp_path):
    path = tmp_path / "judgements.csv"
    path.write_text("domain,topic,judge,sensitive\nother,a,x,YES\n,a,x,no\n,,y,no\n,b,y,perhaps\n,b,z,0\n")
    with pytest.raises(InputError) as caught:
        read_annotations(path)
    assert {(problem.kind, problem.column, problem.lines) for problem in caught.value.problems} == {
        ("repeated-judgement", "judge", (3,)),
        ("empty-cell", "topic", (4,)),
        ("bad-answer", "sensitive", (5,)),
    }
    path.write_text("topic,judge,sensitive,domain\n")
    with pytest.raises(InputError, match="no judgement"):
        read_annotations(path)
