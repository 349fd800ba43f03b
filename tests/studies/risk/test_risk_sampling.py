"""Profiles are drawn in proportion, once each, from all regions; estimates have no bias; sheets can be read back."""

import csv
import stat

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.studies.risk.profiles import ProfileJudgements, ProfileSampling, write_sheet

SKEWED = np.random.default_rng(1).beta(0.3, 4, 400)


@given(
    st.lists(st.floats(-3, 3), min_size=1, max_size=40),
    st.integers(1, 50),
    st.sampled_from([1.0, 10.0, 100.0, 1000.0]),
    st.integers(0, 5),
)
def test_as_many_as_wanted_are_drawn_once_each(scores, profiles, base, seed):
    sampling = ProfileSampling(profiles=profiles, base=base, seed=seed)
    chances = sampling.chances(scores)
    number = min(profiles, len(scores))
    assert chances.sum() == pytest.approx(number)
    assert (chances > 0).all()
    assert (chances <= 1 + 1e-9).all()
    drawn = sampling.draw(scores)
    assert len(drawn) == len(set(drawn.people.tolist())) == number
    assert drawn.chances == pytest.approx(chances[drawn.people])


def test_chances_are_in_proportion_to_powers_of_the_base():
    sampling = ProfileSampling(profiles=20, base=100.0)
    chances = sampling.chances(SKEWED)
    below = chances < 1
    assert below.sum() > 300
    ratios = chances[below] / 100.0 ** SKEWED[below]
    assert ratios == pytest.approx(np.full(below.sum(), ratios[0]))


def test_people_are_drawn_as_often_as_their_chances_say():
    draws = 2000
    sampling = [ProfileSampling(profiles=40, base=1000.0, seed=seed) for seed in range(draws)]
    times = np.zeros(len(SKEWED))
    for one in sampling:
        times[one.draw(SKEWED).people] += 1
    chances = sampling[0].chances(SKEWED)
    spread = np.sqrt(np.maximum(chances * (1 - chances), 1e-12) / draws)
    # Six standard deviations for each of 400 people: less than one failure in a million runs; and the seeds are fixed.
    assert (np.abs(times / draws - chances) <= 6 * spread + 1e-9).all()


def test_estimates_for_the_community_have_no_bias():
    values = (SKEWED > 0.3).astype(float)
    totals = []
    for seed in range(400):
        drawn = ProfileSampling(profiles=60, base=100.0, seed=seed).draw(SKEWED)
        totals.append(drawn.total(values[drawn.people]))
        assert 0 <= drawn.mean(values[drawn.people]) <= 1
    error = np.std(totals, ddof=1) / len(totals) ** 0.5
    assert np.mean(totals) == pytest.approx(values.sum(), abs=5 * error)
    # Unweighted, the sample says far too much.
    assert values[drawn.people].mean() > 2 * values.mean()


def test_high_scores_are_drawn_more_often_and_topics_apart():
    sampling = ProfileSampling(profiles=50, base=1000.0, seed=3)
    drawn = sampling.draw(SKEWED)
    assert SKEWED[drawn.people].mean() > 2 * SKEWED.mean()
    assert (sampling.draw(SKEWED).people == drawn.people).all()
    assert (sampling.draw(SKEWED, 1).people != drawn.people).any()


def test_bad_scores_and_settings_are_refused():
    with pytest.raises(ParameterError, match="base"):
        ProfileSampling(base=0.5)
    with pytest.raises(InputError, match="finite"):
        ProfileSampling().draw([np.nan])
    with pytest.raises(InputError, match="at least one"):
        ProfileSampling().draw([])
    with pytest.raises(InputError, match="2 values were given for 1"):
        ProfileSampling().draw([0.5]).total([1, 2])


POSTS = pa.table(
    {
        "author_id": ["ann", "bob", "ann", "cid"],
        "timestamp": pa.array([86_400 * day for day in (3, 2, 1, 0)], pa.timestamp("s")),
        "title": [None, "Why", None, None],
        "text": ["later,\nwith a comma", "me", "first", "not drawn"],
    }
)


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.tsv"])
def test_a_sheet_holds_whole_profiles_and_becomes_judgements(tmp_path, name):
    path = tmp_path / name
    with EmbeddedEngine() as engine:
        assert write_sheet(path, engine.table(POSTS), {"debt": ["ann", "bob"], "hiv": ["ann"]}) == 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    between = "\t" if name.endswith("tsv") else ","
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter=between))
    assert rows[0]["entries"] == "1970-01-02 first\n1970-01-04 later, with a comma"
    assert rows[1]["entries"] == "1970-01-03 Why me"
    assert "not drawn" not in path.read_text()
    with pytest.raises(InputError, match="blank"):
        ProfileJudgements.read(str(path))
    with path.open("w", newline="") as file:
        filled = csv.DictWriter(file, rows[0], delimiter=between)
        filled.writeheader()
        filled.writerows(row | {"judge": "j1", "relevance": place} for place, row in enumerate(rows))
    assert ProfileJudgements.read(str(path)).grades == pytest.approx(np.array([[0, 2], [1, np.nan]]), nan_ok=True)


def test_a_log_becomes_a_sheet_without_repeating_clicks(tmp_path):
    log = pa.table({"client_id": ["a", "a", "a"], "user_query": ["owe money", "owe money", "debt help"]})
    write_sheet(tmp_path / "s.csv", log, {"debt": ["a"]})
    with (tmp_path / "s.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["entries"].splitlines() == ["debt help", "owe money"]


def test_sheets_that_cannot_be_made_are_refused(tmp_path):
    with pytest.raises(InputError, match="1 of 1 people"):
        write_sheet(tmp_path / "s.csv", POSTS, {"debt": ["zoe"]})
    with pytest.raises(ParameterError, match=r"\.csv"):
        write_sheet(tmp_path / "s.xlsx", POSTS, {"debt": ["ann"]})
    with pytest.raises(InputError, match="author_id"):
        write_sheet(tmp_path / "s.csv", pa.table({"x": [1]}), {"debt": ["ann"]})
    assert not list(tmp_path.iterdir())
