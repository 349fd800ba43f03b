"""The demo: one chapter per capability, all about the same small world."""
