"""Settings for all tests."""

import os

from hypothesis import settings

# A loaded machine is no failure. CI tries the same examples every time; at a desk they vary, so that more is tried.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
