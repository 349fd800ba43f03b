"""Links in signatures, without looking through everything for what is not there.

Sphinx compares the name of each type in a signature with every documented object. Most names (``int``, ``Path``) belong
to nobody here, and with thousands of objects that search takes most of the time of a build.
"""

from sphinx.domains.python import PythonDomain

__all__ = ["QuickPythonDomain"]


class QuickPythonDomain(PythonDomain):
    """Knows the last parts of all names, and looks further only for those."""

    _last_parts: frozenset[str] = frozenset()
    _known = -1

    def find_obj(self, env, modname, classname, name, type, searchmode=0):  # noqa: PLR0913, PLR0917 (as its parent)
        """As its parent finds it, and nothing at once where no object ends with that name."""
        if self._known != len(self.objects):
            self._last_parts = frozenset(full.rpartition(".")[2] for full in self.objects)
            self._known = len(self.objects)
        if name.removesuffix("()").rpartition(".")[2] not in self._last_parts:
            return []
        return super().find_obj(env, modname, classname, name, type, searchmode)
