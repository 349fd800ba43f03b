"""Topic models small enough to reckon with, and a plain way to fold texts in."""

import numpy as np

from aidos.model.latent.model import TopicModel


def make_model(topics=4, words=30, seed=0, *, sparse=False):
    stream = np.random.default_rng(seed)
    phi = stream.dirichlet(np.full(words, 0.2), topics)
    if sparse:
        phi[phi < np.quantile(phi, 0.5)] = 0
        phi[:, 0] += 1e-3
    phi /= phi.sum(axis=1, keepdims=True)
    return TopicModel(
        words=tuple(f"w{number}" for number in range(words)),
        phi=phi.astype(np.float32),
        prior=stream.uniform(0.02, 0.5, topics).astype(np.float32),
        shares=stream.dirichlet(np.ones(topics)).astype(np.float32),
    )


def fold_plainly(model, words, frequencies, steps):
    """Theta of one entry, in double precision, as the formula says."""
    rows = model.phi.astype(np.float64).T
    prior = model.prior.astype(np.float64)
    counts = prior.copy()
    known = [(w, f) for w, f in zip(words, frequencies, strict=True) if w >= 0 and f > 0 and rows[w].any()]
    if not known:
        return np.zeros(len(prior))
    for _ in range(steps):
        shared = sum(f * rows[w] / (rows[w] @ counts) for w, f in known)
        counts = counts * shared + prior
    return counts / counts.sum()
