# What a build for the cpu back end takes of the disk: debug information is compressed, where compiler and linker can;
# programs take of the libraries only the functions that they use.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -gz)
check_cxx_source_compiles("int main() { return 0; }" LAB_COMPRESSES_DEBUG FAIL_REGEX "[Ww]arning")
unset(CMAKE_REQUIRED_FLAGS)
if(LAB_COMPRESSES_DEBUG)
    add_compile_options(-gz)
    add_link_options(-gz)
endif()
add_compile_options(-ffunction-sections)
add_link_options(LINKER:--gc-sections)
