"""A revision on the screen: comments at passages."""
