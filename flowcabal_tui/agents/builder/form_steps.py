"""The steps of a form as nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from flowcabal_tui.agents.builder.document import Json, names_in, text_block
from flowcabal_tui.agents.builder.flow import Entries, Flow, ReadOutput, There, begins, filled, of_node, sentence
from flowcabal_tui.agents.builder.forms import PROMPTS, Step, with_planned_lines
from flowcabal_tui.agents.builder.words import words

_WRITES: Final = frozenset(("write", "polish", "revise", "cut", "expand", "translate", "summarise", "do"))
_PAUSING: Final = frozenset(("improve", "candidates", "look", "approve", "ask", "choose"))
"""Steps that ask the writer by themselves."""


def compile_steps(flow: Flow, steps: Sequence[Step]) -> None:
    """Adds the nodes of the steps, one after the other."""
    for step in with_planned_lines(steps):
        compile_step(flow, step)


def compile_step(flow: Flow, step: Step) -> None:
    """Adds the nodes of one step."""
    if flow.there.ways:
        join(flow)
    if step.does in PROMPTS:
        _prompt(flow, step)
        return
    _COMPILERS[step.does](flow, step)
    if step.pause and step.does not in _PAUSING:
        compile_step(flow, Step(does="look"))


def finish(flow: Flow) -> None:
    """Gives a graph a single text at its end if several nodes make it."""
    if flow.there.is_ending:
        compile_step(flow, Step(does="do"))
    read = {name for node in flow.nodes for name in names_in(node["params"], [way.node for way in flow.there.ways])}
    if read:
        join(flow)
    text = flow.there.texts[-1] if flow.there.texts and not flow.there.ways else None
    if text is not None and not text.node and flow.nodes and flow.nodes[-1]["kind"] in ("loop", "parallel", "merge"):
        flow.add("end", words(flow.language)["names"]["end"], "text", {"value": {"text": text.path}})


def join(flow: Flow) -> None:
    """Merges the outputs of the branches: the text is that of the branch that ran."""
    params = {"sources": [f"result_of.{read.node}" for read in flow.there.ways if read.node], "how": "first"}
    made = flow.add("merge", words(flow.language)["names"]["merge"], "merged", params)
    text = ReadOutput(f"result_of.{made}.items[0].text")
    flow.there = replace(flow.there, texts=(text,), remarks=(), entries=None, ways=(), is_opening=False)


def _name(flow: Flow, step: Step) -> str:
    names = words(flow.language)["names"]
    if step.name:
        return step.name
    if step.does == "check" and step.about:
        return str(names["check_about"]).format(about=step.about)
    return str(names[step.does])


def _settings(step: Step) -> Json:
    wanted: Json = {
        "model": step.model or None,
        "temperature": step.temperature,
        "point_of_view": step.point_of_view or None,
        "angles": list(step.angles) or None,
        "review": "always" if step.pause else None,
    }
    return {key: value for key, value in wanted.items() if value is not None}


def _prompt(flow: Flow, step: Step) -> None:
    name = _name(flow, step)
    made = flow.add("prompt", name, step.id or step.does, {**_layers(flow, step), **_settings(step)})
    read = of_node(made, "plan" if step.does == "plan" else "draft", name)
    if step.does == "plan":
        flow.there.plan = read
    elif step.does == "check":
        flow.there.remarks = (*flow.there.remarks, replace(read, part="critique"))
    else:
        flow.there = replace(flow.there, texts=(read,), remarks=(), is_opening=False, is_ending=False, entries=None)


def _layers(flow: Flow, step: Step) -> Json:
    phrases = words(flow.language)
    system = phrases["reader"] if step.does == "check" else phrases["system"]
    return {"system": [text_block(system)], "prompt": [*_material(flow, step.does), text_block(_task(flow, step))]}


def _material(flow: Flow, verb: str) -> list[Json]:
    """The inputs of a step: long parts first, the writer's request last."""
    phrases, there = words(flow.language), flow.there
    blocks: list[Json] = [text_block(phrases["chapter"], "chapter")]
    if there.plan is not None and verb in ("write", "candidates", "improve", "do"):
        blocks.append(there.plan.block)
    blocks += _texts(flow)
    if verb != "check":
        blocks += [each.block for each in there.remarks]
    blocks += [each.block for each in there.answers]
    if there.item:
        blocks.append(text_block("{{" + there.item + "}}", "beats"))
    if verb in ("plan", "write", "candidates", "improve", "do"):
        states = [phrases["state"].format(key=key, value="{{" + path + "}}") for key, path in there.states]
        blocks += [text_block(text, "notice") for text in states]
    blocks.append(text_block("{{input.instruction}}", "wish"))
    if verb in ("plan", "write", "expand"):  # no other step makes a text as long as the chapter
        blocks.append(text_block("{{chapter.length}}", "length"))
    return blocks


