"""What a value is refused for, in words that have a translation."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from flowcabal_tui.domain.refusals import refusal


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    language: Literal["zh", "en"] = "en"
    tokens: int = Field(500, ge=500, le=9_000)
    timeout: float = Field(1.0, gt=0, lt=10)
    name: str = Field("x", min_length=1)
    parts: list[int] = []
    inner: dict[str, int] = {}
    on: bool = True

    @field_validator("name")
    @classmethod
    def _no_key(cls, name: str) -> str:
        if name.startswith("sk-"):
            raise ValueError("A key does not belong here.")
        return name


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"language": "fr"}, "It must be one of: 'zh', 'en'."),
        ({"tokens": 3}, "It must be at least 500."),
        ({"tokens": 10_000}, "It must be at most 9000."),
        ({"tokens": "many"}, "It must be a whole number."),
        ({"tokens": 600.5}, "It must be a whole number."),
        ({"timeout": 0}, "It must be more than 0."),
        ({"timeout": 10}, "It must be less than 10."),
        ({"timeout": "soon"}, "It must be a number."),
        ({"name": ""}, "It must not be empty."),
        ({"name": 3}, "It must be text."),
        ({"name": "sk-1"}, "A key does not belong here."),
        ({"parts": 1}, "It must be a list."),
        ({"inner": 1}, "It must be an object with fields."),
        ({"on": "perhaps"}, "It must be true or false."),
        ({"nme": "x"}, "It has no meaning here."),
    ],
)
def test_a_refusal_has_a_message_of_this_program(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate(values)
    assert [refusal(one) for one in refused.value.errors()] == [said]
