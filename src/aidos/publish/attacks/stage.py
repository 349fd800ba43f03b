"""Where an attack is played: a mechanism as its audience sees it, a story, the crowd, and randomness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.publish.attacks.scenes import QueryScene, Scene

__all__ = ["Publisher", "Scores", "Stage"]

Publisher = Callable[[Table, Noise], Mapping[str, float]]
"""A log goes in, released items and their counts come out.

Items of several columns are joined by `aidos.publish.attacks.scenes.SEPARATOR`; items without a count have 1.
"""

Scores = npt.NDArray[np.float64]

MOST_SYBILS = 400
"""How many accounts the attacker makes for one guess, at most."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that an attack needs."""

    publish: Publisher
    scene: Scene
    crowd: Table
    """The log of everybody else."""
    noise: Noise
    """What the mechanism draws from, anew in every run."""

    def play(self, sybils: int) -> Scores:
        """One run: what was released of each trial's guesses, trials x items; minus infinity for what was not."""
        return self._seen(self.scene, self.scene.plant(self.crowd, sybils))

    def edge(self) -> int:
        """How many sybils a guess can have before it comes out (half of the time, where there is noise)."""
        # One item a trial is enough to see how many sybils each needs.
        scene = replace(self.scene, items=1) if isinstance(self.scene, QueryScene) else self.scene
        most = min(MOST_SYBILS, scene.trials)
        return int(np.isneginf(self._seen(scene, scene.ladder(self.crowd, most))[:most, 0]).sum())

    def tactics(self) -> tuple[int, ...]:
        """Numbers of sybils worth a try: the edge, where one more tips the scale, and well beyond it.

        Beyond the edge the guess comes out in any case, and the victim's mark is on its count.
        """
        edge = self.edge()
        return (edge, min(2 * edge + 2, MOST_SYBILS))

    def _seen(self, scene: Scene, planted: Table) -> Scores:
        # Mechanisms read the log more than once; it need not be made up each time.
        with planted.held() as log:
            return scene.observe(self.publish(log, self.noise))
