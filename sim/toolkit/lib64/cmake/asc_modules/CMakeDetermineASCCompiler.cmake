# Part 1 of the language ASC: which compiler.
set(CMAKE_ASC_COMPILER "${CMAKE_CURRENT_LIST_DIR}/../../../bin/bisheng")
cmake_path(NORMAL_PATH CMAKE_ASC_COMPILER)
# The driver hands the host's C++ compiler the translated kernels. Found here once, so that a build
# from another shell takes the same one.
find_program(CMAKE_ASC_HOST_COMPILER NAMES $ENV{CXX} c++ g++ clang++)
if(NOT CMAKE_ASC_HOST_COMPILER)
  message(FATAL_ERROR "the simulated toolkit needs a C++ compiler: install g++, or set CXX")
endif()
mark_as_advanced(CMAKE_ASC_HOST_COMPILER)
set(CMAKE_ASC_COMPILER_ENV_VAR ASC)
# The driver links to these by itself; where the C++ compiler links, CMake names them.
cmake_path(SET CMAKE_ASC_IMPLICIT_LINK_DIRECTORIES NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../..")
if(EXISTS "${CMAKE_ASC_IMPLICIT_LINK_DIRECTORIES}/libascendcl.so") # not yet in a checkout
  set(CMAKE_ASC_IMPLICIT_LINK_LIBRARIES ascendc_runtime ascendcl)
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in"
               "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake" @ONLY)
