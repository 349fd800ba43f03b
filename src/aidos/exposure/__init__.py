"""Search exposure: by which queries a member's posts are found, and how much that hurts (thesis, chapter 5)."""
