"""Vectors of the context benchmark: asked for once, kept beside the novel, used where an embedder is named."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from flowcabal_tui.cli.bench_context import settings_of
from flowcabal_tui.cli.context_arguments import bench_arguments
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.project.bench.bench_memory import KeptVectors
from flowcabal_tui.project.bench.bench_report import ABLATED, ablations
from flowcabal_tui.project.bench.context_bench import BenchSettings


class CountingEmbedder:
    """Counts the texts that it is asked for."""

    identity, dimensions = "one", 2

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return [[float(len(text)), 1.0] for text in texts]


async def test_a_text_is_embedded_once_also_by_another_run(tmp_path: Path) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    made = await KeptVectors(first, tmp_path).embed(["船", "渡口", "船"])
    assert made == [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
    assert first.texts == ["船", "渡口"]
    assert await KeptVectors(second, tmp_path).embed(["渡口", "铜铃响"]) == [[2.0, 1.0], [3.0, 1.0]]
    assert second.texts == ["铜铃响"]


async def test_vectors_of_another_embedder_are_not_taken(tmp_path: Path) -> None:
    await KeptVectors(CountingEmbedder(), tmp_path).embed(["船"])
    other = CountingEmbedder()
    other.identity = "other"
    await KeptVectors(other, tmp_path).embed(["船"])
    assert other.texts == ["船"]


async def test_a_line_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    await KeptVectors(CountingEmbedder(), tmp_path).embed(["船", "渡口"])
    (file,) = tmp_path.iterdir()
    first, second = file.read_text("utf-8").splitlines()
    file.write_text(f'{first}\n{second[:-9]}\n["x"]\n["y", ["z"]]\n', "utf-8")
    again = CountingEmbedder()
    assert await KeptVectors(again, tmp_path).embed(["船", "渡口"]) == [[1.0, 1.0], [2.0, 1.0]]
    assert again.texts == ["渡口"]


def parsed(*words: str) -> BenchSettings:
    parser = argparse.ArgumentParser()
    bench_arguments(parser)
    return settings_of(parser.parse_args(words))


def test_the_address_of_an_embedder_brings_its_vectors() -> None:
    named = parsed("--embedding", "http://127.0.0.1:1/v1", "--dimensions", "8", "--budget", "12500")
    assert named.only == "vectors"
    assert named.embedding == Endpoint(
        provider="openai", model="embedding", base_url="http://127.0.0.1:1/v1", dimensions=8
    )
    assert (parsed().only, parsed().embedding) == ("structural", None)


def test_each_class_that_holds_something_is_switched_off_at_the_budget_that_was_asked_for() -> None:
    tried = ablations(parsed("--embedding", "http://127.0.0.1:1/v1", "--budget", "12500"))
    assert {each.budget for each in tried.values()} == {12_500}
    assert [each.without for each in tried.values() if each.without] == [(name,) for name in ABLATED]
    assert [each.embedding is not None for each in tried.values() if each.only == "vectors"] == [True]
