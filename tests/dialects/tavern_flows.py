"""Several flows of SmartTavern that call each other."""

from __future__ import annotations

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.dialects.report import Conversion
from flowcabal_tui.dialects.smarttavern import read
from flowcabal_tui.dialects.smarttavern.document import TavernFlow, shape


def read_together(*texts: str) -> list[Conversion]:
    """Each flow, read with the others at hand. Raises DialectError."""
    known = [flow for flow in map(shape, map(load, texts)) if isinstance(flow, TavernFlow)]
    return [read(text, known) for text in texts]
