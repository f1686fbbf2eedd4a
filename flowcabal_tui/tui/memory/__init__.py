"""The memory of the book on the screen: profiles, outline and other meta texts, background work."""
