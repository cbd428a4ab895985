# What a build takes on the disk: debug information is compressed, where the compiler can, and programs take of the
# libraries only the functions that they use.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-gz LAB_HAVE_GZ)
if(LAB_HAVE_GZ)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-gz>)
    add_link_options($<$<LINK_LANGUAGE:CXX>:-gz>)
endif()
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections>)
add_link_options($<$<LINK_LANGUAGE:CXX>:LINKER:--gc-sections>)
