"""From results to something readable: charts, one self-contained page, terminal text."""
