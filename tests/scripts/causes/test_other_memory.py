"""Constant memory, atomics, sums in global memory, and elements that many threads load."""

from __future__ import annotations

from pathlib import Path

import pytest
from cause_sample import (
    access,
    array,
    kernel,
    line,
    only,
    place,
    sample,
    share_of,
    symptoms,
    touch,
)
from lab_cli.lines.model import (
    ATOMIC,
    CONSTANT,
    IRREGULAR,
    SHARED,
    STORE,
    Access,
    Kernel,
)

CONSTANTS = "divergent reads of constant memory"
ONE_ADDRESS, FEW_ADDRESSES = "atomics on one address", "atomics on few addresses"
COLLIDING = "atomics that collide in shared memory"
SUMS = "accumulating in global memory"
TILE, SHARED_LOADS = "elements that many threads load", "shared loads for each multiply-add"


# ---- constant memory


def constants(words: float, **fields: object) -> Access:
    return access(space=CONSTANT, units=int(1000 * words), least=1000, stride=IRREGULAR, **fields)


def test_constants() -> None:
    found = only(kernel([constants(32)]))
    assert found.symptom == CONSTANTS and found.place == place(10)
    assert "32 passes where 1 would do" in found.says and "removes 31 of 32 passes" in found.gain
    assert symptoms(kernel([constants(2)])) == [CONSTANTS]
    assert symptoms(kernel([constants(1.9)])) == []
    assert symptoms(kernel([constants(1)])) == []


def test_members_of_a_struct_in_constant_memory() -> None:
    """Three loads of a line are one finding, on all of its passes."""
    found = only(kernel([constants(32), constants(32), constants(32), constants(1)]))
    assert "3,000 requests" in found.says
    of_passes = 100 * 3 * 31_000 / (3 * 32_000 + 1000)
    assert f"{of_passes:.0f} % of the kernel's passes" in found.gain


@pytest.mark.parametrize(("executions", "expected"), [(1_100_000, [CONSTANTS]), (1_200_000, [])])
def test_constants_beside_other_work(executions: int, expected: list[str]) -> None:
    of = kernel([constants(32)], [line(11, executions)])
    assert (share_of(of, 2 * 31_000) >= 0.1) == bool(expected)
    assert symptoms(of) == expected


# ---- atomics


def atomic(
    addresses: int | None = 1, alike: int = 32, requests: int = 2112, **fields: object
) -> Access:
    """A kernel's 264 blocks have 2,112 warps."""
    given = {"stride": 0 if alike == 32 else IRREGULAR, "alike": alike * requests, **fields}
    return access(
        kind=ATOMIC,
        requests=requests,
        units=requests,
        least=requests,
        addresses=addresses,
        **given,
    )


def test_atomics_on_one_address() -> None:
    found = only(kernel([access(9, requests=2112), atomic()]))
    assert found.symptom == ONE_ADDRESS and found.place == place(10)
    assert "67,584 atomic operations of 264 blocks go to 1 address" in found.says
    assert "would be 264" in found.gain and "99.6 %" in found.gain


def test_sums_of_floats_on_one_address() -> None:
    """Which the compiler does not add up for a warp first."""

    def says(floats: int, **fields: object) -> str:
        added = line(10, 2112, operations={"float_atomic": floats})
        return only(kernel([access(9, requests=2112), atomic(**fields)], [added])).says

    assert "floats" in says(32 * 2112)
    assert "floats" not in says(32 * 2112 - 1)  # an integer's, too
    assert "floats" not in says(32 * 2112, addresses=16, alike=4)


def test_one_atomic_of_each_block_or_warp() -> None:
    of_block = atomic(requests=264, lanes=264, alike=1, stride=None)
    assert symptoms(kernel([access(9, requests=2112), of_block])) == []
    of_warp = atomic(lanes=2112, alike=1, stride=None)
    assert symptoms(kernel([access(9, requests=2112), of_warp])) == [ONE_ADDRESS]


@pytest.mark.parametrize(("executions", "expected"), [(3_500_000, [ONE_ADDRESS]), (3_800_000, [])])
def test_atomics_beside_other_work(executions: int, expected: list[str]) -> None:
    assert symptoms(kernel([atomic()], [line(11, executions)])) == expected


