"""The truth of a project in one SQLite file: runs, texts, the book and its memory. Only this package knows SQLite."""

from flowcabal_tui.store.curation import Keeping
from flowcabal_tui.store.outbox import Outbox, TaskMaker
from flowcabal_tui.store.store import Store

__all__ = ["Keeping", "Outbox", "Store", "TaskMaker"]
