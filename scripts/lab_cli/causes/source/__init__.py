"""What can be told of a kernel from its source, and what ptxas says of it, without running it.

    source.read(path)                       the file, with the headers beside it that it includes
    double_literals.find(source, 1, 40)     0.5 where 0.5f is meant, in lines 1 to 40
    local_arrays.find(source)               arrays of a thread that are in local memory
    divisions.find(source)                  integer divisions in loops
    resources.of_sources([file])            registers, spills and stack frames, where nvcc is there
    resources.occupancy(...)                the warps that registers leave an SM

Findings say whether they are `certain`: else they hold if a type or a value is what it seems to be.
"""
