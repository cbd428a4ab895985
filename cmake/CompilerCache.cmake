# Compiles C++ through ccache where it is installed, so that a fresh clone, another build folder and a test take what
# was compiled before. CCACHE_DISABLE=1 in the environment turns it off; CMAKE_CXX_COMPILER_LAUNCHER, where it is given,
# stays as it is.
find_program(LAB_CCACHE ccache)
if(LAB_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER sh ${PROJECT_SOURCE_DIR}/emulator/driver/ccache.sh ${PROJECT_SOURCE_DIR})
endif()
