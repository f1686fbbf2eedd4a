"""The offline model, with which a newcomer can try everything without a key."""

from __future__ import annotations

from flowcabal_tui.models.offline.model import MODEL_NAME, OfflineModel

__all__ = ["MODEL_NAME", "OfflineModel"]
