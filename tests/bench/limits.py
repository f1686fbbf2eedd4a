"""What hostile and large documents, texts and histories cost at most. The tests count steps; the seconds are here."""

from __future__ import annotations

import contextlib
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.bindings import resolve
from flowcabal_tui.domain.conditions import Condition, check
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.expressions import evaluate
from flowcabal_tui.drawing.layout import lay_out
from flowcabal_tui.drawing.rails import rail_rows
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.nodes.validation import check_document
from flowcabal_tui.tui.widgets.prose_diff import prose_diff
from flowcabal_tui.viking import guard
from tests.bench.report import Figure, checked
from tests.drawing.drawings import random_drawing

HOSTILE: Final = 100_000
NODES: Final = 20_000


def measure() -> Iterator[Figure]:
    """The best of three, of processor time: what else the machine does is not measured."""
    yield checked("a hostile text of 100,000 characters, at worst", max(map(_best, _bindings())), 2, "s")
    yield checked("an expression that never ends", _best(_expression), 3, "s")
    yield checked("a pattern that never ends", _best(_pattern), 3, "s")
    yield checked("checking the largest workflow (20,000 nodes)", _best(_largest), 20, "s")
    yield checked("refusing a million nodes", _best(_million), 10, "s")
    yield checked("laying out 500 nodes", _best(lambda: lay_out(random_drawing(1, 500))), 2, "s")
    yield checked("rails of 5,000 nodes side by side", _best(_rails), 1, "s")
    yield checked("comparing two texts of 400,000 characters", _best(_texts_compared()), 2, "s")
    yield checked("counting the tokens of a chapter", 1000 * _best(_tokens), 1, "ms")
    yield checked("the guard of the knowledge server", 1000 * min(_guard() for _round in range(3)), 100, "ms")


def _best(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    taken = []
    for _round in range(3):
        began = time.process_time()
        with contextlib.suppress(FlowCabalError):
            work()
        taken.append(time.process_time() - began)
    return min(taken)


def _bindings() -> Iterator[Callable[[], object]]:
    for unit in ("{{a", "${", '{"__from__":', "{{", " {"):
        text = "{{" + unit * (HOSTILE // len(unit))
        yield lambda text=text: resolve(text, {"project": {"name": "x"}})


def _expression() -> object:
    return evaluate("any(1 > 2" + "".join(f" for {name} in values" for name in "abcdefghij") + ")", {"values": [1] * 9})


def _pattern() -> object:
    condition = Condition(kind="regex_match", source="long", pattern="(a+)+$b")
    return check(condition, {"long": "a" * 50_000})


def _largest() -> object:
    nodes: list[dict[str, Any]] = []
    for number in range(NODES):
        text = f"{{{{result_of.n{number - 1}.text}}}}" if number else "x"
        nodes.append({"id": f"n{number}", "kind": "prompt", "params": {"prompt": [{"kind": "text", "text": text}]}})
    return check_document({"id": "w", "nodes": nodes})


def _million() -> object:
    return check_document({"id": "w", "nodes": [{"id": "a"}] * 1_000_000})


def _rails() -> object:
    names = [f"n{at}" for at in range(5_000)]
    needs: dict[str, tuple[str, ...]] = {"s": (), **dict.fromkeys(names, ("s",)), "e": tuple(names)}
    return rail_rows(list(needs), needs)


def _texts_compared() -> Callable[[], object]:
    chance, signs = random.Random(5), [chr(0x4E00 + number) for number in range(600)]
    one, other = ("\n".join("".join(chance.choices(signs, k=200)) for _ in range(2_000)) for _side in range(2))
    return lambda: prose_diff(one, other)


def _tokens() -> object:
    return TokenEstimator().count("雨落在渡口的石阶上，她没有回头。" * 190)


def _guard() -> float:
    """Processor seconds of the guard around a command that does nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / "log"), str(Path(folder) / "mark")]
        command = [sys.executable, "-I", "-S", guard.__file__, *files, "1", "--", "true"]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
