"""A drawing as PNG or JPEG, rendered from its SVG by resvg, with the fonts of the system."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, sqrt
from typing import Any, Final, Literal

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.drawing.layout import lay_out, shown, shown_label
from flowcabal_tui.drawing.svg import DARK, FONTS, LIGHT, svg_of
from flowcabal_tui.drawing.values import Drawing
from flowcabal_tui.locale import _

Format = Literal["png", "jpeg"]
_MOST_PIXELS: Final = 40_000_000
_MOST_SIDE: Final = 32_000
_CELL: Final = 24
_IN_A_ROW: Final = 64
_NO_GLYPH: Final = "\U000efffd"
_STAND_IN: Final = "?"
_UNSEEN: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"})


class PictureError(FlowCabalError):
    """A picture that cannot be rendered because a package or a font is missing."""


@dataclass(frozen=True, slots=True)
class Fonts:
    """The sources of glyphs: the system's fonts, and font files in further folders."""

    folders: tuple[str, ...] = ()
    system: bool = True


@dataclass(frozen=True, slots=True)
class Picture:
    """`data` in the requested format; `scale` is the actual scale; `missing` symbols are drawn as `?`."""

    data: bytes
    width: int
    height: int
    scale: float
    missing: str = ""


def picture(
    drawing: Drawing, as_format: Format = "png", *, dark: bool = False, scale: float = 2.0, fonts: Fonts | None = None
) -> Picture:
    """The drawing in pixels: `scale` pixels per SVG unit, fewer if the picture would exceed 40 megapixels.

    Raises PictureError if a package is missing, or if no font has the letters of the drawing (Chinese, say). Symbols
    without a glyph are replaced and reported.
    """
    _packages()
    fonts = fonts or Fonts()
    missing = missing_glyphs(_texts(drawing), fonts)
    if letters := "".join(char for char in missing if unicodedata.category(char).startswith("L")):
        raise PictureError(
            _("No font on this machine can draw {letters}.").format(letters=letters[:12]),
            _("{count} different characters of the drawing have no glyph.").format(count=len(letters)),
            _("Install a font that has them, such as Noto Sans CJK, or write SVG or Mermaid instead."),
        )
    layout = lay_out(drawing)
    fit = min(sqrt(_MOST_PIXELS / (layout.width * layout.height)), _MOST_SIDE / max(layout.width, layout.height))
    scale = min(scale, fit)
    text = svg_of(layout, DARK if dark else LIGHT).translate({ord(char): _STAND_IN for char in missing})
    png = _render(text, fonts, scale)
    width, height = _opened(png).size
    return Picture(_jpeg(png) if as_format == "jpeg" else png, width, height, scale, missing)


def missing_glyphs(texts: Sequence[str], fonts: Fonts) -> str:
    """The visible characters that no font can draw, sorted: each is drawn alone and compared with a missing one."""
    visible = {char for text in texts for char in text if unicodedata.category(char) not in _UNSEEN}
    chars = [_NO_GLYPH, *sorted(visible)]
    rows = ceil(len(chars) / _IN_A_ROW)
    width, height = _IN_A_ROW * _CELL, rows * _CELL
    cells = "".join(
        f'<text x="{x * _CELL + 2}" y="{y * _CELL + 18}" font-size="16">{escape(char)}</text>'
        for (y, x), char in ((divmod(at, _IN_A_ROW), char) for at, char in enumerate(chars))
    )
    probe = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="{escape(", ".join(FONTS))}"><rect width="{width}" height="{height}" fill="#fff"/>{cells}</svg>'
    )
    image = _opened(_render(probe, fonts, 1.0)).convert("L")

    def pixels(at: int) -> bytes:
        x, y = at % _IN_A_ROW * _CELL, at // _IN_A_ROW * _CELL
        cut: bytes = image.crop((x, y, x + _CELL, y + _CELL)).tobytes()
        return cut

    lacking = {pixels(0), b"\xff" * (_CELL * _CELL)}
    return "".join(char for at, char in enumerate(chars) if at and pixels(at) in lacking)


def _texts(drawing: Drawing) -> list[str]:
    texts = [shown_label(edge) for edge in drawing.edges]
    for node in drawing.nodes:
        title, kind, lines = shown(node)
        texts += [title, kind, *lines]
    return texts


def _packages() -> tuple[Any, Any]:
    """resvg and Pillow's Image, which come with the extra `pictures`."""
    try:
        import resvg_py
        from PIL import Image
    except ImportError as error:
        raise PictureError(
            _("PNG and JPEG need a package that is not installed."),
            str(error),
            _("Install flowcabal-tui[pictures], or write SVG or Mermaid instead."),
        ) from error
    return resvg_py, Image


def _render(text: str, fonts: Fonts, scale: float) -> bytes:
    resvg, _image_module = _packages()
    drawn: bytes = resvg.svg_to_bytes(
        svg_string=text, zoom=scale, skip_system_fonts=not fonts.system, font_dirs=list(fonts.folders) or None
    )
    return drawn


def _opened(png: bytes) -> Any:
    _resvg, image_module = _packages()
    return image_module.open(io.BytesIO(png))


def _jpeg(png: bytes) -> bytes:
    file = io.BytesIO()
    _opened(png).convert("RGB").save(file, "JPEG", quality=88, subsampling=0)
    return file.getvalue()
