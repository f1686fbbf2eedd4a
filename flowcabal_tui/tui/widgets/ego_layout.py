"""An ego graph in cells: the centre in a box, its neighbours in a column on each side, one per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.tui.widgets.cells import cell_width, crop

Role = Literal["line", "words", "name", "centre"]
Side = Literal["left", "right"]
CENTRE_CELLS: Final = 24
"""The widest name in the box."""
LINE_CELLS: Final = (16, 44)
"""The shortest line and the longest: it is as long as its words need."""
_PLAIN: Final = str.maketrans("─┄│┌┐└┘├┤┬┴┼╭╮╰╯→←", "-.|+++++++++++++><")
_TURNED: Final = str.maketrans("←→", "→←")
_JOINTS: Final = {
    (False, False, False, False): " ", (True, True, False, False): "│", (False, False, True, True): "─",
    (False, True, False, True): "┌", (False, True, True, False): "┐", (True, False, False, True): "└",
    (True, False, True, False): "┘", (True, True, False, True): "├", (True, True, True, False): "┤",
    (False, True, True, True): "┬", (True, False, True, True): "┴", (True, True, True, True): "┼",
    (False, False, True, False): "─", (False, False, False, True): "─",
    (True, False, False, False): "│", (False, True, False, False): "│",
}  # fmt: skip
"""(up, down, left, right) -> the sign in which these lines meet."""


@dataclass(frozen=True, slots=True)
class EgoNeighbour:
    """A neighbour of the centre. `outward`: an arrow leads to them, `inward`: one comes from them.

    `words` are the label of the line; a `loose` line is dashed, because they only occur together.
    """

    id: str
    name: str
    words: str = ""
    outward: bool = False
    inward: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class RowPiece:
    """Some cells of a row; `neighbour` is whom they show."""

    text: str
    role: Role | None = None
    neighbour: str = ""


@dataclass(frozen=True, slots=True)
class EgoPlan:
    """The rows of the neighbours on each side; the number of `rows`, and the row of the centre."""

    left: dict[int, EgoNeighbour]
    right: dict[int, EgoNeighbour]
    rows: int
    middle: int

    @property
    def order(self) -> tuple[EgoNeighbour, ...]:
        """All neighbours in the order of the cursor: down the left side, then down the right one."""
        return (*self.left.values(), *self.right.values())

    def place(self, neighbour: str) -> tuple[Side, int] | None:
        """The side and the row of a neighbour."""
        sides: tuple[tuple[Side, dict[int, EgoNeighbour]], ...] = (("left", self.left), ("right", self.right))
        for side, column in sides:
            for row, each in column.items():
                if each.id == neighbour:
                    return side, row
        return None


def lay_out(neighbours: Sequence[EgoNeighbour], height: int) -> EgoPlan:
    """Puts neighbours with an arrow to the centre at the left and the others at the right, both sides equally long.

    The order within a side is kept. Between two neighbours one or two rows stay free where `height` allows it; more
    rows than `height` are used when there are more neighbours.
    """
    left = [each for each in neighbours if each.inward and not each.outward]
    right = [each for each in neighbours if each.outward and not each.inward]
    for each in neighbours:
        if each.inward == each.outward:
            (left if len(left) <= len(right) else right).append(each)
    while abs(len(left) - len(right)) > 1:
        longer, shorter = (left, right) if len(left) > len(right) else (right, left)
        shorter.append(longer.pop())
    most = max(len(left), len(right))
    step = next((step for step in (3, 2) if step * (most - 1) < height), 1)
    rows = max(height, most, 3)
    middle = rows // 2
    return EgoPlan(_column(left, step, middle), _column(right, step, middle), rows, middle)


def _column(side: list[EgoNeighbour], step: int, middle: int) -> dict[int, EgoNeighbour]:
    first = max(0, middle - (step * (len(side) - 1) + 1) // 2)
    return {first + step * number: each for number, each in enumerate(side)}


def draw_row(plan: EgoPlan, centre: str, row: int, width: int, *, plain: bool = False) -> tuple[RowPiece, ...]:
    """The pieces of one row; they take at most `width` cells. `plain` draws lines in ASCII."""
    centre_name = crop(centre, min(CENTRE_CELLS, max(4, width // 3)))
    box = cell_width(centre_name) + 6
    side = max(0, (width - box - 2) // 2)
    name = min(max((1, *(cell_width(each.name) for each in plan.order))), side // 2)
    words = max((cell_width(each.words) for each in plan.order), default=0)
    line = min(max(LINE_CELLS[0], words + 5), LINE_CELLS[1], side - name - 1)
    pieces = (
        RowPiece(" " * ((width - box - 2) // 2 - name - line - 1)),
        *_branch(plan.left.get(row), name, line),
        RowPiece(_joint(plan, plan.left, row, inner_right=True), "line"),
        *_box(plan, centre_name, row),
        RowPiece(_joint(plan, plan.right, row, inner_right=False), "line"),
        *_mirrored(_branch(plan.right.get(row), name, line)),
    )
    if plain:
        pieces = tuple(
            RowPiece(each.text.translate(_PLAIN), each.role, each.neighbour) if each.role == "line" else each
            for each in pieces
        )
    return tuple(each for each in pieces if each.text)


def _branch(each: EgoNeighbour | None, name_room: int, line: int) -> tuple[RowPiece, ...]:
    """The name of a neighbour at the left, and the line from it to the stem."""
    if each is None:
        return (RowPiece(" " * (name_room + 1 + line)),)
    name, words = crop(each.name, name_room), crop(each.words, line - 4)
    stroke = "┄" if each.loose else "─"
    fill = stroke * (line - 3 - cell_width(words))
    return (
        RowPiece(" " * (name_room - cell_width(name))),
        RowPiece(name, "name", each.id),
        RowPiece(" "),
        RowPiece(("←" if each.outward else stroke) + stroke, "line", each.id),
        RowPiece(words, "words", each.id),
        RowPiece(fill + ("→" if each.inward else stroke), "line", each.id),
    )


def _mirrored(pieces: tuple[RowPiece, ...]) -> Iterator[RowPiece]:
    """The same at the right: the words stay, the lines and their arrows turn round."""
    for each in reversed(pieces):
        text = each.text[::-1].translate(_TURNED) if each.role == "line" else each.text
        yield RowPiece(text, each.role, each.neighbour)


def _joint(plan: EgoPlan, column: dict[int, EgoNeighbour], row: int, *, inner_right: bool) -> str:
    """The stem of a side in this row."""
    if not column:
        return " "
    first, last = min(min(column), plan.middle), max(max(column), plan.middle)
    branch, stub = row in column, row == plan.middle
    up, down = first < row <= last, first <= row < last
    return _JOINTS[up, down, branch if inner_right else stub, stub if inner_right else branch]


def _box(plan: EgoPlan, name: str, row: int) -> tuple[RowPiece, ...]:
    inner = cell_width(name) + 2
    if row == plan.middle:
        stubs = ["─" if column else " " for column in (plan.left, plan.right)]
        ends = ["┤" if plan.left else "│", "├" if plan.right else "│"]
        left, right = RowPiece(stubs[0] + ends[0] + " ", "line"), RowPiece(" " + ends[1] + stubs[1], "line")
        return left, RowPiece(name, "centre"), right
    if row == plan.middle - 1:
        return (RowPiece(f" ╭{'─' * inner}╮ ", "line"),)
    if row == plan.middle + 1:
        return (RowPiece(f" ╰{'─' * inner}╯ ", "line"),)
    return (RowPiece(" " * (inner + 4)),)
