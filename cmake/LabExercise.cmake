# lab_add_exercise(NAME [RDC] [CUDA_ONLY] [ARCHITECTURES number...] [LINK target...] [RUNS "options"...]
#     [PRINTS "options => regex"...]
#     [EMULATION "options => regex"...] [GPU "options => regex"...] [REJECTS "options => regex"...]
#     [PER_THREAD "options => regex"...] [HAZARDS "options => regex"...])
#
# Builds the exercise NAME.cu of the current folder on the chosen back end, and tests it. Its other facts are in
# NAME.toml beside it (scripts/lab_cli/exercise_facts.py says which).
#
#   RDC        needs relocatable device code (dynamic parallelism)
#   CUDA_ONLY  needs hardware that the cpu back end does not have: no target there; NAME.toml says gpu_only = true
#   ARCHITECTURES  with CUDA_ONLY: what it is compiled for, in place of CMAKE_CUDA_ARCHITECTURES; "80+": those of
#              CMAKE_CUDA_ARCHITECTURES that are 80 or more, or 80
#   LINK       libraries, where the toolkit has them: CUDA::cublas also defines LAB_HAVE_CUBLAS
#   RUNS       option strings that must give correct rows, the first one small: the options that every exercise has
#              (--csv, --profile, ...) are tested with it. With --csv, the numbers of the rows are compared with the
#              formulas in NAME.toml: let the first one have no two sizes that are equal
#   PRINTS     option strings that must end with status 0 and print what the regex says (^ and $ are those of a line)
#   EMULATION  the same on the cpu back end alone, whose numbers are known
#   GPU        the same on a GPU alone
#   REJECTS    option strings that must end with status 2 and one line on stderr that matches the regex
#   PER_THREAD the same as PRINTS of NAME_per_thread, which is the source as `nvcc --default-stream per-thread`
#              compiles it
#   HAZARDS    option strings with which the hazard check says what the regex says; by default it must find nothing
#              with a few of RUNS. Each kernel is launched once (--profile), but where there is a --reps. Where the
#              first regex is of hazards that are there on purpose, NAME.toml says how many: hazards = 3
#
# On the cpu back end it also builds NAME_instrumented, for the profiler and the hazard check, and for tests NAME_faulty
# and NAME_as_gpu, which the cases of GPU run in place of NAME.
#
# A test is named by the command that it runs. Its labels are `exercise`, the chapter, the exercise, and what it is
# about: `results` (a few of them are `small`), `options`, or on the cpu back end `hazards` and `counts`.
# `ctest -L reduceInteger` selects all of an exercise.

set(LAB_TEST_SECONDS 1800 CACHE STRING
    "Seconds after which a test counts as hanging: long, since other work may slow the machine down")
# Multiprocessors of the cpu back end in tests: not one for each core, so that grids and loops are the same everywhere.
# Few, so that a small size already makes blocks go round a loop; half of them are still two.
set(LAB_TEST_SMS 4)
set(lab_cmake_folder ${CMAKE_CURRENT_LIST_DIR})

add_custom_target(exercises) # all of them, without the unit tests

