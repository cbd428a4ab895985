# lab_add_chapter()
#
# Adds the exercises of the current folder, a chapter: each is a folder NAME in it with NAME.cu and exercise.toml, which
# has every fact (scripts/lab_cli/exercise_facts.py says which). It is built on the chosen back end, and tested. The
# program is NAME in the chapter's build folder.
#
# On the cpu back end there is also NAME_instrumented, for the profiler and the hazard check, and for tests NAME_faulty
# and NAME_as_gpu, which prints what a GPU would.
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

function(lab_add_chapter)
    file(GLOB facts CONFIGURE_DEPENDS */exercise.toml)
    set(calls ${CMAKE_CURRENT_BINARY_DIR}/exercises.cmake)
    set(command ${CMAKE_COMMAND} -E chdir ${PROJECT_SOURCE_DIR}/scripts
        ${LAB_PYTHON} -m lab_cli.building.for_cmake ${CMAKE_CURRENT_SOURCE_DIR} ${calls})
    execute_process(COMMAND ${command} RESULT_VARIABLE status ERROR_VARIABLE error
        ERROR_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${error}")
    endif()
    # Ninja can find out whether an edit of the facts changes anything here; make cannot.
    if(CMAKE_GENERATOR MATCHES "Ninja")
        add_custom_command(OUTPUT ${calls} COMMAND ${command} DEPENDS ${facts} COMMENT "" VERBATIM)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${calls})
    else()
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${facts})
    endif()
    include(${calls})
    lab_add_unit_tests_of(${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

function(lab_add_exercise name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "RDC;CUDA_ONLY;ASSIGNMENTS" ""
        "ARCHITECTURES;LINK;RUNS;PRINTS;PRINTS_ON_CPU;PRINTS_ON_GPU;PRINTS_PER_THREAD;REJECTS;FAILS;HAZARDS")
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
    lab_add_unit_tests_of(${folder})
    if(arg_CUDA_ONLY AND LAB_CHOSEN_BACKEND STREQUAL "cpu")
        return()
    endif()
    set(source ${folder}/${name}.cu)
    set(facts ${folder}/exercise.toml)

    if(LAB_CHOSEN_BACKEND STREQUAL "cpu")
        lab_add_cpu_program(${name} ${source})
        if(LAB_INSTRUMENT)
            lab_add_instrumented_program(${name}_instrumented ${source})
            if(LAB_OWN_TESTS)
                lab_add_test_programs(${name} ${source})
            endif()
        endif()
    else()
        add_executable(${name} ${source})
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

    lab_test_exercise(${name} "${arg_RUNS}")
    lab_test_matches(${name} prints ${arg_PRINTS})
    string(TOUPPER ${LAB_CHOSEN_BACKEND} backend)
    lab_test_matches(${name} prints_on_${LAB_CHOSEN_BACKEND} ${arg_PRINTS_ON_${backend}})
    lab_test_matches(${name} rejects ${arg_REJECTS})
    lab_test_matches(${name} fails ${arg_FAILS})
    if(arg_PRINTS_PER_THREAD)
        lab_add_per_thread_program(${name}_per_thread ${source})
        lab_test_matches(${name}_per_thread prints_per_thread ${arg_PRINTS_PER_THREAD})
    endif()
    if(TARGET ${name}_instrumented)
        lab_test_hazards(${name} "${arg_RUNS}" "${arg_HAZARDS}")
        lab_test_launches(${name} "${arg_RUNS}")
        lab_test_counts(${name})
    endif()
    if(TARGET ${name}_instrumented AND LAB_OWN_TESTS)
        lab_test_printed(${name} printed "${arg_RUNS}")
        lab_test_broken(${name} "${arg_RUNS}")
        lab_test_faults(${name} "${arg_RUNS}")
        if(arg_ASSIGNMENTS)
            lab_test_assignments(${name})
        endif()
        lab_test_as_gpu(${name} "${arg_RUNS}" "${arg_PRINTS_ON_GPU}")
    endif()
    include(${folder}/exercise.cmake OPTIONAL) # what exercise.toml has no word for
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

function(lab_test_exercise name runs)
    list(GET runs 0 small)
    string(REGEX MATCHALL "--[a-z]+" options "${runs}")
    list(REMOVE_DUPLICATES options)

    lab_test_case(${name} "--help" help ${options})
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
    foreach(case IN ITEMS
        "--bogus => --bogus"
        "--rep=1 => --rep=1: no such option.* did you mean --reps[?]"
        "stray => stray"
        "--reps=0 => --reps.*0"
        "--reps=abc => --reps.*abc"
        "--seed=x => --seed.*x"
        "--device=1023 => --device.*1023"
        "--kernel=nosuch => --kernel.*nosuch")
        string(REGEX MATCH "^(.*) => (.*)$" case "${case}")
        lab_test_case(${name} "${CMAKE_MATCH_1}" rejects "${CMAKE_MATCH_2}")
    endforeach()
endfunction()

# What [tests.KIND] of the facts says of each of these options.
function(lab_test_matches name kind)
    foreach(options IN LISTS ARGN)
        lab_test_case(${name} "${options}" ${kind} ${facts} "${options}")
    endforeach()
endfunction()

# Broken on purpose, as the facts say, it must notice.
function(lab_test_broken name runs)
    list(GET runs 0 options)
    separate_arguments(words UNIX_COMMAND "${options}")
    add_test(NAME broken/${name}
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/broken_exercise.py
            ${source}
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
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/broken_exercise.py ${source}
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
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/faulty_exercise.py ${facts}
            -- $<TARGET_FILE:${name}_faulty> ${words})
    set_tests_properties(faults/${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit ENVIRONMENT CUDA_EMULATOR_SMS=${LAB_TEST_SMS})
endfunction()

# Its assignments: what is shipped must get all points, the kernel before it in the ladder must not.
function(lab_test_assignments name)
    add_test(NAME assignments/${name}
        COMMAND ${LAB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/graded_assignments.py
            ${facts} --build ${CMAKE_BINARY_DIR} --program $<TARGET_FILE:${name}>)
    set_tests_properties(assignments/${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
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
    foreach(case IN LISTS hazards)
        string(REGEX MATCH "^(.*) => (.*)$" case "${case}")
        lab_test_case(${name} "${CMAKE_MATCH_1}" hazards "${CMAKE_MATCH_2}")
    endforeach()
endfunction()

# Whether `program` prints what it printed when somebody last looked, to the letter: tests/FILE.txt in the exercise's
# folder. Not among the tests of the exercise, for a student adds a row.
function(lab_test_printed program file runs)
    lab_small_runs(few "${runs}")
    add_test(NAME printed/${program}
        COMMAND ${LAB_PYTHON} -S ${lab_cmake_folder}/check_printed.py ${folder}/tests/${file}.txt
            $<TARGET_FILE:${program}> ${few})
    set_tests_properties(printed/${program} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS} LABELS unit)
endfunction()

# What it prints on a GPU, and whether its numbers there are what the facts say: NAME_as_gpu.
function(lab_test_as_gpu name runs prints)
    list(GET runs 0 small)
    lab_test_printed(${name}_as_gpu printed_as_gpu "${runs}")
    lab_test_case(${name}_as_gpu "${small} --csv --reps=1" csv ${facts})
    lab_test_matches(${name}_as_gpu prints_on_gpu ${prints})
endfunction()

# Whether the rows say what was launched, where the table has the columns for it.
function(lab_test_launches name runs)
    file(STRINGS ${source} plain REGEX "Columns::kPlain")
    if(NOT plain)
        list(GET runs 0 small)
        separate_arguments(words UNIX_COMMAND "${small}")
        add_test(NAME "${name} launches ${small}"
            COMMAND ${LAB_PYTHON} -S ${lab_cmake_folder}/check_launches.py ${source}
                -- $<TARGET_FILE:${name}_instrumented> ${words})
        lab_describe_case("${name} launches ${small}" ${name} counts)
    endif()
endfunction()

# What the cpu profiler counts, where there is a recording of what a GPU counted.
function(lab_test_counts name)
    set(judge ${PROJECT_SOURCE_DIR}/tests/emulator/profiler/compare.py)
    if(EXISTS ${folder}/results/h200/counts.debug.csv AND EXISTS ${judge})
        add_test(NAME "${name} counts"
            COMMAND ${LAB_PYTHON} ${judge} $<TARGET_FILE:${name}_instrumented> ${name} ${source})
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
    if(kind MATCHES "^prints")
        string(APPEND case " => ${kind}")
    elseif(kind MATCHES "^(help|rejects)$")
        set(about options)
    elseif(kind STREQUAL "hazards")
        set(case "${name} hazards ${options}")
        set(judge ${lab_cmake_folder}/check_hazards.py ${source} ${ARGN})
        set(program ${name}_instrumented)
        if(NOT options MATCHES "--reps=") # whose runs wait for each other less
            list(APPEND words --profile)
        endif()
        set(about hazards)
    endif()
    # Without site packages Python starts in half the time.
    add_test(NAME ${case} COMMAND ${LAB_PYTHON} -S ${judge} -- $<TARGET_FILE:${program}> ${words})
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
