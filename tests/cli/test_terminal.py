"""What a stranger wrote cannot command the terminal, whichever command prints it."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import flowcabal_tui.cli
from flowcabal_tui.cli.parser import parser
from flowcabal_tui.cli.printing import PlainPrinter
from flowcabal_tui.cli.terminal import json_text, say, say_json, say_over, say_row, say_trace
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.manuscript.mirror import mirror_digest, render_mirror
from flowcabal_tui.manuscript.writer import EXPORT_FORMATS, export_manuscript
from flowcabal_tui.protocol.runs import NodeStreaming

HOSTILE = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\x07\x08\x7f\u202ee\u2066f\x00\x90g\r"
HARMFUL = {chr(code) for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"} | set(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
PRINTER = "terminal.py"


def harmful(text: str) -> set[str]:
    """The characters of a text that a terminal would obey."""
    return HARMFUL & set(text)


def said(action: object, *arguments: object, **named: object) -> str:
    out = io.StringIO()
    action(*arguments, file=out, **named)  # type: ignore[operator]  # one of the functions of the module
    return out.getvalue()


def test_words_keep_their_letters_lines_and_tabs_only() -> None:
    assert said(say, HOSTILE, "x\ty\nz") == "abcdefg\n x\ty\nz\n"
    assert said(say, "half \ud800") == "half \ufffd\n"


def test_a_row_is_one_line_whatever_its_cells_hold() -> None:
    assert said(say_row, [1, "a\nb\tc", HOSTILE, ""]) == "1\ta b c\tabcdefg\t\n"


def test_json_stays_whole_and_harmless() -> None:
    value = {HOSTILE: [HOSTILE, "\u2028\ufeff\ud800", "雪"]}
    text = said(say_json, value)
    assert not harmful(text) and json.loads(text) == value and "雪" in text
    assert json.loads(json_text(value, indent=2)) == value and not harmful(json_text(value, indent=2))


def test_a_line_that_moves_holds_no_sequence_but_ours() -> None:
    assert said(say_over, HOSTILE) == "\r\x1b[Kabcdefg"


@pytest.mark.parametrize("encoding", ["gbk", "latin-1", "ascii"])
def test_an_encoding_that_lacks_characters_ends_no_command(encoding: str) -> None:
    environment = os.environ | {"PYTHONIOENCODING": f"{encoding}:strict"}
    for words, code in ((["--lang", "zh", "runs", "--help"], 0), (["--lang", "zh", "status", "/😀 雪"], 2)):
        command = [sys.executable, "-m", "flowcabal_tui", *words]
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert done.returncode == code and b"Traceback" not in done.stderr
        assert b"?" in done.stdout + done.stderr or encoding == "gbk"


@pytest.mark.parametrize("encoding", ["gbk", "latin-1", "utf-8"])
def test_json_is_whole_in_any_encoding(encoding: str) -> None:
    content = io.BytesIO()
    value = ["雪", "☃", "😀", "é", HOSTILE]
    stream = io.TextIOWrapper(content, encoding=encoding, errors="replace")
    say_json(value, file=stream, flush=True)
    assert json.loads(content.getvalue().decode(encoding)) == value


def test_a_sequence_that_arrives_in_pieces_is_no_sequence() -> None:
    out = io.StringIO()
    printer = PlainPrinter(moving=True, out=out)
    for piece in ("once\x1b", "]0;owned", "\x07 upon \x9b", "2J a time"):
        printer.event(NodeStreaming(RunId("r"), NodeId("n"), 1, 0, piece))
    assert not harmful(out.getvalue()) and "time" in out.getvalue()


def test_a_trace_is_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        say_trace(type(error), error, error.__traceback__)
    assert not harmful(capsys.readouterr().err)


def test_the_parser_repeats_what_was_typed_without_its_power(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["chapters", "x", f"--{HOSTILE}"])
    error = capsys.readouterr().err
    assert "abcdefg" in error and not harmful(error)


def test_only_the_printer_writes() -> None:
    found = []
    for path in Path(flowcabal_tui.cli.__file__).parent.glob("*.py"):
        if path.name == PRINTER:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name) and node.id in ("print", "pprint"):
                found.append(f"{path.name}:{node.lineno}")
            if isinstance(node, ast.Attribute) and node.attr in ("write", "writelines", "buffer"):
                owner = ast.unparse(node.value)
                if owner in ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "self._out"):
                    found.append(f"{path.name}:{node.lineno}")
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.write":
                found.append(f"{path.name}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_an_export_holds_no_control_sequence(name: str, tmp_path: Path) -> None:
    from flowcabal_tui.manuscript.reader import read_text

    path = tmp_path / f"book.{name}"
    chapters = [ImportedChapter(f"One {HOSTILE}", f"Snow.\n\n{HOSTILE}\tend", volume=f"Part {HOSTILE}")]
    details = BookDetails(title=f"Book {HOSTILE}", language="en", identifier="urn:uuid:1", author=f"Me {HOSTILE}")
    export_manuscript(path, details, chapters)
    text = path.read_text("utf-8") if name in ("txt", "md") else read_text(path).text
    assert not harmful(text) and "abcdefg" in text


def test_a_mirrored_chapter_holds_no_control_sequence_and_is_no_edit_made_outside() -> None:
    content = render_mirror(f"One {HOSTILE}", f"Snow. {HOSTILE}")
    assert not harmful(content) and mirror_digest(content) == mirror_digest(render_mirror("", "Snow. abcdefg\n"))


def test_a_folder_of_that_name_is_told_without_its_power(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "flowcabal_tui", "status", str(tmp_path / "x\x1b[2J\x9b1my")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not harmful(done.stderr) and "xy" in done.stderr
