"""Reads the counts by line that an instrumented program writes (emulator/src/instrument/profile/line_profile.h)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..counters.raw_csv import short_name
from . import machine_code
from .machine_code import Instruction, MachineCode
from .model import (
    ATOMIC,
    CONSTANT,
    COPY,
    GLOBAL,
    IRREGULAR,
    LOAD,
    SHARED,
    STORE,
    Access,
    HostCall,
    Kernel,
    Line,
    LineProfile,
    Memory,
    Place,
    Sample,
    Step,
)

VARIABLE = "CUDA_EMULATOR_LINES"  # names the file that a program writes
LONGEST_BLOCK = 1 << 16  # bytes of machine code that the last basic block has at most

_KINDS = {
    "global load": (LOAD, GLOBAL),
    "global store": (STORE, GLOBAL),
    "global atomic": (ATOMIC, GLOBAL),
    "shared load": (LOAD, SHARED),
    "shared store": (STORE, SHARED),
    "shared atomic": (ATOMIC, SHARED),
    "constant load": (LOAD, CONSTANT),
    "copy": (COPY, GLOBAL),
}


def parse(text: str, source: str, folder: Path) -> LineProfile:
    """`folder` is where the program ran: names of files in the report may begin there."""
    data = json.loads(text)
    code = _code(Path(data["program"]), data["kernels"])
    kernels = [_Reader(kernel, code).kernel() for kernel in data["kernels"]]
    return LineProfile(kernels, [_host_call(call, folder) for call in data["host"]], source)


def _code(program: Path, kernels: Sequence[Mapping[str, Any]]) -> MachineCode:
    """As much of it as the counts name."""
    addresses = [
        address
        for kernel in kernels
        for address in [
            kernel["address"] or 0,
            *(block[0] for block in kernel["basic_blocks"]),
            *(access["address"] for access in kernel["accesses"] if access["kind"] != "barrier"),
            *(call for access in kernel["accesses"] for call in access["calls"]),
        ]
        if address > 0
    ]
    if not addresses:
        return MachineCode([])
    return machine_code.read(program, min(addresses) - 64, max(addresses) + LONGEST_BLOCK)


def _host_call(call: Mapping[str, Any], folder: Path) -> HostCall:
    place = Place((folder / call["file"]).resolve(), call["line"]) if call["line"] else None
    return HostCall(
        call["what"],
        place,
        call["calls"],
        call["bytes"],
        call["direction"],
        call["asynchronous"],
        call["pageable"],
        call["after_launch"],
        short_name(call["kernel"]),
    )


class _Reader:
    """Makes a Kernel of what is recorded of one."""

    def __init__(self, data: Mapping[str, Any], code: MachineCode) -> None:
        self._data = data
        self._code = code
        self._lines: dict[Place, Line] = {}
        self._accesses: list[Access] = []
        self._numbers: dict[int, int] = {}  # of recorded accesses, in self._accesses
        memories = sorted(enumerate(data["memories"]), key=_order_of_memory)
        self._memories = [number for number, _ in memories]

    def kernel(self) -> Kernel:
        data = self._data
        # In the order of the code: where an `else` ends, what follows it has the same line.
        for block in sorted(data["basic_blocks"]):
            self._add_block(*block)
        # The threads of the emulation come to them in another order each time.
        for number, access in sorted(enumerate(data["accesses"]), key=_order_of_access):
            self._add_access(number, access)
        samples = sorted(
            data["samples"], key=lambda sample: (sample["block"][::-1], sample["warp"])
        )
        address = data["address"]
        definition = self._code.at(address) if address else None
        return Kernel(
            name=short_name(data["name"]),
            grid=tuple(data["grid"]),
            block=tuple(data["block"]),
            launches=data["launches"],
            shared=data["shared"],
            blocks_per_sm=data["blocks_per_sm"],
            definition=definition.chain[0] if definition and definition.chain else None,
            lines=dict(sorted(self._lines.items())),
            accesses=self._accesses,
            memories=[_memory(data["memories"][number]) for number in self._memories],
            samples=[self._sample(sample) for sample in samples],
        )

    def _line(self, place: Place) -> Line:
        return self._lines.setdefault(place, Line(place))

    def _add_block(
        self, address: int, executions: int, lanes: int, divergent: int, conditional: int
    ) -> None:
        code = self._code.basic_block(address)
        own = [instruction for instruction in code if instruction.chain]
        for place in {instruction.chain[0] for instruction in own}:
            line = self._line(place)
            if executions > line.executions:  # a `for` has several blocks on its line
                line.executions, line.lanes = executions, lanes
        if own and (conditional or divergent):
            line = self._line(own[-1].chain[0])
            line.branches += executions
            line.divergent += divergent
        for place, kind, count in _operations(own):
            operations = self._line(place).operations
            operations[kind] = operations.get(kind, 0) + count * lanes

    def _add_access(self, number: int, data: Mapping[str, Any]) -> None:
        own = [] if data["kind"] == "barrier" else [data["address"]]  # it is where it is called
        chain = self._chain([*own, *reversed(data["calls"])])
        if not chain:
            return
        line = self._line(chain[0])
        if data["kind"] == "barrier":
            line.barriers += data["requests"]
        elif data["kind"] == "division":
            line.branches += data["requests"]
            line.divergent += data["conflicts"]
        else:
            access = _access(data, chain)
            self._numbers[number] = len(self._accesses)
            self._accesses.append(access)
            line.accesses.append(access)
            for caller in dict.fromkeys(chain[1:]):
                self._line(caller).called.append(access)

    def _chain(self, addresses: Iterable[int]) -> tuple[Place, ...]:
        """The user's lines, each once, from the innermost call outwards."""
        found: list[Place] = []
        for address in addresses:
            instruction = self._code.before(address)
            for place in instruction.chain if instruction else ():
                if not found or found[-1] != place:
                    found.append(place)
        return tuple(found)

    def _sample(self, data: Mapping[str, Any]) -> Sample:
        steps = [step for recorded in data["steps"] for step in self._steps(recorded)]
        return Sample(tuple(data["block"]), data["warp"], steps)

    def _steps(self, recorded: Sequence[Any]) -> list[Step]:
        """A basic block comes to each of its lines in turn."""
        lanes, address = recorded[:2]
        if len(recorded) == 2:
            places = dict.fromkeys(
                instruction.chain[0]
                for instruction in self._code.basic_block(address)
                if instruction.chain
            )
            return [Step(lanes, place) for place in places]
        number = self._numbers.get(recorded[2])
        if number is None:
            return []
        place = self._accesses[number].place
        memory = self._memories.index(recorded[3])
        return [Step(lanes, place, number, memory, tuple(recorded[4]))]


