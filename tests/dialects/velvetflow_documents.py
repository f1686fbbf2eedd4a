"""Small VelvetFlow documents for property tests: paths in every place where one can stand, right and wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from flowcabal_tui.actions.registry import Action

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
ROW = {
    "type": "object",
    "properties": {"name": TEXT, "score": NUMBER, "tags": {"type": "array", "items": TEXT}},
    "required": ["name", "score", "tags"],
}
ROWS = {"type": "array", "items": ROW}
MADE = {
    "title": TEXT,
    "n": NUMBER,
    "rows": ROWS,
    "meta": {"type": "object", "properties": {"kind": TEXT, "deep": ROWS}},
}
ANY: dict[str, Any] = {}
RESULT = {
    "title": "snow",
    "n": 3,
    "rows": [{"name": "a", "score": 1, "tags": ["x", "y"]}, {"name": "b", "score": 5, "tags": ["z"]}],
    "meta": {"kind": "k", "deep": [{"name": "c", "score": 2, "tags": ["w"]}]},
}
TEMPLATES = {"make": {"result": RESULT}, "use": {"result": {"said": "{{x}}"}}}
REGISTRY = {
    "make": Action(
        action_id="make",
        description="",
        arg_schema={"type": "object", "properties": {"of": ANY}},
        output_schema={"type": "object", "properties": MADE},
    ),
    "use": Action(
        action_id="use",
        description="",
        arg_schema={"type": "object", "properties": {"x": ANY}, "required": ["x"]},
        output_schema={"type": "object", "properties": {"said": ANY}},
    ),
}
Schema = dict[str, Any]
Names = dict[str, Schema]
"""What can be named at a place: the beginning of a path, with the schema of what it leads to."""


def parts_of(path: str, schema: Schema, depth: int = 3) -> Iterator[tuple[str, Schema]]:
    """Every path below a path, with its schema."""
    yield path, schema
    if not depth:
        return
    if schema.get("type") == "object":
        for name, inner in schema.get("properties", {}).items():
            yield from parts_of(f"{path}.{name}", inner, depth - 1)
    elif schema.get("type") == "array":
        inner = schema["items"]
        yield from parts_of(f"{path}[0]", inner, depth - 1)
        for name, part in inner.get("properties", {}).items():
            yield from parts_of(f"{path}.{name}", {"type": "array", "items": part}, depth - 1)


def full(path: str, names: Names) -> str:
    """A path as it stands without braces: with `result_of` unless it begins with another name."""
    return path if any(path.startswith(name) for name in names) else f"result_of.{path}"


class Maker:
    """Draws one document. `wrong` says whether a path leads nowhere on purpose."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.count = draw, 0

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}" if self.draw(st.integers(0, 4)) else f"{kind}-{self.count}"

    def paths(self, names: Names, kind: str = "") -> list[str]:
        found = [one for name, schema in names.items() for one in parts_of(name, schema)]
        return [path for path, schema in found if not kind or schema.get("type") == kind]

    def path(self, names: Names, kind: str = "") -> str:
        """A path that leads to a value of that kind, or now and then nowhere; what is below `ANY` nobody can check."""
        found = [one for name, schema in names.items() for one in parts_of(name, schema)]
        found = [(path, schema) for path, schema in found if not kind or schema.get("type") == kind]
        path, schema = self.draw(st.sampled_from(found)) if found else ("nowhere.at_all", {})
        if path.startswith("result_of.") and self.draw(st.booleans()):
            path = path.removeprefix("result_of.") if "-" not in path.split(".")[1] else path
        if schema and schema.get("items") != ANY and self.draw(st.integers(0, 24)) == 0:
            return path + self.one(".missing", ".rowz[0]", "[0].missing")
        return path

    def bound(self, names: Names) -> Any:
        """A value for a parameter, with a path in one of the forms."""
        path = self.path(names)
        bare = full(path, names)
        return self.one(
            "{{ " + path + " }}",
            "{{" + path + "}}",
            "so ${" + path + "}!",
            "about {{" + path + "}} and more",
            {"__from__": bare},
            {"__from__": bare, "__agg__": "count"},
            'as {"__from__": "' + bare + '"} says',
            [{"deep": {"__from__": bare}}, "{{ " + path + " }}"],
            "{{ " + self.path(names, "array") + " | length }}",
            "all {{ (" + self.path(names, "array") + ") | length }} of them",
            "{{ " + self.path(names, "array") + ".length }}",
            "{{ " + self.path(names, "array") + " | join(', ') }}",
        )

    def expression(self, names: Names) -> str:
        number, many, text = self.path(names, "integer"), self.path(names, "array"), self.path(names, "string")
        return self.one(
            "{{ " + number + " > 2 }}",
            "{{ (" + many + " | length) > 0 }}",
            "{{ " + many + " | length > 0 and " + text + " == 'snow' }}",
            "{{ " + text + " | upper == 'RAIN' or not " + number + " }}",
            "{{ " + text + " is not none }}",
            "{{ (" + number + " + 1) * 2 >= " + number + " }}",
            number + " > 2",
            "len(" + many + ") > 1",
        )

    def condition(self, names: Names) -> dict[str, Any]:
        kind = self.one("expression", "equals", "greater_than", "is_empty", "between", "compare", "list_not_empty")
        source = self.path(
            names, {"greater_than": "integer", "between": "integer", "list_not_empty": "array"}.get(kind, "")
        )
        whole = full(source, names)
        whole = self.one(whole, "{{ " + source + " }}", {"__from__": whole})
        match kind:
            case "expression":
                return {"expression": self.expression(names)}
            case "equals":
                return {"kind": kind, "source": whole, "value": self.one(None, 3, "{{ " + self.path(names) + " }}")}
            case "greater_than":
                return {"kind": kind, "source": whole, "threshold": 2}
            case "between":
                return {"kind": kind, "source": whole, "min": 0, "max": 5}
            case "compare":
                return {"source": whole, "op": "==", "value": {"__from__": self.path(names)}}
        return {"kind": kind, "source": whole}

    def nodes(self, names: Names, depth: int, most: int) -> tuple[list[dict[str, Any]], Names]:
        """Nodes one after the other, each of which may read those before it; and what can be named behind them."""
        made: list[dict[str, Any]] = []
        names, own = dict(names), Names()
        for _n in range(self.draw(st.integers(1, most))):
            kind = self.one("make", "use", "use", "condition", *(["loop", "loop"] if depth else []))
            if kind == "use" and not self.paths(names):
                kind = "make"
            if kind in ("condition", "loop") and not self.paths(names, "array"):
                kind = "make"
            name = self.name(kind)
            if kind == "make":
                made.append({"id": name, "type": "action", "action_id": "make", "params": {"of": "x"}})
                schema: Schema = {"type": "object", "properties": MADE}
            elif kind == "use":
                value = self.bound(names)
                made.append({"id": name, "type": "action", "action_id": "use", "params": {"x": value}})
                schema = {"type": "object", "properties": {"said": ANY}}
            elif kind == "condition":
                made.append({"id": name, "type": "condition", "params": self.condition(names)})
                schema = {"type": "object", "properties": {"condition_result": {"type": "boolean"}}}
            else:
                node, schema = self.loop(name, names, depth)
                made.append(node)
            names[f"result_of.{name}"] = own[f"result_of.{name}"] = schema
        return made, own

    def loop(self, name: str, names: Names, depth: int) -> tuple[dict[str, Any], Schema]:
        source = self.path(names, "array")
        schema = next((one for base, top in names.items() for path, one in parts_of(base, top) if path == source), None)
        if schema is None:
            whole = "result_of." + source
            schema = next(
                (one for base, top in names.items() for path, one in parts_of(base, top) if path == whole), {}
            )
        item = schema.get("items", ANY)
        alias = f"each_{self.count}"
        inside = {
            **names,
            alias: item,
            "loop.item": item,
            "loop.index": NUMBER,
            f"{name}.item" if "-" not in name else alias: item,
        }
        nodes, own = self.nodes(inside, depth - 1, 3)
        exports, taken = self.exports({**own}, nodes)
        params: dict[str, Any] = {
            "loop_kind": "for_each",
            "source": self.one("{{ " + source + " }}", {"__from__": source}),
            "item_alias": alias,
            "body_subgraph": {"nodes": nodes, "exit": nodes[-1]["id"]},
        }
        if exports:
            params["exports"] = exports
        return {"id": name, "type": "loop", "params": params}, {"type": "object", "properties": taken}

    def exports(self, own: Names, nodes: list[dict[str, Any]]) -> tuple[dict[str, Any], Schema]:
        if self.draw(st.booleans()):
            made, taken = {}, {}
            for key in ("got", "also"):
                path = self.path(own)
                made[key] = self.one("{{ " + path + " }}", "{{" + path + "}}", "is {{" + path + "}}")
                taken[key] = {"type": "array", "items": ANY}
            return made, {"exports": {"type": "object", "properties": taken}}
        makes = [node["id"] for node in nodes if node.get("action_id") == "make"]
        if not makes:
            return {}, {}
        field = self.one("title", "n", "title", "missing") if self.draw(st.integers(0, 5)) == 0 else "title"
        many = [{"name": "sum", "from_node": makes[0], "kind": "sum", "expr": {"kind": "sum", "field": "n"}}]
        items = {"from_node": makes[0], "fields": [field, "rows"]}
        row = {"type": "object", "properties": {"title": TEXT, "rows": ROWS}}
        totals = {"type": "object", "properties": {"sum": NUMBER}}
        return {"items": items, "aggregates": many}, {"items": {"type": "array", "items": row}, "aggregates": totals}


@st.composite
def documents(draw: Any) -> dict[str, Any]:
    """A document with loops up to three deep; no node is on a branch, so that all of them run."""
    nodes, _own = Maker(draw).nodes({}, 3, 5)
    return {"workflow_name": "w", "nodes": nodes}
