"""Data about books that are not open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.settings.book_summary import BookState, BookSummary


@dataclass(frozen=True, slots=True)
class KnownBooks:
    """Functions for summaries of books.

    `of(folder)` returns the summary of a book, `keep(folder, summary)` replaces it, `forget(folder)` removes the book
    from the list of recent ones. `state(folder)` checks in a thread whether it can be opened, since its disk may be
    slow. `keep` and `forget` raise OSError.
    """

    of: Callable[[Path], BookSummary | None]
    keep: Callable[[Path, BookSummary], None]
    state: Callable[[Path], BookState]
    forget: Callable[[Path], None]


NO_BOOKS: Final = KnownBooks(lambda _folder: None, lambda *_: None, lambda _folder: "there", lambda _folder: None)
