# Sets EMULATOR_BOOST_CONTEXT to the library Boost.Context.
#
# Without the package for development there is no link libboost_context.so, with which -lboost_context finds it. Then
# the newest version is taken of those in the first folder in which the compiler would look, and the link is made in
# the build folder: cc.py looks for it beside the library of the emulator.

find_library(EMULATOR_BOOST_CONTEXT boost_context)
mark_as_advanced(EMULATOR_BOOST_CONTEXT)
if(NOT EMULATOR_BOOST_CONTEXT)
    foreach(folder IN LISTS CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        file(GLOB found ${folder}/libboost_context.so.*)
        if(found)
            break()
        endif()
    endforeach()
    if(NOT found)
        message(FATAL_ERROR "Boost.Context is missing: ./lab run installs it "
            "(on Debian and Ubuntu: libboost-context-dev)")
    endif()
    list(SORT found COMPARE NATURAL)
    list(GET found -1 EMULATOR_BOOST_CONTEXT)
    file(CREATE_LINK ${EMULATOR_BOOST_CONTEXT} ${CMAKE_CURRENT_BINARY_DIR}/libboost_context.so SYMBOLIC)
endif()
