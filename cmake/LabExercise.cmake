# lab_add_chapter()
#
# Adds the exercises of the current folder, a chapter: each is a folder NAME in it with NAME.cu and exercise.toml, which
# has every fact (scripts/lab_cli/exercise_facts.py says which). It is built on the chosen back end, and tested. The
# program is NAME in the chapter's build folder.
#
# Where a student has started the exercise, NAME is the student's copy, and the original is NAME_shipped.
#
# On the cpu back end there is also NAME_instrumented, for the profiler and the hazard check, and for tests NAME_faulty
# and NAME_as_gpu, which prints what a GPU would.
#
# A test is NAME/ABOUT, such as transpose/results, and `ctest -R '^transpose/'` selects those of one exercise. Its
# labels are `exercise`, the chapter, the exercise, ABOUT, and `quick` or `full`: `./lab test` runs the quick tests,
# `./lab test --all` all of them.
#
# The command of a test names each program that the test needs: scripts/lab_cli/testing/ finds out from it what to build
# for the test, and whether anything has changed since the test passed.

set(LAB_TEST_SECONDS 1800 CACHE STRING
    "Seconds after which a test counts as hanging: long, since other work may slow the machine down")
# Multiprocessors of the cpu back end in tests: not one for each core, so that grids and loops are the same everywhere.
# Few, so that a small size already makes blocks go round a loop; half of them are still two.
set(LAB_TEST_SMS 4)
set(lab_cmake_folder ${CMAKE_CURRENT_LIST_DIR})

# The student's own copies of exercises, which scripts/lab_cli/work.py makes and tells of.
set(work ${PROJECT_SOURCE_DIR}/work)
if(NOT "$ENV{LAB_WORK_DIR}" STREQUAL "")
    set(work $ENV{LAB_WORK_DIR})
