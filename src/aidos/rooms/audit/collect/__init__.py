"""Result lists collected on pages that a person names: in a browser of their own, slowly, in a random order."""
