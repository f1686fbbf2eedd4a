"""A model's window, as servers tell it."""

from __future__ import annotations

import json

import pytest

from flowcabal_tui.domain.windows import answer_room, context_room, prompt_room
from flowcabal_tui.models.windows import listed_window, refused_window

ROWS = {
    "llama.cpp": {"data": [{"id": "m", "meta": {"n_ctx_train": 131072, "n_ctx": 8192}}]},
    "vLLM": {"data": [{"id": "m", "max_model_len": 8192}]},
    "OpenRouter": {"data": [{"id": "x", "context_length": 4}, {"id": "m", "context_length": 8192}]},
    "Groq": {"data": [{"id": "m", "context_window": 8192}]},
    "LM Studio": {"data": [{"id": "m", "max_context_length": 131072, "loaded_context_length": 8192}]},
    "Ollama": {"models": [{"name": "m", "model": "m", "context_length": 8192}]},
    "llama.cpp props": {"default_generation_settings": {"n_ctx": 8192, "params": {"n_predict": -1}}},
    "an alias": {"data": [{"id": "file.gguf", "aliases": ["m"], "meta": {"n_ctx": 8192}}, {"id": "other"}]},
}
REFUSED = [
    '{"error":{"code":400,"message":"request (20031 tokens) exceeds the available context size (8192 tokens), try '
    'increasing it","type":"exceed_context_size_error","n_prompt_tokens":20031,"n_ctx":8192}}',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 20031 tokens.",
    "This model's maximum context length is 8,192 tokens. However, you requested 9000 tokens (8000 in the messages).",
    '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 20031 tokens > 8192 max"}}',
    "input length and `max_tokens` exceed context limit: 7000 + 2000 > 8192, decrease input length or `max_tokens`",
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 20031)",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]",
]


@pytest.mark.parametrize("server", list(ROWS))
def test_a_list_of_models_tells_the_window(server: str) -> None:
    assert listed_window(json.dumps(ROWS[server]).encode(), "m") == 8192


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"{}", b'{"data":null}', b'{"data":[{"id":"m"}]}', b'{"data":[{"id":"m","n_ctx":-1}]}'],
)
def test_what_says_nothing_of_it_teaches_nothing(body: bytes) -> None:
    assert listed_window(body, "m") is None


def test_the_window_of_another_model_is_not_taken() -> None:
    rows = {"data": [{"id": "a", "max_model_len": 8192}, {"id": "b", "max_model_len": 4096}]}
    assert listed_window(json.dumps(rows).encode(), "m") is None


@pytest.mark.parametrize("body", REFUSED)
def test_the_error_of_an_overflow_tells_the_window(body: str) -> None:
    assert refused_window(body) == 8192


@pytest.mark.parametrize("body", ["prompt is too long", "maximum context length is 99 tokens", "exceeds 5 tokens", ""])
def test_an_error_without_a_window_teaches_none(body: str) -> None:
    assert refused_window(body) is None


def test_the_reserve_is_a_share_of_a_small_window() -> None:
    assert (answer_room(8192, None), prompt_room(8192, None), context_room(8192, None)) == (2048, 6144, 5120)
    assert context_room(4096, None) == 2560
    assert (answer_room(200_000, None), answer_room(200_000, 8_000), answer_room(8_192, 500)) == (4096, 8000, 500)
