"""The nouns of the house: values without input or output, known to every floor above."""
