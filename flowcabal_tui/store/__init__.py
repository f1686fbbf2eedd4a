"""The authoritative data of a project in one SQLite file: runs, texts, the book and its memory. Only this package knows
SQLite."""

from flowcabal_tui.store.book.curation import Keeping
from flowcabal_tui.store.book.outbox import Outbox
from flowcabal_tui.store.rows.tasks import TaskMaker
from flowcabal_tui.store.store import Store

__all__ = ["Keeping", "Outbox", "Store", "TaskMaker"]
