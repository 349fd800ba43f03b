"""`aidos shield profile`: build, show, edit and forget the profile that stays at home."""

from __future__ import annotations

from aidos.app.commands.shield.profile.build import build
from aidos.app.commands.shield.profile.change import edit, forget
from aidos.app.commands.shield.profile.look import show_profile
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


PARTS = {"build": build, "show": show_profile, "edit": edit, "forget": forget}
