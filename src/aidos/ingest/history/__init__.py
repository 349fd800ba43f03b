"""What a person read, kept and searched for, as documents: browser histories, bookmarks, logs, posts, texts."""
