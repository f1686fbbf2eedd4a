"""A replacement for the standard library's `dataclass` that creates classes in a tenth of the time.

The standard library compiles six functions for each class, most of which are never called. Here `__init__` is compiled
when the first object is made, and the others are not compiled at all. The type checker sees the standard library's
decorator; a class with an option that is not known here gets that one.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

Method = Callable[..., Any]
OPTIONS: Final[Mapping[str, bool]] = {
    "frozen": False, "slots": False, "eq": True, "repr": True, "kw_only": False, "unsafe_hash": False
}  # fmt: skip
"""The supported options with their defaults."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # passed on

    Field = dataclasses.Field[Any]
else:
    Field = dataclasses.Field

    def dataclass(kind: type | None = None, /, **options: bool) -> Any:
        """Takes the options of the standard library's decorator."""

        def made(of: type) -> type:
            if options.keys() <= OPTIONS.keys():
                return _value_class(of, {**OPTIONS, **options})
            return dataclasses.dataclass(**options)(of)

        return made if kind is None else made(kind)


def _value_class(of: type, options: Mapping[str, bool]) -> type:
    """The class with the methods that it does not define itself."""
    holder = _fields_of(of, options)
    real = dataclasses.fields(holder)
    has = set(vars(of))
    is_hashed = _is_hashed_by_fields(vars(of), options)
    made = _with_slots(of, real) if options["slots"] else _with_defaults(of, holder)
    made_of = {name: vars(holder)[name] for name in ("__dataclass_fields__", "__dataclass_params__")}
    made_of["__match_args__"] = tuple(field.name for field in real if field.init and not field.kw_only)
    for name, value in (*made_of.items(), *_methods(made, real, options)):
        if name not in has:
            setattr(made, name, value)
    if is_hashed:
        by_fields = _hash(real) if options["frozen"] or options["unsafe_hash"] else None
        type.__setattr__(made, "__hash__", by_fields)
    return made


def _with_slots(of: type, real: Sequence[Field]) -> type:
    """Recreates the class with slots, which cannot be added to an existing class."""
    left_out = {"__dict__", "__weakref__", *(field.name for field in real)}
    body = {name: value for name, value in vars(of).items() if name not in left_out}
    taken = {slot for base in of.__mro__[1:-1] for slot in _slots(base)}
    body["__slots__"] = tuple(field.name for field in real if field.name not in taken)
    made = type(of)(of.__name__, of.__bases__, body)
    made.__qualname__ = of.__qualname__
    return made


def _with_defaults(of: type, holder: type) -> type:
    """The class itself, with the plain default of a field in place of its description."""
    for name in [name for name, value in vars(of).items() if isinstance(value, dataclasses.Field)]:
        if name in vars(holder):
            setattr(of, name, vars(holder)[name])
        else:
            delattr(of, name)
    return of


def _fields_of(of: type, options: Mapping[str, bool]) -> Any:
    """A standard dataclass with the fields of this class and of its bases, and nothing else."""
    annotations = inspect.get_annotations(of)
    body = {name: value for name, value in vars(of).items() if name in annotations}
    body |= {"__annotations__": annotations, "__module__": of.__module__, "__doc__": "Fields."}
    make = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=options["kw_only"])
    holder: Any = make(type(of.__name__, (), body))
    for base in of.__mro__[1:]:  # the fields of the last base come first
        inherited = vars(base).get("__dataclass_fields__", {})
        holder.__dataclass_fields__ = {**inherited, **holder.__dataclass_fields__}
    parameters = holder.__dataclass_params__
    parameters.init = True
    for name in ("frozen", "eq", "repr", "unsafe_hash"):
        setattr(parameters, name, options[name])
    return holder


def _slots(base: type) -> Sequence[str]:
    slots = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _methods(made: type, real: Sequence[Field], options: Mapping[str, bool]) -> Iterator[tuple[str, Method]]:
    yield "__init__", _init_at_first_use(made, frozen=options["frozen"])
    if options["repr"]:
        yield "__repr__", _repr
    if options["eq"]:
        yield "__eq__", _equality(real)
    if options["frozen"]:
        names = frozenset(field.name for field in real)
        yield "__setattr__", _refusal(made, names, "__setattr__", "cannot assign to field {!r}")
        yield "__delattr__", _refusal(made, names, "__delattr__", "cannot delete field {!r}")
        yield "__getstate__", _getstate
        yield "__setstate__", _setstate


def _is_hashed_by_fields(body: Mapping[str, Any], options: Mapping[str, bool]) -> bool:
    """False where the class defines or inherits its hash. Python sets None beside an `__eq__` of the class."""
    has_own = "__hash__" in body and not (body["__hash__"] is None and "__eq__" in body)
    return not has_own and (options["eq"] or options["unsafe_hash"])


def _values(fields: Sequence[Field]) -> Callable[[Any], tuple[Any, ...]]:
    names = [field.name for field in fields]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _equality(real: Sequence[Field]) -> Method:
    compared = _values([field for field in real if field.compare])

    def equal(self: Any, other: Any) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(real: Sequence[Field]) -> Method:
    values = _values([field for field in real if (field.compare if field.hash is None else field.hash)])

    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refusal(made: type, names: frozenset[str], method: str, words: str) -> Method:
    """A subclass without the decorator may have attributes of its own."""

    def refuse(self: Any, name: str, *value: object) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(words.format(name))
        getattr(super(made, self), method)(name, *value)

    return refuse


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _setstate(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _init_at_first_use(made: type, *, frozen: bool) -> Method:
    def first(self: Any, *given: Any, **named: Any) -> None:
        compiled = _compiled_init(made, frozen=frozen)
        type.__setattr__(made, "__init__", compiled)
        compiled(self, *given, **named)

    return first


def _compiled_init(made: type, *, frozen: bool) -> Method:
    """Sets the fields in their order, then calls `__post_init__` if there is one."""
    words: dict[str, Any] = {"_set_": object.__setattr__, "_absent_": object()}
    plain, by_name, lines = ["_self_"], ["*"], []
    for field in dataclasses.fields(made):
        name, default = field.name, f"_default_{field.name}"
        makes = field.default_factory is not dataclasses.MISSING
        words[default] = field.default_factory if makes else field.default
        is_optional = words[default] is not dataclasses.MISSING
        value = f"{default}()" if makes else default
        if field.init:
            given = f"={'_absent_' if makes else default}" if is_optional else ""
            (by_name if field.kw_only else plain).append(name + given)
            value = f"{value} if {name} is _absent_ else {name}" if makes else name
        if field.init or is_optional:
            lines.append(f"_set_(_self_, {name!r}, {value})" if frozen else f"_self_.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("_self_.__post_init__()")
    taken = ", ".join([*plain, *(by_name if len(by_name) > 1 else ())])
    exec("\n ".join([f"def __init__({taken}):", *(lines or ["pass"])]), words)  # its text has names of fields only
    init: Method = words["__init__"]
    init.__qualname__, init.__module__ = f"{made.__qualname__}.__init__", made.__module__
    return init
