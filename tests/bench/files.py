"""Reading and writing files of others: time and memory of each reader, in a process of its own."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.manuscript.writer import export_manuscript
from tests.bench.report import Figure, checked
from tests.manuscript.damaged import DOCX, EPUB, good
from tests.manuscript.packages import docx

_PARAGRAPHS: Final = 60_000
_HAN: Final = "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可"
_RUN: Final = (
    '<w:rPr><w:rFonts w:ascii="宋体" w:eastAsia="宋体" w:hAnsi="宋体"/><w:sz w:val="24"/><w:szCs w:val="24"/></w:rPr>'
)
_STYLES: Final = '<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>'
_DAMAGED: Final = ("bomb-100-mb", "three-million-paragraphs-that-hardly-shrink", "entity-bomb", "too-many-elements")


def measure() -> list[Figure]:
    """Every file is made first and read in a fresh process."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chapters = _book()
        figures += _read(_word(folder / "word.docx"), "DOCX as Word writes it, 60,000 paragraphs", 3.0)
        for suffix in (".docx", ".epub", ".txt"):
            file = folder / f"own{suffix}"
            before = time.perf_counter()
            export_manuscript(file, BookDetails("盐账", "zh", "林远"), chapters)
            figures.append(checked(f"write 60,000 paragraphs as {suffix}", time.perf_counter() - before, 10.0, "s"))
            figures += _read(file, f"our own {suffix}, 60,000 paragraphs", 3.0)
        for case, suffix, make in [
            *((case, ".docx", make) for case, make in DOCX.items()),
            *((case, ".epub", make) for case, make in EPUB.items()),
        ]:
            if case in _DAMAGED:
                file = folder / f"{case}{suffix}"
                file.write_bytes(make(good(folder, suffix)))
                figures += _read(file, f"{case}{suffix}", 10.0)
    return figures


def _words(numbers: random.Random, length: int) -> str:
    return "".join(numbers.choice(_HAN) for _n in range(length))


def _book() -> list[ImportedChapter]:
    numbers = random.Random(81)
    texts = ["\n".join(f"{_words(numbers, 50)}。" for _n in range(100)) for _chapter in range(_PARAGRAPHS // 100)]
    return [ImportedChapter(f"第{n}章 雪", text) for n, text in enumerate(texts, start=1)]


def _word(file: Path) -> Path:
    """A property in every place where Word puts one: some twenty elements a paragraph."""
    numbers = random.Random(80)
    indent = f'<w:pPr><w:ind w:firstLineChars="200" w:firstLine="480"/><w:jc w:val="both"/>{_RUN}</w:pPr>'

    def paragraph(number: int) -> str:
        if number % 100 == 0:
            return (
                f'<w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r>{_RUN}<w:t>第{number // 100 + 1}章 雪</w:t></w:r></w:p>'
            )
        runs = "".join(f"<w:r>{_RUN}<w:t>{_words(numbers, 25)}</w:t></w:r>" for _n in range(2))
        return f'<w:p w:rsidR="00{number:06X}">{indent}{runs}</w:p>'

    return docx(file, "".join(map(paragraph, range(_PARAGRAPHS))), parts={"styles": _STYLES})


def _read(file: Path, what: str, most: float) -> list[Figure]:
    """Processor seconds and memory of a reading in a fresh process."""
    command = [sys.executable, "-m", "tests.bench.files", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory, outcome = done.stdout.split(maxsplit=2)
    return [
        checked(f"{what}: {outcome.strip()}", float(seconds), most, "s"),
        checked("  memory above the start", float(memory), 300, "MiB"),
    ]


def _main(file: Path) -> None:
    base, before = _peak(), time.process_time()
    try:
        outcome = f"{len(read_manuscript(file).chapters)} chapters"
    except ManuscriptError:
        outcome = "refused"
    used = time.process_time() - before
    print(used, (_peak() - base) >> 10, outcome)


def _peak() -> int:
    """KiB at the most since this program began; `ru_maxrss` begins with what the parent had."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
