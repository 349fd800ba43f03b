"""Folding in against the plain formula and a general optimiser; telling words by hand; files."""

import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from small_model import fold_plainly, make_model

from aidos.errors import InputError, ParameterError
from aidos.model.latent import model as module
from aidos.model.latent.model import STEPS, TopicModel
from aidos.model.text.analyser import Analyser
from aidos.model.vectors import WordVectors


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(2, 40), st.booleans(), st.integers(0, 2**32 - 1))
def test_theta_is_that_of_the_plain_formula(topics, words, sparse, seed):
    model = make_model(topics, words, seed, sparse=sparse)
    stream = np.random.default_rng(seed)
    lengths = stream.integers(0, 10, 8)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    numbers = stream.integers(-1, words, starts[-1]).astype(np.int32)
    times = stream.integers(0, 4, starts[-1]).astype(np.int32)
    found = model.infer(starts, numbers, times)
    for entry in range(8):
        here = slice(starts[entry], starts[entry + 1])
        assert found[entry] == pytest.approx(fold_plainly(model, numbers[here], times[here], STEPS), abs=2e-4)


def test_it_climbs_to_the_one_maximum(monkeypatch):
    monkeypatch.setattr(module, "STEPS", 3000)
    model = make_model(3, 12, 5)
    words, times = np.array([0, 3, 7, 9], dtype=np.int32), np.array([2, 1, 3, 1], dtype=np.int32)
    rows, prior = model.phi.astype(np.float64).T[words], model.prior.astype(np.float64)

    def loss(points):
        theta = np.exp(points - points.max())
        theta /= theta.sum()
        return -(times @ np.log(rows @ theta) + prior @ np.log(theta))

    best = [minimize(loss, start, tol=1e-12).x for start in (np.zeros(3), np.array([2.0, -2.0, 0.0]))]
    theta = [np.exp(points - points.max()) for points in best]
    found = model.infer(np.array([0, 4]), words, times)[0]
    for one in theta:
        assert found == pytest.approx(one / one.sum(), abs=2e-3)


def test_rows_do_not_depend_on_threads_blocks_or_neighbours():
    model = make_model(17, 200, 2)
    stream = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(stream.integers(0, 15, 5000))])
    words = stream.integers(-1, 200, starts[-1]).astype(np.int32)
    times = np.ones(starts[-1], dtype=np.float32)
    whole = model.infer(starts, words, times, threads=1)
    assert np.array_equal(model.infer(starts, words, times, threads=3), whole)
    block = np.empty((700, 17), dtype=np.float32)
    for begin in range(0, 4900, 700):
        model.infer_into(block, starts[begin : begin + 701], words, times)
        assert np.array_equal(block, whole[begin : begin + 700])
    known = np.add.reduceat(np.append(words >= 0, 0), starts[:-1]) * (np.diff(starts) > 0) > 0
    assert whole.sum(axis=1) == pytest.approx(known.astype(float), abs=1e-5)
    assert not known.all()
    assert model.infer(np.array([0]), words, times).shape == (0, 17)


def test_entries_that_compiled_code_would_stumble_over_are_refused():
    model = make_model(2, 5)
    words, times = np.array([0, 4], dtype=np.int32), np.ones(2, dtype=np.int32)
    for starts in ([0, 3], [1, 0], [-1, 1], []):
        with pytest.raises(ParameterError, match="starts"):
            model.infer(np.array(starts, dtype=np.int64), words, times)
    starts = np.array([0, 2])
    with pytest.raises(ParameterError, match="words must be from 0 to 4"):
        model.infer(starts, np.array([0, 5], dtype=np.int32), times)
    with pytest.raises(ParameterError, match="1 frequencies for 2 words"):
        model.infer(starts, words, times[:1])
    with pytest.raises(ParameterError, match="frequencies must be finite"):
        model.infer(starts, words, np.array([1, np.nan], dtype=np.float32))
    for wrong in (np.empty((2, 2), dtype=np.float32), np.empty((1, 2)), np.empty((1, 4), dtype=np.float32)[:, ::2]):
        with pytest.raises(ParameterError, match="array to write to"):
            model.infer_into(wrong, starts, words, times)
    with pytest.raises(ParameterError, match="threads"):
        model.infer(starts, words, times, threads=0)


