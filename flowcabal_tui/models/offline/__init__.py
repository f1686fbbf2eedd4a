"""The offline model, which lets a newcomer see everything without a key."""

from __future__ import annotations

from flowcabal_tui.models.offline.model import MODEL_NAME, OfflineModel

__all__ = ["MODEL_NAME", "OfflineModel"]