def _texts(flow: Flow) -> list[Json]:
    texts = flow.there.texts
    if len(texts) < 2:
        return [each.block for each in texts]
    label = words(flow.language)["label"]
    return [block for each in texts for block in (text_block(label.format(name=each.name)), each.block)]


def _task(flow: Flow, step: Step) -> str:
    phrases = words(flow.language)
    key = "check_about" if step.does == "check" and step.about else step.does
    parts = [str(phrases["tasks"][key]).format(about=step.about), sentence(step.text, flow.language)]
    if step.does == "write" and flow.there.is_opening:
        parts.append(phrases["opening"])
    if step.does in _WRITES and flow.there.is_ending:
        parts.append(phrases["with_ending"])
    if step.does != "plan" and flow.there.item:
        parts.append(phrases["item"])
    if step.does == "plan":
        parts += [phrases["lines"] if step.lines else "", phrases["most"].format(n=step.most) if step.most else ""]
    elif step.does in _WRITES:
        parts.append(phrases["text_only"])
    joint = "" if flow.language == "zh" else " "
    return joint.join(part for part in parts if part)


def _candidates(flow: Flow, step: Step) -> None:
    phrases = words(flow.language)
    about = step.about or phrases["tasks"]["about"]
    task = phrases["tasks"].get(step.id, phrases["tasks"]["candidates"]).format(about=about) + step.text
    write: Json = {"system": [text_block(phrases["system"])]}
    write["prompt"] = [*_material(flow, "candidates"), text_block(task)]
    write |= {key: value for key, value in _settings(step).items() if key in ("model", "temperature")}
    rounds = min(step.rounds, 5) if "rounds" in step.model_fields_set else 1
    params: Json = {"write": write, "candidates": step.number, "rounds": rounds}
    if rounds > 1:
        parent = text_block("{{parent}}", "candidates")
        note = text_block("{{note}}", "wish")
        params["next"] = [*_material(flow, "candidates"), parent, note, text_block(task)]
    params |= {"blind": True} if step.blind else {}
    own = [{"label": each[:20], "instruction": each} for each in step.variations]
    each_other = (phrases["variation"].format(n=n, all=step.number) for n in range(1, step.number + 1))
    params["variations"] = own or [{"instruction": each} for each in each_other]
    if step.angles:
        params["angles"] = list(step.angles)
    name = step.name or step.about or _name(flow, step)
    made = flow.add("evolution", name, step.id or "candidates", params)
    if step.id == phrases["several"]["idea"]["id"]:
        flow.there.answers = (*flow.there.answers, of_node(made, "wish", name))
        return
    is_ending = step.id == phrases["several"]["ending"]["id"] and bool(flow.there.texts)
    texts = (*(flow.there.texts[-1:] if is_ending else ()), of_node(made, called=name))
    flow.there = replace(flow.there, texts=texts, remarks=(), is_opening=not is_ending, is_ending=is_ending)


