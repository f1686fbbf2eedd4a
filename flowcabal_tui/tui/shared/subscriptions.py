"""The table of subscriptions: the controller method for each event, pane request and key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import Field, fields
from inspect import iscoroutine
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform, get_args, get_type_hints

from textual.message import Message
from textual.screen import Screen

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.tui.shared.trouble import Trouble, attempt

E = TypeVar("E")
C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])
_MARKS: Final = "_subscriptions"
EVENT: Final = "event"
"""Marks a method for events, whose classes its argument names."""


@dataclass_transform()
class Request(Message):
    """A request of a pane to the workspace, a dataclass. Its fields are the arguments of the method that handles it."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(cls)


@dataclass(frozen=True, slots=True)
class _Mark:
    """One subscription. `arguments` come from a key; `group` and `exclusive` are those of the worker."""

    what: str | type[Request]
    arguments: tuple[tuple[str, Any], ...] = ()
    group: str = "default"
    exclusive: bool = False


def _marked(method: F, mark: _Mark) -> F:
    setattr(method, _MARKS, (*getattr(method, _MARKS, ()), mark))
    return method


def on_event(method: Callable[[C, E], None]) -> Callable[[C, E], None]:
    """Marks the method as the handler of the event class, or classes, of its argument.

    It returns at once and starts long work as a worker.
    """
    return _marked(method, _Mark(EVENT))


def on_request(kind: type[Request], *, group: str = "default", exclusive: bool = False) -> Callable[[F], F]:
    """Marks the method that handles requests of this class: it is called with their fields, as a worker of `group` if
    it is a coroutine."""
    return lambda method: _marked(method, _Mark(kind, (), group, exclusive))


def on_key(action: str, /, *, group: str = "default", exclusive: bool = False, **arguments: Any) -> Callable[[F], F]:
    """Marks the method that handles the action with this id of the table of actions; it is called with `arguments`."""
    return lambda method: _marked(method, _Mark(action, tuple(arguments.items()), group, exclusive))


def _event_kinds(method: Callable[..., Any]) -> tuple[type, ...]:
    kind = next(iter(get_type_hints(method).values()))
    return get_args(kind) or (kind,)


class Subscriptions:
    """The marked methods of the controllers of a screen."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self._methods: defaultdict[str | type, list[tuple[Callable[..., Any], _Mark]]] = defaultdict(list)
        self._early: list[Request] | None = []
        """Requests that came before there were controllers."""

    def add(self, *controllers: object) -> None:
        """Collects the marked methods; those of an earlier controller are called first."""
        for controller in controllers:
            for name, method in vars(type(controller)).items():
                for mark in getattr(method, _MARKS, ()):
                    for what in _event_kinds(method) if mark.what == EVENT else (mark.what,):
                        self._methods[what].append((getattr(controller, name), mark))
        early, self._early = self._early or [], None
        for request in early:
            self.request(request)

    def publish(self, event: object) -> None:
        """Passes an event to all methods that handle its class, in order; a failing one does not stop the others."""
        for method, _mark in self._methods.get(type(event), ()):
            try:
                method(event)
            except Exception as error:  # the edge: whatever a method did not foresee is reported, not fatal
                self._report(error)

    def request(self, request: Request) -> bool:
        """Carries out a pane's request; returns False if nothing handles it. Requests wait until the controllers
        exist."""
        if self._early is not None:
            self._early.append(request)
            return True
        return self.carry_out(type(request), *(getattr(request, field.name) for field in fields(request)))

    def carry_out(self, what: str | type, *values: Any) -> bool:
        """Calls the methods marked for an id of an action, or for a class of requests with the values of its fields;
        returns False if there is none."""
        for method, mark in self._methods.get(what, ()):
            try:
                work = method(*values, **dict(mark.arguments))
            except Exception as error:  # the edge, as above
                self._report(error)
            else:
                if iscoroutine(work):
                    attempt(self._screen, work, group=mark.group, exclusive=mark.exclusive)
        return what in self._methods

    def _report(self, error: Exception) -> None:
        self._screen.app.post_message(Trouble(error))
