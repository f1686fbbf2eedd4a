"""SmartTavern's flow documents, in JSON or YAML: read as workflows, and written where they can hold one."""

from __future__ import annotations

from flowcabal_tui.dialects.smarttavern.library import findings, read, read_library
from flowcabal_tui.dialects.smarttavern.writing import write

__all__ = ["findings", "read", "read_library", "write"]
