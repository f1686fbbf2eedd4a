"""Project trust: the requests of a folder, the user's confirmations, and the parts held back until then."""
