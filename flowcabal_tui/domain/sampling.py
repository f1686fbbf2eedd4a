"""Parameters of sampling besides the temperature: of a node, or of an endpoint for nodes that set none."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

SAMPLING: Final = ("top_p", "frequency_penalty", "presence_penalty", "stop", "seed")
TopP = Annotated[float | None, Field(gt=0, le=1, description="Only the likeliest words up to this share; 0 to 1.")]
FrequencyPenalty = Annotated[
    float | None, Field(ge=-2, le=2, description="Penalty for words by how often they were used; -2 to 2.")
]
PresencePenalty = Annotated[float | None, Field(ge=-2, le=2, description="Penalty for words already used; -2 to 2.")]
Stop = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    Field(max_length=4, description="Texts at which the answer ends; at most 4."),
]
Seed = Annotated[int | None, Field(ge=0, description="Makes equal requests alike, where the provider can.")]


class Sampled(BaseModel, defer_build=True):
    """A subclass declares the fields of SAMPLING. Unset fields are not serialised, so that digests stay the same."""

    @property
    def sampling(self) -> tuple[tuple[str, Any], ...]:
        """The fields that are set, as parameters of a request."""
        found = ((name, getattr(self, name)) for name in SAMPLING)
        return tuple((name, value) for name, value in found if value not in (None, ()))

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = handler(self)
        return {name: value for name, value in dumped.items() if name not in SAMPLING or value not in (None, (), [])}
