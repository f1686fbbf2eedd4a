"""Widgets that know values and post messages: they save nothing and reach for no engine."""
