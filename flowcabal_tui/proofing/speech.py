"""Speech that goes on in the next paragraph."""

from __future__ import annotations


def is_continued(text: str, opened: int, at: int, closing: str) -> bool:
    """True when the quote at `at` continues the speech of the one at `opened`.

    It then begins the next paragraph, and the paragraph before it does not end with a `closing` quote.
    """
    paragraph = text[opened:at].rstrip()
    between = text[opened + len(paragraph) : at]
    return "\n" in between and "\n" not in paragraph and not paragraph.endswith(closing)
