"""What counts as cached: a long beginning, of the same model, within the cache's life."""

from __future__ import annotations

import pytest

from tests.bench.cached import LEAST, Sent, cached_tokens, sent
from tests.bench.prompts import layers

LONG = "字" * (LEAST + 10)


@pytest.mark.parametrize(
    ("requests", "pause", "found"),
    [
        ([Sent("a", LONG + "x"), Sent("a", LONG + "y")], 0, True),
        ([Sent("a", LONG + "x"), Sent("b", LONG + "y")], 0, False),
        ([Sent("a", "x" + LONG), Sent("a", "y" + LONG)], 0, False),
        ([Sent("a", LONG[:100] + "x"), Sent("a", LONG[:100] + "y")], 0, False),
        ([Sent("a", LONG + "x", 0), Sent("a", LONG + "y", 1)], 300, False),
        ([Sent("a", LONG + "x", 1), Sent("a", LONG + "y", 1)], 300, True),
    ],
)
def test_a_long_beginning_that_the_model_had_lately_is_cached(requests, pause, found) -> None:
    assert (cached_tokens(requests, pause, life=300)[1] >= LEAST) is found


def test_tools_come_first_and_parts_are_counted_apart() -> None:
    body = {
        "model": "m",
        "tools": [{"name": "t"}],
        "messages": [{"role": "user", "content": "<plan>\na\n</plan>\nGo."}],
    }
    request = sent(body)
    assert request.text.startswith('[{"name": "t"}]\n[user]')
    assert set(layers([request])) == {"plan", "orders"}
