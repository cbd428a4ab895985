"""Whether the compiler knows the value of an index or a divisor: not at all, perhaps, or for sure."""

from __future__ import annotations

from .syntax import Loop, Node, Variable
from .values import value

STATIC, UNSURE, DYNAMIC = 0, 1, 2
MOST_TURNS = 256  # of a loop that nvcc 13.0 unrolls without being asked: not one of 512


def of(node: Node | None, within: frozenset[Variable] = frozenset()) -> int:
    """STATIC also for a counter of a loop that can be unrolled: each copy of the body has a value."""
    if node is None:
        return UNSURE
    if node.kind == "literal":
        return STATIC
    if node.kind == "name":
        return _of_variable(node.variable, within) if node.variable else _of_name(node.text)
    if node.kind in ("binary", "unary", "compare", "logical", "ternary", "cast"):
        if node.kind == "unary" and node.text in ("*", "&"):
            return DYNAMIC
        return max((of(part, within) for part in node.parts), default=UNSURE)
    if node.kind == "assign":
        return max(UNSURE, max(of(part, within) for part in node.parts))
    if node.kind == "member":
        return max(UNSURE, of(node.parts[0], within))
    return DYNAMIC  # out of memory, or of a function


def _of_name(name: str) -> int:
    if name == "warpSize":
        return STATIC
    return DYNAMIC if name in ("threadIdx", "blockIdx", "blockDim", "gridDim") else UNSURE


def _of_variable(variable: Variable, within: frozenset[Variable]) -> int:
    if variable.is_template or variable.is_constexpr:
        return STATIC
    if variable.is_parameter:  # of a function that is inlined it may have a value
        return DYNAMIC if variable.is_of_kernel else UNSURE
    if variable in within:
        return STATIC  # k = k + 1: what else it gets decides
    inner = within | {variable}
    loop = variable.loop
    if loop is not None and loop.counter is variable:
        return _of_counter(loop, variable, inner)
    if variable.initial is None and not variable.stores:
        return UNSURE
    worst = of(variable.initial, inner) if variable.initial else STATIC
    for store in variable.stores:
        worst = max(worst, UNSURE, of(store.parts[-1], inner), _times(store.loop, variable, inner))
    if _goes_back_and_forth(variable):
        return DYNAMIC
    return max(worst, UNSURE) if variable.is_taken else worst


def _goes_back_and_forth(variable: Variable) -> bool:
    """Whether several statements of a `while` change it, such as the top of a stack."""
    loops = [store.loop for store in variable.stores]
    return any(
        loop is not None
        and loop.counter is None
        and not loop.contains(variable.at)
        and loops.count(loop) > 1
        for loop in loops
    )


def _times(loop: Loop | None, variable: Variable, within: frozenset[Variable]) -> int:
    """Whether it is known how often something in the loops around happens: the length of a row that is
    filled so, and the next place in it, are not."""
    worst = STATIC
    while loop is not None and not loop.contains(variable.at):
        worst = max(worst, of(loop.condition, within | {loop.counter or variable}))
        loop = loop.outer
    return worst


def _of_counter(loop: Loop, counter: Variable, within: frozenset[Variable]) -> int:
    if loop.condition is None or loop.step is None:
        return UNSURE
    begin = of(counter.initial, within) if counter.initial else UNSURE
    worst = max(begin, of(loop.condition, within))
    if len(loop.step.parts) > 1:
        worst = max(worst, of(loop.step.parts[-1], within))
    if worst == DYNAMIC or _stays_a_loop(loop, counter):
        return DYNAMIC
    others = [store for store in counter.stores if store is not loop.step]
    steps = loop.step.kind == "assign" and loop.step.parts[0].variable is counter
    return max(worst, UNSURE if others or not steps else STATIC)


def _stays_a_loop(loop: Loop, counter: Variable) -> bool:
    """Whether nvcc does not write out all of it: a #pragma says so, or it is too long."""
    if loop.unroll in ("0", "1"):
        return True
    turns = _turns(loop, counter)
    if turns is None or loop.unroll == "":
        return False
    asked = loop.unroll or ""
    return turns > (int(asked) if asked.isdigit() else MOST_TURNS)


def _turns(loop: Loop, counter: Variable) -> float | None:
    """Of for (int k = 0; k < 8; ++k); None of others."""
    condition, step = loop.condition, loop.step
    if condition is None or step is None or condition.kind != "compare":
        return None
    begin = value(counter.initial) if counter.initial else None
    end = value(condition.parts[1])
    counts_up = step.text == "++" and condition.text in ("<", "<=", "!=")
    if not counts_up or condition.parts[0].variable is not counter or begin is None or end is None:
        return None
    return end - begin + (condition.text == "<=")


def changes_in(node: Node, loop: Loop) -> bool:
    """Whether a value may be another one the next time around."""
    for part in node.all():
        variable = part.variable
        if part.kind in ("index", "call", "assign", "other"):
            return True
        if variable is None or variable.is_template:
            continue
        if variable.is_taken or variable.loop is loop or loop.contains(variable.at):
            return True
        if any(loop.contains(store.first) for store in variable.stores):
            return True
    return False