def _improve(flow: Flow, step: Step) -> None:
    phrases, there = words(flow.language), flow.there
    system = [text_block(phrases["system"])]
    params: Json = {}
    if len(there.texts) == 1 and not step.text and not there.is_opening:
        params["start"] = [there.texts[0].block]
    else:
        task = _task(flow, step.model_copy(update={"does": "write"}))
        params["draft"] = {"system": system, "prompt": [*_material(flow, "improve"), text_block(task)]}
    draft = text_block("{{draft}}", "draft")
    critic = phrases["tasks"]["criticise"] + (phrases["label"].format(name=step.about) if step.about else "")
    params["criticise"] = {"system": [text_block(phrases["reader"])], "prompt": [draft, text_block(critic)]}
    critique = text_block("{{critique}}", "critique")
    task = phrases["tasks"]["revise"] + phrases["text_only"]
    params["revise"] = {"system": system, "prompt": [draft, critique, text_block(task)]}
    params["depth"] = step.rounds
    settings = _settings(step)
    params |= {key: settings[key] for key in ("review", "angles") if key in settings}
    made = flow.add("recursive", _name(flow, step), step.id or "improve", params)
    flow.there = There(there.plan, (of_node(made),), states=there.states)


def _each(flow: Flow, step: Step) -> None:
    phrases = words(flow.language)
    entries = flow.there.entries or _lines(flow)
    body = flow.inner()
    item = f"item.{entries.fields[0]}" if entries.fields else "item"
    body.there = replace(flow.there, item=item, entries=None, texts=())
    compile_steps(body, step.steps)
    if body.there.ways:
        join(body)
    params: Json = {"source": entries.path, "body": _graph(body)}
    if step.most:
        params["max_iterations"] = step.most
    if step.at_once > 1:
        params["side_by_side"] = step.at_once
    text = body.there.texts[-1] if body.there.texts else None
    if text is not None:
        params["exports"] = {"aggregates": [{"name": "text", "kind": "join", "source": text.path, "sep": "\n\n"}]}
    made = flow.add("loop", step.name or phrases["names"]["each"], step.id or "each", params)
    flow.because |= dict.fromkeys(body.because, flow.step)
    if text is not None:
        joined = ReadOutput(f"result_of.{made}.aggregates.text", name=step.name)
        flow.there = replace(flow.there, texts=(joined,), remarks=(), entries=None, is_opening=False)


def _lines(flow: Flow) -> Entries:
    """The lines of the available text, without empty ones."""
    phrases, there = words(flow.language), flow.there
    source = there.plan if there.plan is not None and not (there.texts and there.is_opening) else None
    source = source or (there.texts[-1] if there.texts else None)
    path = source.path if source is not None else "input.instruction"
    params = {"source": {"text": path}, "from_field": "text", "dest_field": "line", "delimiter": "\n"}
    made = flow.add("split", phrases["names"]["lines"], "lines", params)
    there.plan = there.plan or (replace(source, part="plan") if source is not None else None)
    where = {"source": f"result_of.{made}.items", "where": "line != ''"}
    kept = flow.add("filter", phrases["names"]["filter"], "lines-filled", where)
    return Entries(f"result_of.{kept}.items", ("line",))


def _together(flow: Flow, step: Step) -> None:
    branches: Json = {}
    ends: list[tuple[str, Step, ReadOutput]] = []
    for inner in step.steps:
        branch = flow.inner()
        compile_steps(branch, (inner,))
        read = (branch.there.remarks or branch.there.texts)[-1] if inner.does == "check" else branch.there.texts[-1]
        key = branch.nodes[-1]["id"]
        branches[key] = _graph(branch)
        flow.because |= dict.fromkeys(branch.because, flow.step)
        ends.append((key, inner, read))
    made = flow.add("parallel", _name(flow, step), step.id or "together", {"branches": branches})
    reads = [(inner, replace(read, path=f"result_of.{made}.{key}.text", node="")) for key, inner, read in ends]
    remarks = tuple(read for inner, read in reads if inner.does == "check")
    texts = tuple(read for inner, read in reads if inner.does != "check")
    flow.there = replace(
        flow.there, texts=texts or flow.there.texts, remarks=(*flow.there.remarks, *remarks), is_opening=False
    )


def _graph(flow: Flow) -> Json:
    return {"nodes": flow.nodes, **({"edges": flow.edges} if flow.edges else {})}


def _branch(flow: Flow, source: str, label: str, steps: Sequence[Step]) -> ReadOutput | None:
    """Adds the steps of a branch with an edge to them; returns their output."""
    branch = flow.inner()
    compile_steps(branch, steps)
    if branch.there.ways:
        join(branch)
    ids = [node["id"] for node in branch.nodes]
    reads = {node["id"]: names_in(node["params"], ids) - {node["id"]} for node in branch.nodes}
    flow.lead(source, label, begins(branch.nodes, branch.edges, reads))
    flow.take(branch)
    return branch.there.texts[-1] if branch.there.texts and branch.there.texts != flow.there.texts else None