function(lab_add_exercise name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "RDC;CUDA_ONLY" ""
        "ARCHITECTURES;LINK;RUNS;PRINTS;EMULATION;GPU;REJECTS;PER_THREAD;HAZARDS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "lab_add_exercise(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_RUNS)
        message(FATAL_ERROR "lab_add_exercise(${name}): RUNS needs at least one option string")
    endif()
    lab_check_facts(${name} ${arg_CUDA_ONLY} "${arg_HAZARDS}")
    if(arg_CUDA_ONLY AND LAB_CHOSEN_BACKEND STREQUAL "cpu")
        return()
    endif()

    if(LAB_CHOSEN_BACKEND STREQUAL "cpu")
        list(APPEND arg_PRINTS ${arg_EMULATION})
        lab_add_cpu_program(${name} ${name}.cu)
        if(LAB_INSTRUMENT)
            lab_add_instrumented_program(${name}_instrumented ${name}.cu)
            if(LAB_OWN_TESTS)
                lab_add_test_programs(${name})
            endif()
        endif()
    else()
        list(APPEND arg_PRINTS ${arg_GPU})
        add_executable(${name} ${name}.cu)
        set_target_properties(${name} PROPERTIES CUDA_SEPARABLE_COMPILATION ${arg_RDC})
        # -G: device code for cuda-gdb; -lineinfo: source lines in the profilers, at no cost in speed.
        target_compile_options(${name} PRIVATE $<IF:$<CONFIG:Debug>,-G,-lineinfo>)
        target_link_libraries(${name} PRIVATE lab_common lab_warnings)
        lab_link_libraries(${name} ${arg_LINK})
        if(arg_ARCHITECTURES)
            lab_architectures(architectures ${arg_ARCHITECTURES})
            set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
            if(LAB_OWN_TESTS)
                lab_test_broken_on_gpu(${name} "${arg_RUNS}" "${architectures}")
            endif()
        endif()
    endif()
    add_dependencies(exercises ${name})

    lab_test_exercise(${name} "${arg_RUNS}" "${arg_PRINTS}" "${arg_REJECTS}")
    if(arg_PER_THREAD)
        lab_add_per_thread_program(${name}_per_thread ${name}.cu)
        lab_test_cases_matching(${name}_per_thread PRINTS ${arg_PER_THREAD})
    endif()
    if(TARGET ${name}_instrumented)
        lab_test_hazards(${name} "${arg_RUNS}" "${arg_HAZARDS}")
        lab_test_launches(${name} "${arg_RUNS}")
        lab_test_counts(${name})
    endif()
    if(TARGET ${name}_instrumented AND LAB_OWN_TESTS)
        lab_test_printed(${name} ${name} "${arg_RUNS}")
        lab_test_broken(${name} "${arg_RUNS}")
        lab_test_faults(${name} "${arg_RUNS}")
        lab_test_assignments(${name})
        lab_test_as_gpu(${name} "${arg_RUNS}" "${arg_GPU}")
    endif()
endfunction()

# Compiled with --default-stream per-thread.
function(lab_add_per_thread_program target source)
    if(LAB_CHOSEN_BACKEND STREQUAL "cpu")
        lab_add_cpu_program(${target} ${source})
        lab_use_per_thread_default_stream(${target})
    else()
        add_executable(${target} ${source})
        target_compile_options(${target} PRIVATE --default-stream=per-thread)
        target_link_libraries(${target} PRIVATE lab_common lab_warnings)
    endif()
endfunction()

# NAME.toml must be there, and agree on where the exercise can run, and on hazards. Looked at as text, so that a build
# needs no reader of TOML.
function(lab_check_facts name cuda_only hazards)
    set(facts ${CMAKE_CURRENT_SOURCE_DIR}/${name}.toml)
    if(NOT EXISTS ${facts})
        message(FATAL_ERROR "lab_add_exercise(${name}): ${facts} is missing, with the other facts of the exercise")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${facts})
    file(STRINGS ${facts} gpu_only REGEX "^gpu_only[ \t]*=[ \t]*true")
    if(cuda_only AND NOT gpu_only)
        message(FATAL_ERROR "lab_add_exercise(${name}) says CUDA_ONLY, but ${facts} lacks gpu_only = true")
    elseif(gpu_only AND NOT cuda_only)
        message(FATAL_ERROR "${facts} says gpu_only = true, but lab_add_exercise(${name}) lacks CUDA_ONLY")
    endif()
    set(on_purpose 0)
    list(SUBLIST hazards 0 1 first)
    if(first MATCHES " => .([0-9]+) hazard")
        set(on_purpose ${CMAKE_MATCH_1})
    endif()
    set(said 0)
    file(STRINGS ${facts} line REGEX "^hazards[ \t]*=")
    if(line MATCHES "([0-9]+)")
        set(said ${CMAKE_MATCH_1})
    endif()
    if(NOT said EQUAL on_purpose)
        message(FATAL_ERROR "the first of HAZARDS in lab_add_exercise(${name}) expects ${on_purpose}, "
            "but hazards is ${said} in ${facts}")
    endif()
endfunction()

