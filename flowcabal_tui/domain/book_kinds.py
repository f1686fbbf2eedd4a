"""Kinds of names defined by the writer, and the fields that a name of each kind has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import get_args

from flowcabal_tui.domain.memory import Entity, EntityKind


@dataclass(frozen=True, slots=True)
class BookKind:
    """A kind of names in one book, such as "sect". Agents and profiles treat its names as those of the kind `base`.

    A `name` that is an `EntityKind` is that kind itself, which gets these fields.
    """

    name: str
    base: EntityKind
    fields: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """True for a kind that the writer defined; False for a built-in one."""
        return self.name not in get_args(EntityKind)


def kind_of(entity: Entity, kinds: Iterable[BookKind]) -> BookKind:
    """The kind of an entity; a kind that the book no longer has gets no fields."""
    name = entity.own_kind or entity.kind
    return next((each for each in kinds if each.name == name), BookKind(name, entity.kind))


def field_names(entity: Entity, kinds: Iterable[BookKind]) -> tuple[str, ...]:
    """The fields of the entity's kind, then its additional fields."""
    return tuple(dict.fromkeys((*kind_of(entity, kinds).fields, *(name for name, _value in entity.fields))))


def of_kind(entity: Entity, kind: BookKind) -> Entity:
    """Returns the entity with this kind; its fields are kept."""
    return replace(entity, kind=kind.base, own_kind=kind.name if kind.is_own else "")
