"""Which queries expose a member: all sets at once, look-ups, drafts, changes, remedies and the operator's audit."""
