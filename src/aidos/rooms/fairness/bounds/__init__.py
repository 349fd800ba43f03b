"""What no method can do better than: lower bounds on unfairness, to show how much a re-ranker leaves on the table."""
