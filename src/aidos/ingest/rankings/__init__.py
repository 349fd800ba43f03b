"""Files of rankings as streams: read one ranking at a time, checked, and written whole or not at all."""