# "80+" becomes those of the project's architectures that are 80 or more; all others stay.
function(lab_architectures variable)
    set(chosen ${CMAKE_CUDA_ARCHITECTURES})
    if(chosen STREQUAL "native")
        set(chosen ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
    endif()
    set(found "")
    foreach(wanted IN LISTS ARGN)
        if(NOT wanted MATCHES "^([0-9]+)[+]$")
            list(APPEND found ${wanted})
            continue()
        endif()
        set(least ${CMAKE_MATCH_1})
        set(enough "")
        foreach(architecture IN LISTS chosen)
            string(REGEX MATCH "^[0-9]+" number "${architecture}")
            if(number AND NOT number LESS least)
                list(APPEND enough ${architecture})
            endif()
        endforeach()
        list(APPEND found ${enough})
        if(NOT enough)
            list(APPEND found ${least})
        endif()
    endforeach()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Links the libraries that exist; without one the exercise has no row for it.
function(lab_link_libraries name)
    foreach(library IN LISTS ARGN)
        if(TARGET ${library})
            string(REPLACE "CUDA::" "" macro ${library})
            string(TOUPPER LAB_HAVE_${macro} macro)
            target_link_libraries(${name} PRIVATE ${library})
            target_compile_definitions(${name} PRIVATE ${macro})
        endif()
    endforeach()
endfunction()

function(lab_test_exercise name runs prints rejects)
    list(GET runs 0 small)
    string(REGEX MATCHALL "--[a-z]+" options "${runs}")
    list(REMOVE_DUPLICATES options)

    lab_test_case(${name} "--help" help ${options})
    set(facts ${CMAKE_CURRENT_SOURCE_DIR}/${name}.toml)
    foreach(run IN LISTS runs ITEMS "${small} --csv --reps=4")
        if(run MATCHES "--csv")
            lab_test_case(${name} "${run}" csv ${facts})
        else()
            lab_test_case(${name} "${run}" table)
        endif()
    endforeach()
    lab_small_runs(few "${runs}")
    foreach(run IN LISTS few) # for builds in which everything takes long
        set_property(TEST "${name} ${run}" APPEND PROPERTY LABELS small)
    endforeach()
    lab_test_case(${name} "${small} --profile" table)

    set(rejects_all
        "--bogus => --bogus"
        "--rep=1 => --rep=1: no such option.* did you mean --reps[?]"
        "stray => stray"
        "--reps=0 => --reps.*0"
        "--reps=abc => --reps.*abc"
        "--seed=x => --seed.*x"
        "--device=1023 => --device.*1023"
        "--kernel=nosuch => --kernel.*nosuch")
    lab_test_cases_matching(${name} PRINTS ${prints})
    lab_test_cases_matching(${name} REJECTS ${rejects_all} ${rejects})
endfunction()

# Broken on purpose, as NAME.toml says, it must notice.
function(lab_test_broken name runs)
    list(GET runs 0 options)
    separate_arguments(words UNIX_COMMAND "${options}")
    add_test(NAME broken/${name}
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/broken_exercise.py
            ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu
            --library $<TARGET_FILE:cuda_emulator> $<TARGET_FILE:lab_common> -- ${words})
    set_tests_properties(broken/${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit
        ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER};CUDA_EMULATOR_SMS=${LAB_TEST_SMS}")
endfunction()

# The same of what the cpu back end cannot run.
function(lab_test_broken_on_gpu name runs architectures)
    list(GET runs 0 options)
    separate_arguments(words UNIX_COMMAND "${options}")
    list(TRANSFORM architectures REPLACE "-.*$" "")
    add_test(NAME broken/${name}
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/broken_exercise.py ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu
            --library $<TARGET_FILE:lab_common> --nvcc ${CMAKE_CUDA_COMPILER} ${architectures} -- ${words})
    set_tests_properties(broken/${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit)
endfunction()

# With a launch or a copy that goes wrong, it must notice: NAME_faulty.
function(lab_test_faults name runs)
    if(NOT TARGET ${name}_faulty)
        return()
    endif()
    list(GET runs 0 options)
    separate_arguments(words UNIX_COMMAND "${options}")
    add_test(NAME faults/${name}
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/faulty_exercise.py ${CMAKE_CURRENT_SOURCE_DIR}/${name}.toml
            -- $<TARGET_FILE:${name}_faulty> ${words})
    set_tests_properties(faults/${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit ENVIRONMENT CUDA_EMULATOR_SMS=${LAB_TEST_SMS})
endfunction()

# Its assignments: what is shipped must get all points, the kernel before it in the ladder must not.
function(lab_test_assignments name)
    file(STRINGS ${name}.toml assignments REGEX "^\\[\\[assignment\\]\\]")
    if(NOT assignments)
        return()
    endif()
    add_test(NAME assignments/${name}
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/graded_assignments.py
            ${CMAKE_CURRENT_SOURCE_DIR}/${name}.toml --build ${CMAKE_BINARY_DIR} --program $<TARGET_FILE:${name}>)
    set_tests_properties(assignments/${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
endfunction()

# A ctest case for each "options => regex".
function(lab_test_cases_matching name argument)
    string(TOLOWER ${argument} kind)
    foreach(case IN LISTS ARGN)
        if(NOT case MATCHES "^(.*) => (.*)$")
            message(FATAL_ERROR "lab_add_exercise(${name}): ${argument} needs 'options => regex', not '${case}'")
        endif()
        lab_test_case(${name} "${CMAKE_MATCH_1}" ${kind} "${CMAKE_MATCH_2}")
    endforeach()
endfunction()

# Of `runs` the small size, which is the first, and the first odd one, of two digits or more.
function(lab_small_runs variable runs)
    list(POP_FRONT runs small)
    list(FILTER runs INCLUDE REGEX "=[0-9x]+[13579]( |$)")
    list(SUBLIST runs 0 1 odd)
    set(${variable} "${small}" ${odd} PARENT_SCOPE)
endfunction()

# The hazard check: with the small runs and the first whose blocks have four warps or more, which wait for one another
# at barriers that fewer do not need; or with `hazards`.
function(lab_test_hazards name runs hazards)
    if(NOT hazards)
        lab_small_runs(few "${runs}")
        list(FILTER runs INCLUDE REGEX "--block[ =](128|256|512|1024)( |$)")
        list(SUBLIST runs 0 1 warps)
        list(APPEND few ${warps})
        list(REMOVE_DUPLICATES few)
        foreach(run IN LISTS few)
            list(APPEND hazards "${run} => ^no hazards found in [0-9]+ kernel launch")
        endforeach()
    endif()
    lab_test_cases_matching(${name} HAZARDS ${hazards})
endfunction()

# Whether `program` prints what it printed when somebody last looked, to the letter: tests/printed/NAME.txt. Not among
# the tests of the exercise, for a student adds a row.
function(lab_test_printed name program runs)
    lab_small_runs(few "${runs}")
    add_test(NAME printed/${program}
        COMMAND ${LAB_PYTHON} -S ${lab_cmake_folder}/check_printed.py ${PROJECT_SOURCE_DIR}/tests/printed/${program}.txt
            $<TARGET_FILE:${program}> ${few})
    set_tests_properties(printed/${program} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit)
endfunction()

# What it prints on a GPU, and whether its numbers there are what NAME.toml says: NAME_as_gpu.
function(lab_test_as_gpu name runs prints)
    list(GET runs 0 small)
    lab_test_printed(${name} ${name}_as_gpu "${runs}")
    lab_test_case(${name}_as_gpu "${small} --csv --reps=1" csv ${CMAKE_CURRENT_SOURCE_DIR}/${name}.toml)
    lab_test_cases_matching(${name}_as_gpu PRINTS ${prints})
endfunction()

# Whether the rows say what was launched, where the table has the columns for it.
function(lab_test_launches name runs)
    file(STRINGS ${name}.cu plain REGEX "Columns::kPlain")
    if(NOT plain)
        list(GET runs 0 small)
        separate_arguments(words UNIX_COMMAND "${small}")
        add_test(NAME "${name} launches ${small}"
            COMMAND ${LAB_PYTHON} -S ${lab_cmake_folder}/check_launches.py ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu
                -- $<TARGET_FILE:${name}_instrumented> ${words})
        lab_describe_case("${name} launches ${small}" ${name} counts)
    endif()
endfunction()

# What the cpu profiler counts, where there is a recording of what a GPU counted.
function(lab_test_counts name)
    set(folder ${PROJECT_SOURCE_DIR}/tests/emulator/profiler)
    if(EXISTS ${folder}/recorded/${name}.debug.csv)
        add_test(NAME "${name} counts"
            COMMAND ${LAB_PYTHON} ${folder}/compare.py
                $<TARGET_FILE:${name}_instrumented> ${name} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu)
        lab_describe_case("${name} counts" ${name} counts)
    endif()
endfunction()

# One ctest case: runs `name options` under check_case.py, which judges it by `kind` (and further arguments).
function(lab_test_case name options kind)
    separate_arguments(words UNIX_COMMAND "${options}")
    set(case "${name} ${options}")
    set(judge ${lab_cmake_folder}/check_case.py ${kind} ${ARGN})
    set(program ${name})
    set(about results)
    if(kind STREQUAL "prints") # of which one command may have several
        string(APPEND case " => ${ARGN}")
    elseif(kind MATCHES "^(help|rejects)$")
        set(about options)
    elseif(kind STREQUAL "hazards")
        set(case "${name} hazards ${options}")
        set(judge ${lab_cmake_folder}/check_hazards.py ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu ${ARGN})
        set(program ${name}_instrumented)
        if(NOT options MATCHES "--reps=") # whose runs wait for each other less
            list(APPEND words --profile)
        endif()
        set(about hazards)
    endif()
    set(python ${LAB_PYTHON})
    if(NOT kind STREQUAL "csv") # which may need a package for TOML
        list(APPEND python -S) # starts in half the time
    endif()
    add_test(NAME ${case} COMMAND ${python} ${judge} -- $<TARGET_FILE:${program}> ${words})
    lab_describe_case("${case}" ${name} ${about})
endfunction()

# The labels by which the tests of an exercise are found.
function(lab_describe_case case name about)
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME chapter)
    set(labels exercise ${chapter} ${name} ${about})
    if(name MATCHES "_(as_gpu|per_thread)$") # which a build of the exercise alone does not build
        set(labels unit)
    endif()
    set_tests_properties(${case} PROPERTIES
        LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS}
        ENVIRONMENT CUDA_EMULATOR_SMS=${LAB_TEST_SMS})
endfunction()
