"""Value classes behave as those of the standard library; each test runs on both."""

from __future__ import annotations

import abc
import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from flowcabal_tui.domain import value_class

T = TypeVar("T")
Decorator = Callable[..., Any]
BOTH = (dataclasses.dataclass, value_class.dataclass)


@pytest.fixture(params=BOTH, ids=("standard library", "ours"))
def dataclass(request: pytest.FixtureRequest) -> Decorator:
    """The decorator under test."""
    found: Decorator = request.param
    return found


def place(dataclass: Decorator) -> Any:
    """A class with every kind of field."""

    @dataclass(frozen=True, slots=True)
    class Place:
        kind: ClassVar[str] = "place"
        name: str
        size: int = 3
        tags: list[str] = field(default_factory=list, compare=False)
        secret: str = field(default="", repr=False)
        seen: int = field(default=7, init=False)
        only_named: bool = field(default=False, kw_only=True)

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("a name")

    return Place


def test_it_is_made_with_defaults_by_place_and_by_name(dataclass: Decorator) -> None:
    made = place(dataclass)("York", 5, only_named=True)
    assert (made.name, made.size, made.tags, made.secret, made.seen, made.only_named) == ("York", 5, [], "", 7, True)
    assert place(dataclass)("a").tags is not place(dataclass)("a").tags
    assert place(dataclass).kind == "place"
    for wrong in (lambda kind: kind(), lambda kind: kind("a", 1, [], "", True), lambda kind: kind("a", other=1)):
        with pytest.raises(TypeError, match=r"Place\.__init__"):
            wrong(place(dataclass))
    with pytest.raises(ValueError, match="a name"):
        place(dataclass)("")


def test_it_is_equal_by_its_fields_and_hashed_by_them(dataclass: Decorator) -> None:
    kind = place(dataclass)
    assert kind("a", tags=["x"]) == kind("a")
    assert hash(kind("a", 2, ["x"])) == hash(kind("a", 2))
    assert kind("a") != kind("b")
    assert kind("a") != place(dataclass)("a"), "another class"
    assert kind("a") != "a"
    assert len({kind("a"), kind("a"), kind("b")}) == 2

    @dataclass(frozen=True, slots=True)
    class One:
        value: float

    nan = float("nan")
    assert One(nan) == One(nan)
    assert {One(1): 2}[One(1.0)] == 2

    @dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    assert Nothing() == Nothing()
    assert repr(Nothing()).endswith("Nothing()")


def test_the_repr_of_a_value_names_its_fields(dataclass: Decorator) -> None:
    shown = repr(place(dataclass)("York", secret="no"))
    assert shown.rpartition(".")[2] == "Place(name='York', size=3, tags=[], seen=7, only_named=False)"
    circle = place(dataclass)("a")
    circle.tags.append(circle)
    assert "..." in repr(circle)


def test_a_value_cannot_be_changed(dataclass: Decorator) -> None:
    made = place(dataclass)("York")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'size'"):
        made.size = 4
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'size'"):
        del made.size
    with pytest.raises((FrozenInstanceError, TypeError)):
        made.other = 4
    assert not hasattr(made, "__dict__")


def test_it_is_a_dataclass_for_the_standard_library(dataclass: Decorator) -> None:
    made = place(dataclass)("York", only_named=True)
    changed = replace(made, size=9)
    assert (changed.size, changed.only_named, type(changed)) == (9, True, type(made))
    assert list(asdict(made)) == [each.name for each in fields(made)]
    assert astuple(made) == ("York", 3, [], "", 7, True)
    assert copy.copy(made) == copy.deepcopy(made) == made
    assert (dataclasses.is_dataclass(made), made.__dataclass_params__.frozen) == (True, True)
    match made:
        case object(name=name, size=size):
            assert (name, size) == ("York", 3)
    assert type(made).__match_args__ == ("name", "size", "tags", "secret")


def test_a_subclass_has_the_fields_of_its_bases_first(dataclass: Decorator) -> None:
    @dataclass(frozen=True, slots=True)
    class Base:
        first: int
        second: int = 2

        def doubled(self) -> int:
            return 2 * self.first

    @dataclass(frozen=True, slots=True)
    class Under(Base):
        second: int = 4
        third: int = 3

    assert [each.name for each in fields(Under)] == ["first", "second", "third"]
    made = Under(1)
    assert (made.second, made.third, made.doubled()) == (4, 3, 2)
    assert made != Base(1, 4)
    assert Base(1).second == 2

    class Plain(Base):
        pass

    plain = Plain(5)
    assert plain == Plain(5)
    with pytest.raises(FrozenInstanceError):
        plain.first = 6


