"""The operator's audit of a community's exposure: the words of its posts against the lexicon of sensitive topics."""

from __future__ import annotations

import numpy as np

from aidos.core.mechanism import Release
from aidos.core.noise import Noise
from aidos.core.progress import Progress
from aidos.model.sensitivity import TopicalSensitivity
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.queries.audit import NONE, Audit, Exposed, ExposureAudit, Lexicon
from aidos.rooms.exposure.queries.store import ExposureStore, walk

__all__ = ["audit_exposure"]

TELLING = 0.1
"""Words of less sensitivity belong to no topic: half of the language touches some topic a little."""


def audit_exposure(store: ExposureStore, mechanism: ExposureAudit, *, progress: Progress) -> Release[Audit]:
    """Count over everybody, by the topics of the default taxonomy."""
    lexicon = _lexicon(store)
    exposed = Exposed(chunks=walk(store.state), lexicon=lexicon, total=store.facts.exposures, progress=progress)
    return mechanism.run(exposed, Noise())


def _lexicon(store: ExposureStore) -> Lexicon:
    sensitivity = TopicalSensitivity.default(analyser=Analyser.parse(store.settings.analyser))
    words = store.words(np.arange(store.state.words))
    values = sensitivity.words(words)
    named = {place: sensitivity.categories(words[place])[0] for place in np.flatnonzero(values >= TELLING).tolist()}
    categories = sorted(set(named.values()))
    category = np.full(len(words), NONE, dtype=np.int8)
    for place, name in named.items():
        category[place] = categories.index(name)
    return Lexicon(sensitivity=values, categories=categories, category=category, texts=store.words)
