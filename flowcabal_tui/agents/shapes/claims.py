"""What a checker's model answers with."""

from __future__ import annotations

from pydantic import BaseModel, Field

from flowcabal_tui.domain.answer_schema import short_text
from flowcabal_tui.domain.model_calls import StructuredAnswer


class Claim(BaseModel):
    """One finding as the model gives it."""

    angle: str = short_text(default="")
    subtype: str = short_text(default="")
    draft_quote: str = short_text()
    source_id: str = short_text(default="")
    source_quote: str = short_text()
    explanation: str = short_text(default="")
    confidence: float = Field(0.5, ge=0, le=1)


class Claims(StructuredAnswer):
    """The answer of a checker."""

    findings: list[Claim] = Field(json_schema_extra={"maxItems": 12})
