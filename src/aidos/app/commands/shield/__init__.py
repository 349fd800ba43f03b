"""`aidos shield`: a searcher's own profile, and what of it is worth showing."""

from __future__ import annotations

from aidos.app.commands.shield import profile
from aidos.errors import ParameterError

__all__ = ["PARTS", "shield"]


def shield() -> int:
    """Keep a profile of your interests at home.

    For example:
        aidos shield profile build ~/.mozilla/firefox/*.default-release
        aidos shield profile show
        aidos shield profile edit --sensitive debt=3
    """
    raise ParameterError("what to do is missing: profile", hint="see: aidos shield --help")


PARTS = {"profile": profile}
