"""Maintenance of the whole file: purging, repair, copies."""
