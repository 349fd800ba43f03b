"""Privacy and fairness for search systems.

The rooms are packages: read `aidos.app` for the surfaces, `aidos.core` for the nouns.
"""

__version__ = "0.1.0"