endif()
set(LAB_WORK_DIR ${work} CACHE PATH "Folder of the exercises that are started, NAME/NAME.cu")
file(GLOB lab_copies CONFIGURE_DEPENDS ${LAB_WORK_DIR}/*/*.cu)

add_custom_target(exercises) # all of them, without the unit tests
add_custom_target(quick_tests) # what the tests with the label `quick` run

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
    cmake_parse_arguments(PARSE_ARGV 1 arg "RDC;CUDA_ONLY;ASSIGNMENTS;PER_THREAD;AS_GPU;SLOW" "" "ARCHITECTURES;LINK")
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
    lab_add_unit_tests_of(${folder})
    if(arg_CUDA_ONLY AND LAB_CHOSEN_BACKEND STREQUAL "cpu")
        return()
    endif()
    set(source ${folder}/${name}.cu)
    set(facts ${folder}/exercise.toml)
    set(copy ${LAB_WORK_DIR}/${name}/${name}.cu)
    set(shipped ${name})
    if(copy IN_LIST lab_copies) # NAME is the student's: scripts/lab_cli/work.py
        set(shipped ${name}_shipped)
        lab_add_program(${name} ${copy})
        lab_test_for_everybody(${name} ${LAB_WORK_DIR}/${name}/exercise.toml)
    endif()
    lab_add_program(${shipped} ${source})
    lab_test_for_everybody(${shipped} ${facts})
    if(arg_PER_THREAD)
        lab_add_per_thread_program(${name}_per_thread ${source})
        lab_check_exercise(${name} ${facts} per_thread full per_thread ${name}_per_thread)
    endif()
    if(LAB_OWN_TESTS)
        lab_test_for_maintainers()
    endif()
    include(${folder}/exercise.cmake OPTIONAL) # what exercise.toml has no word for
endfunction()

# The program and, on the cpu back end, the instrumented one. (Macro: these use what lab_add_exercise() has set.)
macro(lab_add_program target file)
    if(LAB_CHOSEN_BACKEND STREQUAL "cpu")
        lab_add_cpu_program(${target} ${file})
        if(LAB_INSTRUMENT)
            lab_add_instrumented_program(${target}_instrumented ${file})
        endif()
    else()
        add_executable(${target} ${file})
        set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ${arg_RDC})
        # -G: device code for cuda-gdb; -lineinfo: source lines in the profilers, at no cost in speed.
        target_compile_options(${target} PRIVATE $<IF:$<CONFIG:Debug>,-G,-lineinfo>)
        target_link_libraries(${target} PRIVATE lab_common lab_warnings)
        lab_link_libraries(${target} ${arg_LINK})
        if(arg_ARCHITECTURES)
            lab_architectures(architectures ${arg_ARCHITECTURES})
            set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
        endif()
    endif()
    foreach(built IN ITEMS ${target} ${target}_instrumented)
        if(TARGET ${built} AND NOT "${file}" STREQUAL "${source}") # a copy includes what lies beside the original
            target_include_directories(${built} PRIVATE ${folder})
            # A student's warnings are no errors, as in ./lab watch.
            target_compile_options(${built} PRIVATE -w $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-w>)
        endif()
    endforeach()
    add_dependencies(exercises ${target})
    add_dependencies(quick_tests ${target})
endmacro()

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

# The tests whose failure a student wants to know of, TARGET/results and so on.
macro(lab_test_for_everybody target facts_of_target)
    if(LAB_CHOSEN_BACKEND STREQUAL "gpu")
        lab_check_exercise(${target} ${facts_of_target} results quick results_on_gpu ${target})
    elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize=") # with which everything takes long
        lab_check_exercise(${target} ${facts_of_target} results quick few_results ${target})
    else()
        lab_check_exercise(${target} ${facts_of_target} results quick results ${target})
    endif()
    lab_check_exercise(${target} ${facts_of_target} options quick options ${target})
    if(arg_SLOW)
        lab_check_exercise(${target} ${facts_of_target} slow_results full slow_results ${target})
    endif()
    if(TARGET ${target}_instrumented)
        add_dependencies(quick_tests ${target}_instrumented)
        lab_check_exercise(${target} ${facts_of_target} hazards quick hazards ${target}_instrumented)
        lab_check_exercise(${target} ${facts_of_target} counts quick counts ${target}_instrumented)
    endif()
endmacro()

# The tests that ask whether those tests would notice a mistake, and what a student's kernel may well change.
macro(lab_test_for_maintainers)
    if(LAB_CHOSEN_BACKEND STREQUAL "gpu")
        lab_check_exercise(${name} ${facts} numbers full numbers_on_gpu ${shipped})
        if(arg_ARCHITECTURES) # which the cpu back end cannot run
            list(TRANSFORM architectures REPLACE "-.*$" "")
            lab_add_case(${name} broken full ${PROJECT_SOURCE_DIR}/tests/broken_exercise.py ${source}
                --library $<TARGET_FILE:lab_common> --nvcc ${CMAKE_CUDA_COMPILER} ${architectures})
        endif()
    elseif(LAB_INSTRUMENT)
        lab_add_test_programs(${name} ${source} ${arg_AS_GPU})
        lab_check_exercise(${name} ${facts} numbers full numbers ${shipped})
        lab_check_exercise(${name} ${facts} as_shipped full as_shipped ${shipped}_instrumented)
        lab_add_case(${name} printed full ${lab_cmake_folder}/check_printed.py ${facts} $<TARGET_FILE:${shipped}>)
        lab_add_case(${name} broken full ${PROJECT_SOURCE_DIR}/tests/broken_exercise.py ${source}
            --library $<TARGET_FILE:cuda_emulator> $<TARGET_FILE:lab_common>)
        if(TARGET ${name}_faulty)
            lab_add_case(${name} faults full ${PROJECT_SOURCE_DIR}/tests/faulty_exercise.py ${facts}
                $<TARGET_FILE:${name}_faulty>)
        endif()
        if(arg_ASSIGNMENTS)
            lab_add_case(${name} assignments full ${PROJECT_SOURCE_DIR}/tests/graded_assignments.py ${facts}
                --library $<TARGET_FILE:cuda_emulator_instrument> --program $<TARGET_FILE:${shipped}>)
        endif()
        if(TARGET ${name}_as_gpu)
            lab_check_exercise(${name} ${facts} as_gpu full as_gpu ${name}_as_gpu)
            lab_add_case(${name} printed_as_gpu full ${lab_cmake_folder}/check_printed.py ${facts}
                $<TARGET_FILE:${name}_as_gpu> $<TARGET_FILE:${shipped}>)
        endif()
    endif()
endmacro()

# A test by check_exercise.py, which knows the kind.
function(lab_check_exercise name facts about when kind program)
    lab_add_case(${name} ${about} ${when} ${lab_cmake_folder}/check_exercise.py ${kind} ${facts}
        $<TARGET_FILE:${program}>)
endfunction()

# A test, NAME/ABOUT: a script of Python, which ends with 77 where the test cannot be made here.
# The script needs no installed package, and Python starts faster without them (-S).
function(lab_add_case name about when)
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME chapter)
    set(case ${name}/${about})
    add_test(NAME ${case} COMMAND ${LAB_PYTHON} -S ${ARGN})
    set_tests_properties(${case} PROPERTIES
        LABELS "exercise;${chapter};${name};${about};${when}" SKIP_RETURN_CODE 77 TIMEOUT ${LAB_TEST_SECONDS}
        ENVIRONMENT "CUDA_EMULATOR_SMS=${LAB_TEST_SMS};CXX=${CMAKE_CXX_COMPILER}")
endfunction()
