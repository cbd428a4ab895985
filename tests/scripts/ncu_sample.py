"""What ncu prints, written by hand after real output: names, quotes, separators, units, noise.

The figures of the three reductions are an H200's, for 2^22 integers in blocks of 512 (-O3 build).
"""

from __future__ import annotations

from lab_cli import metrics

COLUMNS = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"]
COLUMNS += ["Block Size", "Grid Size", "Device", "CC"]
UNIT_OF = {"GB/s": "Gbyte/s", "MB": "Mbyte"}  # ncu's spelling of those of metrics.toml
UNITS = {
    "dram__bytes_read.sum.per_second": "Gbyte/s",
    "gpu__time_duration.sum": "ms",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "sector",
    "smsp__sass_average_branch_targets_threads_uniform.pct": "%",
    "smsp__sass_branch_targets_threads_divergent.sum": "",
}
KERNELS = [
    ("reduceNeighbored", ["412.50", "1.25", "4,186,112", "68.75", "778,240"]),
    ("reduceNeighboredLess", ["1,025.5", "0.50", "4,186,112", "98.36", "40,960"]),
    ("reduceInterleaved", ["n/a", "0.025", "1,089,536", "98.36", "40,960"]),
]


def csv_line(cells: list[str]) -> str:
    return ",".join(f'"{cell}"' for cell in cells) + "\n"


def launch(number: int, kernel: str, values: list[str], grid: str, block: str) -> str:
    about = [str(number), "4711", "program", "127.0.0.1", kernel, "1", "7", block, grid, "0", "9.0"]
    return csv_line([*about, *values])


def raw_page(units: dict[str, str], launches: list[str]) -> str:
    header = csv_line([*COLUMNS, *units])
    return header + csv_line([*[""] * len(COLUMNS), *units.values()]) + "".join(launches)


def page_of(launches: list[tuple[str, dict[str, float]]]) -> str:
    """The page of these kernels and their values, which go by the names of scripts/metrics.toml.

    What a kernel lacks is n/a. Launched with a grid of (64, 2, 1), a block of (256, 1, 1).
    """
    known = metrics.load().metrics
    names = list(dict.fromkeys(name for _, values in launches for name in values))
    units = {known[name].nsight: UNIT_OF.get(known[name].unit, known[name].unit) for name in names}
    lines = []
    for number, (kernel, values) in enumerate(launches):
        cells = [f"{values[name]:,}" if name in values else "n/a" for name in names]
        lines.append(launch(number, kernel, cells, "(64, 2, 1)", "(256, 1, 1)"))
    return raw_page(units, lines)


REDUCTIONS = raw_page(
    UNITS,
    [
        launch(i, f"{name}(int *, int *, unsigned long)", values, "(8192, 1, 1)", "(512, 1, 1)")
        for i, (name, values) in enumerate(KERNELS)
    ],
)

OUTPUT = (
    "==PROF== Connected to process 4711 (/home/student/program)\n"
    "reduceInteger: 4,194,304 ints (16 MiB), block 512 on NVIDIA H200\n"
    '==PROF== Profiling "reduceNeighbored" - 0: 0%....50%....100% - 4 passes\n'
    "kernel                          grid   block   time [ms]\n"
    '==PROF== Profiling "reduceNeighboredLess" - 1: 0%....50%....100% - 4 passes\n'
    '==PROF== Profiling "reduceInterleaved" - 2: 0%....50%....100% - 4 passes\n'
    "==PROF== Disconnected from process 4711\n"
    "==WARNING== Note: Running with uncontrolled GPU clock frequency.\n"
    + REDUCTIONS
    + "==WARNING== a line after the table\n"
)
