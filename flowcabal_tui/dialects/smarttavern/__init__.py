"""SmartTavern's flow documents, in JSON or YAML: reading as workflows, and writing compatible ones."""

from __future__ import annotations

from flowcabal_tui.dialects.smarttavern.library import findings, read
from flowcabal_tui.dialects.smarttavern.writing import write

__all__ = ["findings", "read", "write"]
