"""Words: how a text becomes terms, the same way everywhere."""
