from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flowcabal_tui.drawing import raster
from flowcabal_tui.drawing.raster import Fonts, PictureError, missing_glyphs, picture
from flowcabal_tui.drawing.values import Drawing, DrawnEdge, DrawnNode

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("resvg_py")
LATIN = Drawing((DrawnNode("a", "Plan"), DrawnNode("b", "Draft")), (DrawnEdge("a", "b", "true"),))
CHINESE = Drawing((DrawnNode("a", "大纲"),))
NO_FONTS = Fonts(system=False)


def needs(letters: str) -> None:
    if missing_glyphs([letters], Fonts()):
        pytest.skip(f"no font here has {letters}")


@pytest.mark.parametrize(("as_format", "name"), [("png", "PNG"), ("jpeg", "JPEG")])
def test_the_picture_has_the_format_and_the_size_asked_for(as_format: str, name: str) -> None:
    needs("PlanDrftue")
    drawn = picture(LATIN, "jpeg" if as_format == "jpeg" else "png", scale=1.0)
    image = Image.open(io.BytesIO(drawn.data))
    assert image.format == name
    assert image.size == (drawn.width, drawn.height)
    assert picture(LATIN, scale=2.0).width == pytest.approx(2 * drawn.width, abs=2)


def test_dark_pictures_are_dark() -> None:
    needs("PlanDrftue")
    page = Image.open(io.BytesIO(picture(LATIN, dark=True).data)).convert("RGB").getpixel((1, 1))
    assert max(page) < 64


def test_chinese_is_drawn_where_a_font_has_it() -> None:
    needs("大纲")
    one, other = (picture(Drawing((DrawnNode("a", title),))).data for title in ("大纲", "人物"))
    assert one != other


def test_letters_that_no_font_has_are_refused_by_name() -> None:
    with pytest.raises(PictureError) as refused:
        picture(CHINESE, fonts=NO_FONTS)
    assert "大" in refused.value.title and "CJK" in refused.value.advice


def test_a_latin_font_alone_does_not_draw_chinese(tmp_path: Path) -> None:
    if not (finder := shutil.which("fc-match")):
        pytest.skip("no fontconfig here")
    found = subprocess.run([finder, "-f", "%{file}", "DejaVu Sans"], capture_output=True, text=True, check=True).stdout
    if Path(found).name != "DejaVuSans.ttf":
        pytest.skip("no DejaVu Sans here")
    (tmp_path / "font.ttf").write_bytes(Path(found).read_bytes())
    fonts = Fonts((str(tmp_path),), system=False)
    assert missing_glyphs(["Plan 大纲 ← …"], fonts) == "大纲"
    with pytest.raises(PictureError, match="大纲"):
        picture(CHINESE, fonts=fonts)
    assert picture(LATIN, fonts=fonts).missing == ""


def test_a_symbol_without_a_glyph_becomes_a_question_mark_and_is_told() -> None:
    needs("Plan?")
    drawn = picture(Drawing((DrawnNode("a", "Plan \U000e0fff"),)))
    assert drawn.missing == "\U000e0fff"
    assert drawn.data != picture(Drawing((DrawnNode("a", "Plan"),))).data


def test_a_huge_picture_is_scaled_down(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("PlanDrftue")
    monkeypatch.setattr(raster, "_MOST_PIXELS", 20_000)
    drawn = picture(LATIN, scale=4.0)
    assert drawn.scale < 1.0
    assert drawn.width * drawn.height <= 20_500


def test_without_the_packages_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(PictureError) as refused:
        picture(LATIN)
    assert "pictures" in refused.value.advice
