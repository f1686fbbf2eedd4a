"""Runs workflows: the schedule, content keys, the journal, costs, and questions to a person."""
