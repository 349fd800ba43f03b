"""A made-up society with the truth known: people, searches, posts, documents, rankings, all from one seed."""
