"""Room 1: search logs, and other tables of people and items, published with guarantees."""
