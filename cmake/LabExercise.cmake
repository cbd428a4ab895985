# lab_add_exercise(NAME [RDC] [CUDA_ONLY] [LINK target...] [RUNS "options"...] [PRINTS "options => regex"...]
#     [REJECTS "options => regex"...])
#
# Builds the exercise NAME.cu of the current folder on the chosen back end, and tests it. Its other facts are in
# NAME.toml beside it (scripts/lab_cli/exercise_facts.py says which).
#
#   RDC        needs relocatable device code (dynamic parallelism)
#   CUDA_ONLY  needs hardware that the cpu back end does not have: no target there; NAME.toml says gpu_only = true
#   LINK       libraries, where the toolkit has them: CUDA::cublas also defines LAB_HAVE_CUBLAS
#   RUNS       option strings that must give correct rows, the first one small: the options that every exercise has
#              (--csv, --profile, ...) are tested with it. With --csv, the numbers of the rows are compared with the
#              formulas in NAME.toml: let the first one have no two sizes that are equal
#   PRINTS     option strings that must end with status 0 and print what the regex says (^ and $ are those of a line)
#   REJECTS    option strings that must end with status 2 and one line on stderr that matches the regex
#
# A test is named by the command that it runs, so `ctest -R reduceInteger` selects all of an exercise.

set(LAB_TEST_TIMEOUT 120 CACHE STRING "Seconds after which a test of an exercise counts as hanging")
set(lab_check_case ${CMAKE_CURRENT_LIST_DIR}/check_case.py)

add_custom_target(exercises) # all of them, without the unit tests

function(lab_add_exercise name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "RDC;CUDA_ONLY" "" "LINK;RUNS;PRINTS;REJECTS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "lab_add_exercise(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_RUNS)
        message(FATAL_ERROR "lab_add_exercise(${name}): RUNS needs at least one option string")
    endif()
    lab_check_facts(${name} ${arg_CUDA_ONLY})
    if(arg_CUDA_ONLY AND LAB_CHOSEN_BACKEND STREQUAL "cpu")
        return()
    endif()

    if(LAB_CHOSEN_BACKEND STREQUAL "cpu")
        emulator_add_executable(${name} ${name}.cu)
    else()
        add_executable(${name} ${name}.cu)
        set_target_properties(${name} PROPERTIES CUDA_SEPARABLE_COMPILATION ${arg_RDC})
        # -G: device code for cuda-gdb; -lineinfo: source lines in the profilers, at no cost in speed.
        target_compile_options(${name} PRIVATE $<IF:$<CONFIG:Debug>,-G,-lineinfo>)
        lab_link_libraries(${name} ${arg_LINK})
    endif()
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/common)
    target_link_libraries(${name} PRIVATE lab_warnings)
    add_dependencies(exercises ${name})

    lab_test_exercise(${name} "${arg_RUNS}" "${arg_PRINTS}" "${arg_REJECTS}")
endfunction()

# NAME.toml must be there, and agree on where the exercise can run. Looked at as text, so that a build needs no reader
# of TOML.
function(lab_check_facts name cuda_only)
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
    lab_test_case(${name} "${small} --profile" table)

    set(rejects_all
        "--bogus => --bogus"
        "stray => stray"
        "--reps=0 => --reps.*0"
        "--reps=abc => --reps.*abc"
        "--seed=x => --seed.*x"
        "--device=1023 => --device.*1023"
        "--kernel=nosuch => --kernel.*nosuch")
    lab_test_cases_matching(${name} PRINTS ${prints})
    lab_test_cases_matching(${name} REJECTS ${rejects_all} ${rejects})
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

# One ctest case: runs `name options` under check_case.py, which judges it by `kind` (and further arguments).
function(lab_test_case name options kind)
    separate_arguments(words UNIX_COMMAND "${options}")
    set(case "${name} ${options}")
    if(kind STREQUAL "prints") # of which one command may have several
        string(APPEND case " => ${ARGN}")
    endif()
    add_test(NAME ${case}
        COMMAND ${Python3_EXECUTABLE} ${lab_check_case} ${kind} ${ARGN} -- $<TARGET_FILE:${name}> ${words})
    set_tests_properties(${case} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_TIMEOUT})
endfunction()
