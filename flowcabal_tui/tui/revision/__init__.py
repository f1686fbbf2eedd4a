"""A revision on the screen: comments on passages, passes, rewrites."""
