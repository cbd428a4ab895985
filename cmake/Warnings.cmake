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
    # Diagnostics that print __FILE__ name it relative to the project.
    $<${cxx}:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>
    $<${cuda}:-Xcompiler=-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)

if(LAB_WERROR)
    target_compile_options(lab_warnings INTERFACE
        $<${cxx}:-Werror> $<${cuda}:-Xcompiler=-Werror;-Werror=all-warnings>)
endif()