def _choose(flow: Flow, step: Step) -> None:
    phrases = words(flow.language)
    labels = [each.label for each in step.choices]
    params = {"question": step.text or phrases["questions"]["choose"], "choices": labels}
    made = flow.add("human", _name(flow, step), step.id or "choose", params)
    source, label, ends = "", "", []
    for number, choice in enumerate(step.choices):
        if number < len(step.choices) - 1:
            test = {"kind": "equals", "source": f"result_of.{made}.text", "value": choice.label}
            name = phrases["names"]["is"].format(label=choice.label)
            condition = flow.add("condition", name, f"is-{number + 1}", test)
            if source:
                flow.lead(source, label, [condition])
            ends.append(_branch(flow, condition, "true", choice.steps))
            source, label = condition, "false"
        else:
            ends.append(_branch(flow, source, label, choice.steps))
    flow.there = replace(flow.there, ways=tuple(end for end in ends if end is not None), remarks=())


def _measure(flow: Flow, step: Step) -> None:
    if not flow.there.texts:
        compile_step(flow, Step(does="write"))
    text = flow.there.texts[-1]
    longer = step.longer_than is not None
    bound = step.longer_than if longer else step.shorter_than or 0
    test = {"kind": "expression", "expression": f"len({text.path}) {'>' if longer else '<'} {bound}"}
    made = flow.add("condition", _name(flow, step), step.id or "length", test)
    sides = (("true", step.then), ("false", step.otherwise))
    ends = [_branch(flow, made, label, steps) for label, steps in sides if steps]
    reads = tuple(end for end in ends if end is not None)
    flow.there = replace(flow.there, ways=(*reads, text) if len(reads) < 2 else reads, remarks=())


def _approve(flow: Flow, step: Step) -> None:
    phrases, there = words(flow.language), flow.there
    shown = there.entries.path if there.entries else there.texts[-1].path if there.texts else ""
    question = step.text or phrases["questions"]["approve"]
    if shown:
        question += "\n{{" + shown + "}}"
    params = {"question": question, "choices": [phrases["yes"], phrases["no"]]}
    made = flow.add("human", _name(flow, step), step.id or "approve", params)
    test = {"kind": "equals", "source": f"result_of.{made}.text", "value": phrases["yes"]}
    condition = flow.add("condition", phrases["names"]["is"].format(label=phrases["yes"]), "approved", test)
    _branch(flow, condition, "true", step.steps)


def _ask(flow: Flow, step: Step) -> None:
    params = {"question": step.text or words(flow.language)["questions"]["ask"]}
    made = flow.add("human", _name(flow, step), step.id or "ask", params)
    flow.there.answers = (*flow.there.answers, of_node(made, "wish"))


def _look(flow: Flow, step: Step) -> None:
    there = flow.there
    read = there.texts[-1] if there.texts else there.plan
    question = step.text or words(flow.language)["questions"]["look"]
    block = {key: value for key, value in read.block.items() if key != "part"} if read else None
    params = {"question": question, "proposal": [block] if block else []}
    made = flow.add("human", _name(flow, step), step.id or "look", params)
    if there.texts:
        flow.there = replace(there, texts=(of_node(made),))
    elif read is not None:
        there.plan = of_node(made, "plan")


def _count(flow: Flow, step: Step) -> None:
    _after_text(flow, step, {"increment": [step.key or "count"]})


def _remember(flow: Flow, step: Step) -> None:
    text = flow.there.texts[-1].path if flow.there.texts else "input.instruction"
    _after_text(flow, step, {"updates": {step.key or "note": text}})


def _after_text(flow: Flow, step: Step, params: Json) -> None:
    made = flow.add("state_write", _name(flow, step), step.id or f"{step.does}-{step.key}", params)
    last = next((each.node for each in flow.there.texts if each.node), "")
    flow.edges += [{"source": last, "target": made}] if last else []


