"""What a ranking says of itself: the recipe to make it again, and for each measure what becomes of it with new posts.

``recipe.toml`` is for `aidos risk rank --recipe`, ``MANIFEST.json`` for everybody who finds the directory.
"""

from __future__ import annotations

import json
from pathlib import Path

from aidos import __version__
from aidos.app.recipe import Recipe
from aidos.core.guarantee import statement
from aidos.core.mechanism import PublicFacts
from aidos.engine.files import write_text
from aidos.exposure.risk.nearness import least_nearness
from aidos.exposure.risk.ranking import RiskRanking
from aidos.exposure.risk.state import RiskState

__all__ = ["MECHANISM", "write_manifest"]

MECHANISM = "risk-ranking"
KEPT = "kept up to date from what is remembered of each person"
RECOMPUTED = "computed again from all entries, since nothing is known of how one entry changes it; no trend, no draft"


def write_manifest(directory: Path, state: RiskState) -> None:
    """Write both files."""
    plan = state.plan
    ranking = RiskRanking(topics=plan.topics, measures=tuple(map(str, plan.measures)))
    parameters = {"topics": ranking.topics, "measures": ranking.measures}
    told = {
        "kind": "aidos risk ranking",
        "aidos": __version__,
        "finding": "ranks of people, not for release",
        "promise": statement(ranking.guarantee(PublicFacts())),
        "recipe": {"mechanism": MECHANISM, "parameters": parameters},
        "analyser": str(plan.analyser),
        "measures": [
            {
                "measure": str(measure),
                "about": measure.about(),
                "with_new_posts": RECOMPUTED if measure in plan.others else KEPT,
                "least_nearness": None if measure in plan.others else least_nearness(measure),
            }
            for measure in plan.measures
        ],
    }
    write_text(directory / "MANIFEST.json", json.dumps(told, indent=1, ensure_ascii=False) + "\n", private=True)
    recipe = Recipe(mechanism=MECHANISM, items=(), parameters=parameters)
    write_text(directory / "recipe.toml", recipe.to_toml(), private=True)
