"""The audit room from the command line: lists read, topics chosen, findings kept, topics marked, the loop rehearsed."""
