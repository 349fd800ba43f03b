"""The experiments on a small sample log: repeatable, kept, the same on several workers, and refused in time."""

import time
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest
import utility_logs

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.studies.shelf import MARK, Shelf, run_settings
from aidos.studies.utility.experiment import SETTINGS, Source, prepare, run_experiment
from aidos.studies.utility.ground import SCHEMA
from aidos.studies.utility.originals import UnsuitedLogError
from aidos.studies.utility.plan import ANONYMOUS, EXPERIMENTS, ORIGINAL, PAPER, UtilityPlan
from aidos.world.documents import document_blocks
from aidos.world.log import log_blocks
from aidos.world.size import World

WORLD = World(size=150, seed=7)
PLAN = UtilityPlan(
    epsilons=(20.0, 100.0),
    usual_epsilon=100.0,
    items_per_person=(1, 10),
    ks=(5,),
    usual_k=5,
    tops=(10, 100),
    equal_epsilons=(20.0,),
    equal_delta=1e-2,
    kinds=("keywords", "queries"),
    noise_scales=(2.0, 20.0),
    thresholds=(10,),
    usual_noise=2.0,
    usual_threshold=10,
    folds=2,
    tried_queries=50,
    pool_size=50,
)


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=1) as made:
        yield made


@pytest.fixture(scope="module")
def source(engine):
    documents = pa.concat_tables(document_blocks(WORLD)).select(["object_id", "text"])
    return Source(
        log=engine.table(pa.concat_tables(log_blocks(WORLD))),
        about="a sample",
        fingerprint="sample",
        documents=engine.table(documents),
    )


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_gives_tidy_rows(source, experiment):
    found = run_experiment(experiment, source, PLAN)
    assert found.results.schema.equals(SCHEMA)
    assert set(found.results.column("experiment").to_pylist()) == {experiment}
    expected = {
        "statistics": {ORIGINAL, PAPER, ANONYMOUS},
        "caching": {ORIGINAL, PAPER, ANONYMOUS},
        "substitution": {PAPER, ANONYMOUS},
        "retrieval": {ORIGINAL, "pool-as-published", "pool-strict"},
        "mechanisms": {ORIGINAL, PAPER, "zealous", "rounds", "count-gaussian"},
    }
    assert expected[experiment] <= set(found.results.column("mechanism").to_pylist())
    assert found.basis.people == len(set(source.log.fetch().column("client_id").to_pylist()))


def test_more_noise_and_higher_limits_cost_what_they_should(source):
    found = run_experiment("statistics", source, PLAN)
    near, far = (
        found.number("coverage", kind="keywords", mechanism=PAPER, epsilon=epsilon, items_per_person=1, top=100)
        for epsilon in (100.0, 20.0)
    )
    assert near >= far
    assert found.number("coverage", kind="queries", mechanism=ORIGINAL, top=100) == 1
    assert found.number("total_variation", kind="queries", mechanism=ORIGINAL) == 0


def test_what_is_done_is_kept_and_more_settings_may_follow(source, tmp_path):
    keep = tmp_path / "results"
    first = run_experiment("caching", source, PLAN, keep=keep)
    kept = {path.name: path.stat().st_mtime_ns for path in (keep / SETTINGS).glob("*.parquet")}
    assert kept
    assert not keep.stat().st_mode & 0o077
    wider = run_experiment("caching", source, replace(PLAN, ks=(5, 9)), keep=keep)
    later = {path.name: path.stat().st_mtime_ns for path in (keep / SETTINGS).glob("*.parquet")}
    assert kept.items() < later.items()
    assert wider.number("hit_probability", k=5) == first.number("hit_probability", k=5)
    with pytest.raises(InputError, match="another experiment"):
        run_experiment("caching", replace(source, fingerprint="another"), PLAN, keep=keep)


def test_a_log_is_prepared_once_for_several_and_each_finds_what_it_finds_alone(source, tmp_path):
    with prepare(source, PLAN, ("caching", "statistics")) as prepared:
        # The first leaves counts of documents behind, which the second is not about.
        together = [prepared.run(name, keep=tmp_path / name) for name in ("caching", "statistics")]
        with pytest.raises(UnsuitedLogError, match="no pairs: they were not asked for"):
            prepared.run("substitution")
    alone = [run_experiment(name, source, PLAN) for name in ("caching", "statistics")]
    assert [one.results for one in together] == [one.results for one in alone]
    assert [one.basis for one in together] == [one.basis for one in alone]


@pytest.mark.slow
def test_two_workers_find_what_one_finds(source):
    alone, together = (run_experiment("caching", source, PLAN, workers=workers).results for workers in (1, 2))
    assert alone.equals(together)


def test_what_a_log_does_not_have_is_refused_and_leaves_nothing(engine, tmp_path):
    log = engine.table(utility_logs.table(clicks=False))
    bare = Source(log=log, about="bare", fingerprint="bare")
    with pytest.raises(InputError, match="no clicks"):
        run_experiment("retrieval", bare, PLAN, keep=tmp_path / "out")
    with pytest.raises(InputError, match="needs documents"):
        run_experiment("caching", bare, PLAN, keep=tmp_path / "out")
    with pytest.raises(InputError, match="no suggestions"):
        run_experiment("substitution", bare, PLAN, keep=tmp_path / "out")
    single = engine.table(log.fetch().slice(0, 1).append_column("object_id", pa.array([None], pa.string())))
    with pytest.raises(InputError, match="nobody to hide among"):
        run_experiment("statistics", replace(bare, log=single), PLAN, keep=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    left = run_experiment("statistics", bare, replace(PLAN, kinds=("queries", "clicks")))
    assert left.basis.left_out == {"clicks": "it does not say which results were clicked"}


def test_plans_are_checked():
    with pytest.raises(ParameterError, match="'moods'"):
        UtilityPlan(kinds=("moods",))
    with pytest.raises(ParameterError, match="epsilons needs values, each once"):
        UtilityPlan(epsilons=())
    with pytest.raises(ParameterError, match="each once"):
        UtilityPlan(ks=(5, 5))
    with pytest.raises(ParameterError, match="workers"):
        run_experiment("statistics", None, PLAN, workers=0)


@dataclass(frozen=True)
class Errand:
    """Work for another process: it fails, or takes longer than anybody waits."""

    name: str


def do_errand(shared, errand):
    if errand.name == "bad":
        raise InputError("it went wrong")
    time.sleep(shared)
    return pa.table({"done": [1]})


@pytest.mark.slow
def test_a_failure_stops_the_other_workers_and_keeps_what_was_done():
    began = time.monotonic()
    with pytest.raises(InputError, match="went wrong"):
        run_settings([Errand("long"), Errand("bad")], do_errand, 300, shelf=Shelf(None, ""), workers=2)
    assert time.monotonic() - began < 120


@pytest.mark.parametrize("content", [b"\xff\xfe", b"another\n"])
def test_a_directory_of_another_run_is_refused_in_words(tmp_path, content):
    (tmp_path / MARK).write_bytes(content)
    with pytest.raises(InputError) as caught:
        Shelf(tmp_path, "this")
    assert caught.value.hint
