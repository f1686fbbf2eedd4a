"""Derives overviews, names, records, profiles and arcs from kept text."""
