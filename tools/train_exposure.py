"""Train the ranker of exposing queries that comes with aidos, and write it where it belongs.

    python tools/train_exposure.py            writes src/aidos/rooms/exposure/critical/default.json
    python tools/train_exposure.py --check    says whether the file there is what this makes

It learns on the sample world from weak signals alone: which posts were deleted later, and how words are spread over the
open and the anonymous community. The world's truth takes no part. Numbers are rounded to six digits, so that the last
bits of a processor's arithmetic do not show; --check allows for one unit of the last digit but one.

Whoever changes a feature, the teaching or the texts of the sample world runs it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from aidos.engine.embedded import EmbeddedEngine
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.learner import COSTS, Trained, train
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.teaching import Signals, Teaching
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from aidos.studies.exposure.experiment import sample_community
from aidos.world.size import World

TARGET = Path(__file__).parent.parent / "src" / "aidos" / "rooms" / "exposure" / "critical" / "default.json"
WORLD = World(10_000, 1)
"""Not the world of the demonstration (seed 7), nor those that rankers are measured on (seeds 11 and 23)."""
DIGITS = 6
ALIKE = 1e-5
ABOUT = (
    "weak signals of the sample world, a made-up society: posts deleted later, and words of its anonymous community "
    "against words of its open one"
)


def make(world: World = WORLD, teaching: Teaching | None = None) -> Trained:
    """Train on a world."""
    teaching = teaching or Teaching()
    settings = SearchExposure()
    posts, anonymous = sample_community(world)
    with tempfile.TemporaryDirectory(prefix="aidos-") as directory, EmbeddedEngine() as engine:
        target = Path(directory) / "exposure"
        compute(engine.table(posts), settings, target)
        store = ExposureStore.open(target)
        signals = Signals.of(posts, anonymous, Analyser.parse(settings.analyser))
        rows = teaching.rows(store)
        targets = teaching.targets(store, rows.exposures, signals)
    trained_on = f"the sample world, size {world.size}, seed {world.seed}: nobody in it is real"
    groups = rows.exposures.members.astype(np.int64)
    # The cost that agrees best with the signals of members not taught by; on all of them, as a tenth is too few.
    found = [
        train(groups, rows.matrix, targets, seed=world.seed, cost=cost, folds=5, about=ABOUT, trained_on=trained_on)
        for cost in COSTS
    ]
    return max(found, key=lambda one: one.validation.table()[0].agreement)


def rounded(model: CriticalityModel) -> CriticalityModel:
    """The same with numbers of six digits."""
    numbers = {
        name: tuple(round(value, DIGITS) + 0.0 for value in getattr(model, name))
        for name in ("weights", "means", "deviations")
    }
    return replace(model, **numbers)


def alike(first: CriticalityModel, second: CriticalityModel) -> bool:
    """Whether two models are the same but for the last digits."""
    if (first.features, first.about, first.trained_on) != (second.features, second.about, second.trained_on):
        return False
    pairs = [(getattr(first, name), getattr(second, name)) for name in ("weights", "means", "deviations")]
    return all(np.allclose(one, other, rtol=0, atol=ALIKE) for one, other in pairs)


def main() -> int:
    """Train, then write or check."""
    parser = argparse.ArgumentParser(description="Train the ranker of exposing queries that comes with aidos.")
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the file is what this makes")
    asked = parser.parse_args()
    trained = make()
    model = rounded(trained.model)
    for line in trained.validation.table()[:6]:
        print(f"{line.ranker:24} agreement with the signals {line.agreement:.3f} +- {line.error:.3f}")
    if asked.check:
        same = TARGET.exists() and alike(CriticalityModel.load(TARGET), model)
        print(f"{TARGET.name} is {'what this makes' if same else 'NOT what this makes: run it without --check'}")
        return 0 if same else 1
    model.save(TARGET)
    print(f"{TARGET} was written: {trained.pairs} pairs, cost {trained.cost:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
