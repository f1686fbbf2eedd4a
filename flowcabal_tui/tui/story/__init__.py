"""Names, relations, promises, timeline and facts on the screen."""
