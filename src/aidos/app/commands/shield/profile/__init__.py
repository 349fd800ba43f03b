"""`aidos shield profile`: build, show, edit and forget the profile that stays at home."""

from __future__ import annotations

from aidos.errors import ParameterError

__all__ = ["PARTS", "profile"]


def profile() -> int:
    """Build, show, edit and forget the profile of your interests, a private file on this machine.

    For example:
        aidos shield profile build bookmarks.html notes/ -o profile.json
        aidos shield profile show profile.json
        aidos shield profile edit profile.json --sensitive debt=3
        aidos shield profile forget profile.json --topic health
    """
    raise ParameterError(
        "what to do with the profile is missing: build, show, edit or forget", hint="see: aidos shield profile --help"
    )


PARTS = {"build": "build:build", "show": "look:show_profile", "edit": "change:edit", "forget": "change:forget"}