def test_telling_words_are_likely_and_more_so_than_elsewhere():
    phi = np.array([[0.5, 0.4, 0.1, 0.0], [0.5, 0.0, 0.1, 0.4]], dtype=np.float32)
    model = TopicModel(words=("the", "sad", "cup", "debt"), phi=phi, prior=np.array([0.1, 0.1], dtype=np.float32))
    assert [found.word for found in model.salient(0)] == ["sad", "the", "cup"]
    first = model.salient(0, 1)[0]
    assert (first.word, first.probability, first.lift) == ("sad", pytest.approx(0.4), pytest.approx(2.0))
    assert model.background() == pytest.approx([0.5, 0.2, 0.1, 0.2])
    with pytest.raises(ParameterError, match="no topic 2"):
        model.salient(2)


def test_a_model_survives_its_file_and_the_same_model_is_the_same_file(tmp_path):
    made = make_model(5, 40, 1)
    model = TopicModel(
        words=("größe", *made.words[1:]),
        phi=made.phi,
        prior=made.prior,
        shares=made.shares,
        analyser=Analyser(shortest=2),
        note="A note.",
    )
    model.save(tmp_path / "a.npz")
    found = TopicModel.load(tmp_path / "a.npz")
    found.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert stat.S_IMODE((tmp_path / "a.npz").stat().st_mode) == 0o600
    assert (found.words, found.analyser, found.note) == (model.words, model.analyser, model.note)
    for name in ("phi", "prior", "shares", "coherences"):
        assert np.array_equal(getattr(found, name), getattr(model, name), equal_nan=True)
    assert np.isnan(found.coherences).all()
    assert found.numbers(["größe", "w1", "unheard"]).tolist() == [0, 1, -1]


def test_files_that_are_no_model_are_refused(tmp_path):
    model = make_model()
    model.save(tmp_path / "m.npz")
    whole = (tmp_path / "m.npz").read_bytes()
    for content in (b"", b"nothing", whole[: len(whole) // 2]):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(InputError, match="does not hold an aidos topic model, or is damaged"):
            TopicModel.load(tmp_path / "bad.npz")
    with pytest.raises(InputError, match="there is no file"):
        TopicModel.load(tmp_path / "absent.npz")
    WordVectors(words=("a",), matrix=np.ones((1, 2))).save(tmp_path / "v.npz")
    with pytest.raises(InputError, match="does not hold an aidos topic model"):
        TopicModel.load(tmp_path / "v.npz")


def test_a_later_format_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("aidos.model.latent.model.FORMAT", 2)
    make_model().save(tmp_path / "m.npz")
    monkeypatch.undo()
    with pytest.raises(InputError, match="has format 2, this version of aidos reads 1"):
        TopicModel.load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"phi": np.full((2, 3), 0.5)}, "phi is 2 by 3, but there are 2 topics and 2 words"),
        ({"phi": np.array([[0.5, 0.4], [0.5, 0.5]])}, "sum to 1"),
        ({"phi": np.array([[1.5, -0.5], [0.5, 0.5]])}, "not negative"),
        ({"phi": np.array([[np.nan, 1], [0.5, 0.5]])}, "finite"),
        ({"prior": np.array([0.1, 0.0])}, "above 0"),
        ({"words": ("a", "a")}, "words must differ"),
        ({"words": ("a", "")}, "not be empty"),
        ({"shares": np.array([0.5, 0.4])}, "shares"),
        ({"coherences": np.array([0.5])}, "coherences"),
    ],
)
def test_impossible_models_are_refused(change, words):
    given_values = {"words": ("a", "b"), "phi": np.full((2, 2), 0.5), "prior": np.full(2, 0.1), **change}
    with pytest.raises(ParameterError, match=words):
        TopicModel(**given_values)