def test_counters_of_a_histogram() -> None:
    found = only(kernel([access(9, requests=2112), atomic(16, alike=4)]))
    assert found.symptom == FEW_ADDRESSES and "shared memory" in found.remedy
    assert "go to 16 addresses" in found.says and "4 lanes of a warp want the same" in found.says
    # 132 blocks that add 256 times save half, and those that add 257 times do not.
    assert "33,792" in only(kernel([access(9, requests=2112), atomic(256, alike=4)])).gain
    assert symptoms(kernel([access(9, requests=2112), atomic(257, alike=4)])) == []


def histogram(counters: int) -> Kernel:
    """Of more addresses than are counted, as many as the array has; 2,000 threads' elements
    each."""
    requests = 264 * 8 * 100
    bins = [4 * (7 * lane % 32) for lane in range(32)]
    return kernel(
        [access(9, requests=requests), atomic(None, alike=2, requests=requests)],
        memories=[array(4 * counters)],
        samples=[sample(touch(1, bins))],
    )


def test_counters_of_a_whole_array() -> None:
    assert symptoms(histogram(256)) == [FEW_ADDRESSES]
    assert symptoms(histogram(100_000)) == []  # no block can hold them


def test_a_place_in_a_list(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("list[atomicAdd(count, 1)] = i;\nif (big) atomicAdd(count, 1);\n")
    taken = atomic(place=place(1, source))
    found = only(kernel([access(9, requests=2112), taken]))
    assert found.symptom == FEW_ADDRESSES and "__ballot_sync" in found.remedy
    one_lane = atomic(place=place(1, source), lanes=2112, alike=1, stride=None)
    assert symptoms(kernel([access(9, requests=2112), one_lane])) == []
    summed = atomic(place=place(2, source))
    assert symptoms(kernel([access(9, requests=2112), summed])) == [ONE_ADDRESS]


def test_atomics_in_shared_memory() -> None:
    beside = access(9, requests=2112)
    skewed = atomic(None, alike=16, space=SHARED)
    assert "16 want the same address" in only(kernel([beside, skewed])).says
    assert symptoms(kernel([beside, skewed])) == [COLLIDING]
    assert symptoms(kernel([beside, atomic(None, alike=3, space=SHARED)])) == []
    assert symptoms(kernel([beside, atomic(1, alike=32, space=SHARED)])) == []  # adds up first
    much = line(11, 2112 * 300)
    assert symptoms(kernel([beside, skewed], [much])) == []


def test_counts_in_shared_memory(tmp_path: Path) -> None:
    """An instruction adds 1 for all lanes of a word, if nobody uses what it returns."""
    source = tmp_path / "k.cu"
    lines = ["atomicAdd(&own[k], 1);", "atomicAdd(&own[k], weight);", "at = atomicAdd(&own[k], 1);"]
    source.write_text("\n".join(lines))

    def found(number: int) -> list[str]:
        skewed = atomic(None, alike=16, space=SHARED, place=place(number, source))
        return symptoms(kernel([access(9, requests=2112), skewed]))

    assert found(1) == [] and found(2) == [COLLIDING] and found(3) == [COLLIDING]


# ---- sums in global memory


def summed(times: int, place_: object = None, barriers: int = 0, traffic: float = 1.0) -> Kernel:
    """Each thread adds so often to an element in a row, beside `traffic` times as many other
    loads."""
    requests = 2112 * times
    fields = {
        "requests": requests,
        "sampled_lanes": 768 * times,
        "sampled_elements": 768,
        "repeats": 768 * (times - 1),
        **({"place": place_} if place_ else {}),
    }
    other = access(12, requests=int(traffic * requests))
    lines = [line(13, 1, barriers=barriers)]
    return kernel([access(**fields), access(kind=STORE, **fields), other], lines)


def test_sums() -> None:
    found = only(summed(100))
    assert found.symptom == SUMS and found.place == place(10)
    assert "loads and stores the same element 100 times in a row" in found.says
    assert "removes 66 % of the kernel's sectors" in found.gain and "local variable" in found.remedy
    assert symptoms(summed(4)) == [SUMS]
    assert symptoms(summed(3)) == []


def test_sums_between_barriers() -> None:
    assert "shared memory" in only(summed(100, barriers=10)).remedy


@pytest.mark.parametrize(("traffic", "expected"), [(7.8, [SUMS]), (8.1, [])])
def test_share_of_sums(traffic: float, expected: list[str]) -> None:
    assert symptoms(summed(100, traffic=traffic)) == expected


def test_the_compiler_keeps_what_no_other_pointer_leads_to(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    body = "\n{ for (int k = 0; k < n; ++k)\n c[i] += a[k]; }\n"
    source.write_text(
        "__global__ void f(const float* __restrict__ a, float* __restrict__ c)" + body
    )
    assert symptoms(summed(100, place(3, source))) == []
    other = tmp_path / "other.cu"
    other.write_text("__global__ void f(const float* a, float* __restrict__ c)" + body)
    assert symptoms(summed(100, place(3, other))) == [SUMS]


def test_an_access_that_goes_away_is_no_stride() -> None:
    scattered = {"stride": IRREGULAR, "units": 2112 * 100 * 32}
    of = summed(100, traffic=0.1)
    of.accesses[:2] = [
        access(
            kind=each.kind,
            requests=each.requests,
            sampled_lanes=each.sampled_lanes,
            repeats=each.repeats,
            **scattered,
        )
        for each in of.accesses[:2]
    ]
    assert symptoms(of) == [SUMS]


# ---- elements that are loaded again


def reused(threads: int, sectors: float | None = None, **fields: object) -> Access:
    """A load of an element by so many threads of a block, of a sector `sectors` times."""
    requests = 100_000
    elements = 32 * requests // threads
    least = int((sectors or threads) * elements * 4 / 32)
    return access(
        requests=requests,
        units=least,
        least=least,
        sampled_elements=elements,
        **{"stride": 0, **fields},
    )


def test_tiles() -> None:
    found = only(kernel([reused(32)]))
    assert found.symptom == TILE and "each element 32 times" in found.says
    assert "removes 97 % of the kernel's sectors" in found.gain
    assert symptoms(kernel([reused(16)])) == [TILE]
    assert symptoms(kernel([reused(15)])) == []  # L1 serves a stencil as well
    assert symptoms(kernel([reused(32, sectors=4)])) == [TILE]
    assert symptoms(kernel([reused(32, sectors=3.9)])) == []  # lanes that want one element
    assert symptoms(kernel([access()])) == []


def test_tiles_that_are_there_or_would_save_little() -> None:
    tile = access(11, space=SHARED, requests=1000, units=1000, least=1000)
    assert symptoms(kernel([reused(32), tile])) == []
    assert symptoms(kernel([reused(32), access(12, requests=99_000)])) == []
    assert symptoms(kernel([reused(32), access(12, requests=90_000)])) == [TILE]
    assert symptoms(kernel([reused(32)], [line(13, 4_000_000)])) == []


def test_a_tile_needs_addresses_that_are_known() -> None:
    """Lanes that walk through a tree load what another lane has loaded, but none knows what is next."""
    rows = [4 * (lane // 16 * 100 + lane % 16) for lane in range(32)]
    walks = [[4 * (7 * lane * step % 32) for lane in range(32)] for step in range(1, 5)]
    scattered = reused(32, stride=IRREGULAR)
    assert symptoms(kernel([scattered], memories=[array()])) == []

    def after(offsets: list[list[int]]) -> list[str]:
        steps = [touch(0, each) for each in offsets]
        return symptoms(kernel([scattered], memories=[array()], samples=[sample(*steps)]))

    assert after(walks) == []
    assert after([[each + 64 * step for each in rows] for step in range(4)]) == [TILE]


def products(loads: int, multiply_adds: int, threads: int = 32, **fields: object) -> Kernel:
    """So many loads from a tile, of elements that are for so many threads."""
    requests = 1000 * loads
    tile = access(
        space=SHARED,
        stride=IRREGULAR,
        requests=requests,
        units=requests,
        least=requests,
        sampled_elements=32 * requests // threads,
    )
    done = line(11, 1000, operations={"fp32": 2 * 32 * 1000 * multiply_adds})
    return kernel([tile], [done], **fields)


def test_shared_loads() -> None:
    found = only(products(2, 1))
    assert found.symptom == SHARED_LOADS and "takes 2 wavefronts" in found.says
    assert "removes 1.5 of 2 wavefronts" in found.gain and found.exercises[0] == "threadGranularity"
    assert symptoms(products(4, 4)) == [SHARED_LOADS]
    assert symptoms(products(4, 5)) == []
    assert symptoms(products(2, 1, threads=7)) == []  # a sum in shared memory
    assert symptoms(products(2, 1, threads=8)) == [SHARED_LOADS]
    assert symptoms(products(2, 0)) == []


def test_shared_loads_of_a_kernel_that_moves_data() -> None:
    of = products(2, 1)
    of.accesses.append(access(12, requests=350))
    assert symptoms(of) == [SHARED_LOADS]
    of.accesses[-1] = access(12, requests=400)
    assert symptoms(of) == []
