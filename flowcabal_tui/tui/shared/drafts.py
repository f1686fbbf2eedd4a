"""Stores typed, unsubmitted text, which outlives its screen and a crash."""

from __future__ import annotations

from typing import Protocol


class DraftTexts(Protocol):
    """Texts by key."""

    async def draft(self, key: str) -> str | None: ...

    async def put_draft(self, key: str, text: str | None) -> None: ...
