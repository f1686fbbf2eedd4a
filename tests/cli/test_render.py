"""`render`: a workflow as rails, Mermaid, SVG and pixels, from files of every form and from projects."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.test_convert import put
from tests.cli.test_validate import SLIP, VELVETFLOW


def test_without_a_format_rails_are_drawn_in_the_terminal(call: Call, tmp_path: Path) -> None:
    drawn = call("render", put(tmp_path, VELVETFLOW))
    assert drawn.code == 0
    assert drawn.out.index("a") < drawn.out.rindex("b")
    assert "\x1b" not in drawn.out


def test_mermaid_can_be_printed(call: Call, tmp_path: Path) -> None:
    assert call("render", put(tmp_path, VELVETFLOW), "--format", "mermaid").out.startswith("flowchart")


@pytest.mark.parametrize("dark", [(), ("--dark",)], ids=["light", "dark"])
def test_the_ending_of_the_file_tells_the_format(call: Call, tmp_path: Path, dark: tuple[str, ...]) -> None:
    out = tmp_path / "w.svg"
    assert call("render", put(tmp_path, SLIP), "-o", out, *dark).code == 0
    assert ET.parse(out).getroot().tag.endswith("svg")


def test_light_and_dark_differ(call: Call, tmp_path: Path) -> None:
    file = put(tmp_path, SLIP)
    light, dark = (call("render", file, "--format", "svg", *more).out for more in ((), ("--dark",)))
    assert light != dark


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("jpeg", b"\xff\xd8"), ("jpg", b"\xff\xd8")])
def test_pixels_are_written_to_a_file(call: Call, tmp_path: Path, ending: str, magic: bytes) -> None:
    pytest.importorskip("resvg_py")
    out = tmp_path / f"w.{ending}"
    drawn = call("render", put(tmp_path, VELVETFLOW), "-o", out)
    assert drawn.code == 0, drawn.err
    assert out.read_bytes().startswith(magic)


def test_a_broken_reference_is_drawn_all_the_same(call: Call, tmp_path: Path) -> None:
    assert "plna" in call("render", put(tmp_path, SLIP), "--format", "mermaid").out


def test_an_ending_that_is_no_format_is_refused(call: Call, tmp_path: Path) -> None:
    tried = call("render", put(tmp_path, SLIP), "-o", tmp_path / "w.gif")
    assert tried.code == 2 and "svg" in tried.err


def test_a_workflow_of_a_project_is_drawn(demo: Path, call: Call) -> None:
    drawn = call("render", demo, "chapter")
    assert drawn.code == 0 and drawn.out.count("\n") > 2
    assert call("render", demo).code == 2, "which of its workflows?"
