"""Reads documents of other systems as workflows and writes them; reports every change."""
