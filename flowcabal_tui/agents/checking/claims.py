"""What a checker's model answers with."""

from __future__ import annotations

from pydantic import BaseModel, Field

from flowcabal_tui.domain.model_calls import StructuredAnswer


class Claim(BaseModel):
    """One finding as the model gives it."""

    angle: str = ""
    subtype: str = ""
    draft_quote: str
    source_id: str = ""
    source_quote: str
    explanation: str = ""
    confidence: float = Field(0.5, ge=0, le=1)


class Claims(StructuredAnswer):
    """The answer of a checker."""

    findings: list[Claim] = Field(json_schema_extra={"maxItems": 12})
