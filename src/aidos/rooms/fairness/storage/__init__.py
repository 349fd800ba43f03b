"""Accounts that last: a SQLite file, and the way in and out of it."""
