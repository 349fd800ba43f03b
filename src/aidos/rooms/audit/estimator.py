"""The learner in the manner of scikit-learn: parameters in, ``fit``, and what was learned in names that end with ``_``.

``X`` is a `PairArrays`, or a tuple of vanilla lists, personalised lists and topic maps; scikit-learn is not needed.
With fewer queries than topics the prior of the weights is narrowed by the root of their ratio, and ``warnings_`` says
so: that many weights cannot be told from so few lists.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.classification import disambiguate, log_likelihoods
from aidos.rooms.audit.inference import LearnedProfile, LearningSettings, infer_profile
from aidos.rooms.audit.learning import learn_profile
from aidos.rooms.audit.shifts import look_before_learning

__all__ = ["ProfileLearner"]

Floats = NDArray[np.float64]
METHODS = {"inference": infer_profile, "learning": learn_profile}


class ProfileLearner:
    """LTP as an estimator: ``method="inference"`` keeps mix and concentration, ``"learning"`` learns them too.

    After ``fit``: ``weights_`` (also ``coef_``), ``rate_``, ``switches_``, ``mix_``, ``concentration_``, ``elbo_``,
    ``n_iter_``, ``converged_``, ``warnings_``, ``n_features_in_`` (topics) and the whole ``profile_``.
    """

    def __init__(
        self,
        *,
        method: Literal["inference", "learning"] = "learning",
        settings: LearningSettings | None = None,
    ) -> None:
        # By convention parameters are kept as given, and checked by fit.
        self.method = method
        self.settings = settings

    def __repr__(self) -> str:
        return f"ProfileLearner(method={self.method!r}, settings={self.settings!r})"

    def get_params(self, *, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - asked with it by convention
        """Every parameter and its value."""
        return {"method": self.method, "settings": self.settings}

    def set_params(self, **parameters: Any) -> ProfileLearner:
        """Change parameters; they hold from the next ``fit`` on."""
        for name, value in parameters.items():
            if name not in self.get_params():
                raise ParameterError(f"there is no parameter {name!r}", hint="there are method, settings")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: object = None) -> ProfileLearner:  # noqa: ARG002, N803 - by convention
        """Learn the profile."""
        if self.method not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        pairs = _pairs(X)
        settings = self.settings or LearningSettings()
        profile = METHODS[self.method](pairs, settings.narrowed_for(pairs))
        self.profile_ = profile
        self.warnings_ = look_before_learning(pairs).warnings
        self.weights_ = self.coef_ = profile.weights
        self.switches_, self.rate_ = profile.switches, profile.rate
        self.mix_, self.concentration_ = profile.mix, profile.concentration
        self.elbo_, self.n_iter_, self.converged_ = profile.elbo, len(profile.elbo) - 1, profile.converged
        self.n_features_in_ = pairs.topic_count
        return self

    def predict(self, X: Any) -> NDArray[np.bool_]:  # noqa: N803 - by convention
        """For each pair whether the list given as personalised is the personalised one."""
        return disambiguate(self._known(X), self._fitted()).log_odds >= 0

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002, N803 - by convention
        """The mean log-likelihood of a query: larger is better."""
        return float(log_likelihoods(self._known(X), self._fitted()).mean())

    def _fitted(self) -> LearnedProfile:
        profile: LearnedProfile | None = getattr(self, "profile_", None)
        if profile is None:
            raise ParameterError("this ProfileLearner is not fitted yet", hint="call fit() first")
        return profile

    def _known(self, given: Any) -> PairArrays:
        pairs, topics = _pairs(given), len(self._fitted().weights)
        if pairs.topic_count != topics:
            raise InputError(f"learned with {topics} topics, but these topic maps have {pairs.topic_count}")
        return pairs


def _pairs(given: Any) -> PairArrays:
    if isinstance(given, PairArrays):
        return given
    if isinstance(given, tuple) and len(given) == 3:
        vanilla, personalised, maps = given
        return PairArrays.from_lists(
            vanilla, personalised, maps if isinstance(maps, TopicMaps) else TopicMaps.from_dense(maps)
        )
    raise InputError("pairs are needed", hint="give PairArrays, or (vanilla lists, personalised lists, topic maps)")
