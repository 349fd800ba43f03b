"""Data that come in: files checked, and read into one table that every other room takes."""
