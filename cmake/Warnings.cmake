# lab_warnings: compile flags of every target of ours, exercises and libraries alike.
# lab_as_students_write: to be linked behind it (of clang's flags the last one counts), for tests whose sources compare
# signed indices with blockDim.x.
add_library(lab_warnings INTERFACE)
add_library(lab_as_students_write INTERFACE)
target_compile_options(lab_as_students_write INTERFACE -Wno-sign-compare -Wno-unused-parameter)

set(cxx $<COMPILE_LANGUAGE:CXX>)
set(cuda $<COMPILE_LANGUAGE:CUDA>)

target_compile_options(lab_warnings INTERFACE
    $<${cxx}:-Wall;-Wextra>
    $<${cuda}:-Xcompiler=-Wall,-Wextra>
    # Of libstdc++ 12's own headers, which a newer clang++ warns of.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>
    $<${cuda}:-Xcompiler=-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)

# Diagnostics that print __FILE__ name it relative to the project, and so does debug information: what two checkouts
# compile is the same. (ccache gives the compiler paths that begin at the build folder.)
file(RELATIVE_PATH from_build ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/common)
string(REGEX REPLACE "common$" "" from_build ${from_build})
target_compile_options(lab_warnings INTERFACE
    $<${cxx}:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>
    $<$<AND:${cxx},$<BOOL:${from_build}>>:-ffile-prefix-map=${from_build}=>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-ffile-prefix-map=${PROJECT_BINARY_DIR}=.>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fdebug-compilation-dir=.>)

if(LAB_WERROR)
    target_compile_options(lab_warnings INTERFACE
        $<${cxx}:-Werror> $<${cuda}:-Xcompiler=-Werror;-Werror=all-warnings>)
endif()
