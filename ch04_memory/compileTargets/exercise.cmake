# Compiles compileTargetsKernel.cu once for each target of compileTargets. CMake calls machine code for 9.0 "90-real", and
# PTX for it "90-virtual". The cpu back end has neither.

if(LAB_CHOSEN_BACKEND STREQUAL "cpu")
    return()
endif()

execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch
    OUTPUT_VARIABLE listed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9]+" known "${listed}")
list(SORT known COMPARE NATURAL)
list(GET known 0 oldest)
list(GET known -1 newest)

# The architectures that the rest of the project is built for.
if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native")
    set(chosen ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
elseif(CMAKE_CUDA_ARCHITECTURES MATCHES "^all")
    set(chosen ${known})
else()
    set(chosen ${CMAKE_CUDA_ARCHITECTURES})
endif()
list(TRANSFORM chosen REPLACE "[^0-9].*$" "")
list(REMOVE_DUPLICATES chosen)

# An architecture of another generation than all of these, or the oldest if there is none.
set(generations ${chosen})
list(TRANSFORM generations REPLACE ".$" "")
set(other ${oldest})
foreach(capability IN LISTS known)
    string(REGEX REPLACE ".$" "" generation ${capability})
    if(NOT generation IN_LIST generations)
        set(other ${capability})
        break()
    endif()
endforeach()

function(lab_compile_target name)
    add_library(compileTargets_${name} OBJECT ${folder}/compileTargetsKernel.cu)
    set_target_properties(compileTargets_${name} PROPERTIES CUDA_ARCHITECTURES "${ARGN}")
    list(JOIN ARGN "," code)
    target_compile_definitions(compileTargets_${name} PRIVATE LAB_TARGET=${name} LAB_CODE="${code}")
    target_link_libraries(compileTargets_${name} PRIVATE lab_warnings)
    target_link_libraries(compileTargets PRIVATE compileTargets_${name})
    if(TARGET compileTargets_shipped) # where compileTargets is a student's copy
        target_link_libraries(compileTargets_shipped PRIVATE compileTargets_${name})
    endif()
endfunction()

list(TRANSFORM chosen APPEND "-real")
lab_compile_target(ptxOld ${oldest}-virtual)
lab_compile_target(machineCode ${chosen})
lab_compile_target(machineCodeAndPtx ${oldest}-virtual ${chosen})
lab_compile_target(otherMachineCode ${other}-real)
lab_compile_target(ptxNew ${newest}-virtual)
