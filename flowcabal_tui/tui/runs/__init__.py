"""Runs on the screen: what nodes wrote, the context they were given, and where each line comes from."""