def test_methods_of_the_class_stay(dataclass: Decorator) -> None:
    @dataclass(frozen=True, slots=True)
    class Own:
        name: str

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

        def __repr__(self) -> str:
            return "own"

    assert (Own("a") == 3, hash(Own("a")), repr(Own("a"))) == (True, 5, "own")

    @dataclass(frozen=True, slots=True)
    class Equal:
        name: str

        def __eq__(self, other: object) -> bool:
            return True

    assert hash(Equal("a")) == hash(Equal("a"))


@pytest.mark.parametrize(
    ("options", "hashable", "changeable"),
    [
        ({"slots": True}, False, True),
        ({"slots": True, "eq": False}, True, True),
        ({"slots": True, "unsafe_hash": True}, True, True),
        ({"slots": True, "frozen": True, "eq": False}, True, False),
        ({"slots": True, "frozen": True, "kw_only": True}, True, False),
        ({}, False, True),
        ({"frozen": True}, True, False),
        ({"unsafe_hash": True}, True, True),
        ({"slots": True, "frozen": True, "order": True}, True, False),
    ],
)
def test_options(dataclass: Decorator, options: dict[str, bool], *, hashable: bool, changeable: bool) -> None:
    @dataclass(**options)
    class Some:
        name: str = "a"

    made = Some(name="b")
    assert (type(made).__hash__ is not None) == hashable
    assert (made == Some(name="b")) == options.get("eq", True)
    try:
        made.name = "c"
    except FrozenInstanceError:
        assert not changeable
    else:
        assert changeable
    if options.get("kw_only"):
        with pytest.raises(TypeError):
            Some("c")


def test_a_class_without_slots_is_the_class_itself(dataclass: Decorator) -> None:
    class Chosen:
        name: str
        tags: list[str] = field(default_factory=list)
        size: int = field(default=3, repr=False)

    made = dataclass(Chosen)
    assert made is Chosen
    assert (made.size, hasattr(made, "tags"), hasattr(made, "name")) == (3, False, False)
    one = made("a")
    one.note = "an attribute of its own"
    one.tags.append("b")
    assert one == made("a", ["b"])
    assert repr(one).endswith("Chosen(name='a', tags=['b'])")
    assert made.__hash__ is None

    @dataclass
    class Under(made):  # type: ignore[misc, valid-type]  # made above
        size: int = 5

        def __init__(self, name: str) -> None:
            super().__init__(name.upper())

    assert (Under("a").name, Under("a").size) == ("A", 3)


def test_it_may_be_abstract_and_generic(dataclass: Decorator) -> None:
    @dataclass(frozen=True, slots=True)
    class Shape(abc.ABC, Generic[T]):
        side: T

        @abc.abstractmethod
        def area(self) -> T: ...

    with pytest.raises(TypeError, match="abstract"):
        Shape(3)

    @dataclass(frozen=True, slots=True)
    class Square(Shape[int]):
        def area(self) -> int:
            return self.side**2

    assert Square(3).area() == 9


def test_a_mutable_default_is_refused(dataclass: Decorator) -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @dataclass(frozen=True, slots=True)
        class Wrong:
            names: list[str] = []  # noqa: RUF012  # the mistake that is refused


@value_class.dataclass(frozen=True, slots=True)
class Kept:
    """At the top of a module, where pickle finds it."""

    name: str
    words: tuple[str, ...] = ()


def test_it_travels_between_processes() -> None:
    assert pickle.loads(pickle.dumps(Kept("a", ("b",)))) == Kept("a", ("b",))


def test_nothing_is_compiled_until_the_first_object_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setattr(
        value_class, "exec", lambda text, words: (compiled.append(text), exec(text, words)), raising=False
    )
    kind = place(value_class.dataclass)
    assert compiled == []
    assert (kind("a"), kind("b")) == (kind("a"), kind("b"))
    assert len(compiled) == 1