def _order_of_access(entry: tuple[int, Mapping[str, Any]]) -> tuple[Any, ...]:
    access = entry[1]
    return access["address"], access["calls"], access["kind"], access["size"]


def _order_of_memory(entry: tuple[int, Mapping[str, Any]]) -> tuple[Any, ...]:
    memory = entry[1]
    parameter = memory["parameter"]
    return memory["shared"], parameter is None, parameter or 0, memory["name"], memory["size"]


def _operations(code: Sequence[Instruction]) -> list[tuple[Place, str, int]]:
    counted: Counter[tuple[Place, str]] = Counter()
    for instruction, kind, count in machine_code.operations(code):
        counted[instruction.chain[0], kind] += count
    return [(place, kind, count) for (place, kind), count in counted.items()]


def _access(data: Mapping[str, Any], chain: tuple[Place, ...]) -> Access:
    kind, space = _KINDS[data["kind"]]
    strides: dict[int | str, int] = {
        IRREGULAR if stride is None else stride: requests for stride, requests in data["strides"]
    }
    return Access(
        place=chain[0],
        callers=chain[1:],
        kind=kind,
        space=space,
        size=data["size"],
        requests=data["requests"],
        lanes=data["lanes"],
        bytes=data["bytes"],
        units=data["units"],
        least=data["least"],
        conflicts=data["conflicts"],
        wavefronts=data["wavefronts"],
        strides=strides,
        alike=data["alike"],
        addresses=data["addresses"],
        sampled_lanes=data["close_lanes"],
        sampled_elements=data["close_addresses"],
        repeats=data["repeats"],
    )


def _memory(data: Mapping[str, Any]) -> Memory:
    space = SHARED if data["shared"] else GLOBAL
    return Memory(data["name"], space, data["size"], data["parameter"], data["shift"])
