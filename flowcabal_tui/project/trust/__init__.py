"""Project trust: what a folder asks for, what this user has confirmed, and what is held back until then."""