def _workflow(flow: Flow, step: Step) -> None:
    text = flow.there.texts[-1].path if flow.there.texts else "input.instruction"
    names = tuple(flow.known.flow_inputs.get(step.workflow, ()))
    inputs = step.inputs or {names[0] if names else "text": "{{text}}"}
    params = {"ref": step.workflow, "inputs": filled(dict(inputs), {"text": text})}
    made = flow.add("subflow", _name(flow, step), step.id or step.workflow.partition("@")[0], params)
    flow.there = replace(flow.there, texts=(of_node(made),), remarks=())


def _action(flow: Flow, step: Step) -> None:
    shape = (flow.known.actions or {}).get(step.action)
    schema = shape.arg_schema if shape is not None else {}
    params = {**_needed(schema, step.params), **step.params}
    params = filled(params, _slots(flow))
    name = step.name or step.action.rpartition(".v")[0].rpartition(".")[2].replace("_", " ") or _name(flow, step)
    made = flow.add("action", step.name or name, step.id or name, {"action": step.action, "params": params})
    _gives(flow, made, shape.output_schema if shape is not None else {})


def _slots(flow: Flow) -> Json:
    """The values of `{{text}}`, `{{items}}` and `{{count}}`."""
    there = flow.there
    slots: Json = {}
    if there.entries:
        slots["items"] = there.entries.path
        slots["count"] = {"__from__": there.entries.path, "__agg__": "count"}
        shown = " ".join("{" + each + "}" for each in there.entries.fields)
        joined = {"__from__": there.entries.path, "__agg__": "format_join", "format": shown, "sep": "\n"}
        slots["text"] = joined if shown else there.entries.path
    elif there.texts:
        slots["text"] = there.texts[-1].path
    elif there.item:
        slots["text"] = there.item
    slots.setdefault("text", "input.instruction")
    return slots


def _needed(schema: Any, given: Json) -> Json:
    """Parameters that the action requires and the form lacks: the text so far, else an input of the run."""
    fields = schema.get("properties", {}) if isinstance(schema, dict) else {}
    made: Json = {}
    for name in schema.get("required", ()) if isinstance(schema, dict) else ():
        if name not in given:
            kind = (fields.get(name) or {}).get("type")
            plain = kind == "string" and name not in ("date", "query", "path", "url")
            made[name] = "{{text}}" if plain else "{{count}}" if "count" in name else "input." + name
    return made


def _gives(flow: Flow, made: str, schema: Any) -> None:
    """The part of an action's result that later steps read: its first list, else its first text."""
    fields = schema.get("properties", {}) if isinstance(schema, dict) else {}
    for name, each in fields.items():
        if isinstance(each, dict) and each.get("type") == "array":
            inner = (each.get("items") or {}).get("properties", {})
            flow.there = replace(flow.there, entries=Entries(f"result_of.{made}.{name}", tuple(inner)), texts=())
            return
    texts = [name for name, each in fields.items() if isinstance(each, dict) and each.get("type") == "string"]
    field = next((name for name in texts if name not in ("status", "id") and not name.endswith("_id")), "")
    if field and "status" not in fields:
        flow.there = replace(flow.there, entries=None, texts=(ReadOutput(f"result_of.{made}.{field}"),), remarks=())


def _filter(flow: Flow, step: Step) -> None:
    entries = flow.there.entries or _lines(flow)
    name = step.field or (entries.fields[-1] if entries.fields else "line")
    wanted = (">", step.above) if step.above is not None else ("<", step.below) if step.below is not None else None
    literal = f"`{wanted[1]:g}`" if wanted and wanted[1] is not None else f"'{step.equals}'"
    where = f"{name} {wanted[0] if wanted else '=='} {literal}"
    made = flow.add("filter", _name(flow, step), step.id or "filter", {"source": entries.path, "where": where})
    flow.there.entries = replace(entries, path=f"result_of.{made}.items")


_COMPILERS: Final = {
    "candidates": _candidates,
    "improve": _improve,
    "each": _each,
    "together": _together,
    "choose": _choose,
    "measure": _measure,
    "approve": _approve,
    "ask": _ask,
    "look": _look,
    "count": _count,
    "remember": _remember,
    "workflow": _workflow,
    "action": _action,
    "filter": _filter,
}
