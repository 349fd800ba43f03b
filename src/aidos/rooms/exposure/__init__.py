"""What a search exposes of people: the queries that find them, and where they rank for sensitive topics."""
