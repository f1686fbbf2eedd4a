"""Node kinds are found by their name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flowcabal_tui.nodes.registry import kind_named, kinds


def test_every_kind_is_found_by_its_name() -> None:
    assert {name: kind_named(name) for name in kinds()} == kinds()


@pytest.mark.parametrize("name", ["", "registry", "no_such_kind", "../prompt", "os.path"])
def test_what_is_no_kind_is_none(name: str) -> None:
    assert kind_named(name) is None


def test_one_kind_does_not_load_the_others() -> None:
    program = (
        "import sys; from flowcabal_tui.nodes.registry import kind_named; kind_named('prompt');"
        "sys.exit('flowcabal_tui.nodes.kinds.loop' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
