"""`aidos shield`: a searcher's own profile, what of it is worth showing, and results in her own order."""

from __future__ import annotations

from aidos.errors import ParameterError

__all__ = ["PARTS", "shield"]


def shield() -> int:
    """Keep a profile of your interests at home, and decide there what of it is worth showing.

    For example:
        aidos shield profile build ~/.mozilla/firefox/*.default-release
        aidos shield profile edit --sensitive debt=3
        aidos shield explain "patch"
        aidos shield rerank results.json --query "patch" --rules rules.toml
        aidos shield rules export rules.toml --format goggles
    """
    raise ParameterError("what to do is missing: profile, explain, rerank or rules", hint="see: aidos shield --help")


PARTS = {"profile": "profile", "explain": "explain:explain", "rerank": "rerank:rerank", "rules": "rules"}
