"""A channel with one bank and with six, and the channels that a stride uses with and without a hash."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Drawing

# The timeline: 1 slot is a burst. Not to scale.
LEFT = 104
SLOT = 24
SLOTS = 26
OPEN = 5  # slots in which a bank closes a row and opens the next one
BANKS = OPEN + 1  # as many as keep the bus busy
LINE = 26
FIRST, SECOND = 50, 146  # where the two timelines begin

# The channels: a cell is a unit of 256 bytes.
CHANNELS = 4
UNITS = 16
STRIDE = 4
TOP = 440
CELL = 46
PLACES = [LEFT, LEFT + 380]

ChannelOf = Callable[[int], int]


def draw() -> Drawing:
    drawing = Drawing(
        "What keeps the buses of a memory busy",
        "Above are two timelines of a channel. A bank opens a row for five slots and then sends a burst for one."
        " With one bank, the bus is busy in one of six slots. With six banks, which begin one slot after the"
        " other, the bus is busy in every slot from the sixth on. Below are 16 units of 256 bytes on four"
        " channels. In plain order, unit u is on channel u modulo 4, and a stride of four units, 0, 4, 8, 12,"
        " uses channel 0 alone. With a hash of more address bits, these four units are on four channels.",
        TOP + CHANNELS * LINE + 22,
    )
    with drawing.group("one"):
        drawing.text(20, FIRST - 22, "One bank: the bus is mostly idle", "head")
        draw_timeline(drawing, FIRST, 1)
    with drawing.group("many"):
        drawing.text(20, SECOND - 4, "Six banks: the bus is always busy (not to scale)", "head")
        draw_timeline(drawing, SECOND + 18, BANKS)
    with drawing.group("channels"):
        drawing.text(
            20,
            TOP - 44,
            "A stride of four units of 256 bytes reads units 0, 4, 8 and 12 of 16",
            "head",
        )
        draw_channels(drawing, PLACES[0], "plain order: 1 channel", lambda unit: unit % CHANNELS)
        draw_channels(
            drawing,
            PLACES[1],
            "a hash of more address bits: 4 channels",
            lambda unit: (unit ^ unit // CHANNELS) % CHANNELS,
        )
    return drawing


def draw_timeline(drawing: Drawing, top: float, banks: int) -> None:
    senders = {}
    for bank in range(banks):
        y = top + bank * LINE
        drawing.text(LEFT - 12, y + 16, f"bank {bank}", "small end")
        for slot in range(bank, SLOTS - OPEN, OPEN + 1):
            x = LEFT + slot * SLOT
            drawing.cell(x, y, OPEN * SLOT, LINE - 6, "pale", "opens a row")
            drawing.cell(x + OPEN * SLOT, y, SLOT, LINE - 6, "sky", bank)
            senders[slot + OPEN] = bank
    y = top + banks * LINE + 6
    drawing.text(LEFT - 12, y + 16, "bus", "small end")
    for slot in range(SLOTS):
        x = LEFT + slot * SLOT
        if slot in senders:
            drawing.cell(x, y, SLOT, LINE - 6, "sky", senders[slot])
        else:
            drawing.cell(x, y, SLOT, LINE - 6, "idle")


def draw_channels(drawing: Drawing, left: float, remark: str, channel_of: ChannelOf) -> None:
    drawing.text(left, TOP - 14, remark, "small")
    filled = [0] * CHANNELS
    for unit in range(UNITS):
        channel = channel_of(unit)
        x, y = left + filled[channel] * CELL, TOP + channel * LINE
        look = "orange" if unit % STRIDE == 0 else "pale"
        drawing.cell(x, y, CELL, LINE - 4, look, unit, "small")
        filled[channel] += 1
    for channel in range(CHANNELS):
        drawing.text(left - 12, TOP + channel * LINE + 16, f"channel {channel}", "small end")
