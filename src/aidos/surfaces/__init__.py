"""The surfaces: the registry of jobs, and what is grown from it: command line, verbs, recipes. Nothing imports them."""
