"""Search services behind one small interface: an index of one's own, a database, an engine over HTTP."""
