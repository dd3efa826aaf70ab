include_guard(GLOBAL)

#[[ amct_import_packages()

Defines what targets link to:
  amct::compile    flags of all our own C++
  amct::torch      headers and libraries of torch and torch_npu
  amct::toolkit    headers and libraries of the Ascend toolkit, as a direct-launch operator needs them
  amct::pybind11   headers of pybind11 (simulator only)

find_package(Torch) is no option: it fails where torch was built for CUDA and there is none.

Packages are reached through links in the build tree that are named by version: the environment of
an isolated build has a new path each time, and a changed path would recompile everything.
]]
macro(amct_import_packages)
  # A header of a package changes only with its version, which is in its path.
  set(CMAKE_DEPFILE_FLAGS_CXX "-MMD -MT <DEP_TARGET> -MF <DEP_FILE>")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  _amct_import_packages()
endmacro()

function(_amct_link_package name out)
  string(TOUPPER "AMCT_${name}" prefix)
  set(link "${CMAKE_BINARY_DIR}/packages/${name}-${${prefix}_VERSION}")
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
  file(CREATE_LINK "${${prefix}_PATH}" "${link}" SYMBOLIC)
  set(${out} "${link}" PARENT_SCOPE)
endfunction()

function(_amct_import_packages)
  add_library(amct_compile INTERFACE)
  add_library(amct::compile ALIAS amct_compile)
  target_compile_features(amct_compile INTERFACE cxx_std_${AMCT_CXX_STANDARD})
  target_compile_options(amct_compile INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror;-fvisibility=hidden;-fvisibility-inlines-hidden>
    # No path of the build machine in the libraries; g++ would resolve the links of packages/.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-canonical-system-headers>
    "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build" "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")

  _amct_link_package(torch torch)
  _amct_link_package(torch_npu torch_npu)
  add_library(amct_torch INTERFACE)
  add_library(amct::torch ALIAS amct_torch)
  target_include_directories(amct_torch SYSTEM INTERFACE
    "${torch}/include" "${torch}/include/torch/csrc/api/include" "${torch_npu}/include")
  target_compile_definitions(amct_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${AMCT_CXX11_ABI})
  target_link_directories(amct_torch INTERFACE "${torch}/lib" "${torch_npu}/lib")
  target_link_libraries(amct_torch INTERFACE torch_npu torch_cpu c10)

  add_library(amct_toolkit INTERFACE)
  add_library(amct::toolkit ALIAS amct_toolkit)
  target_link_libraries(amct_toolkit INTERFACE
    tiling_api register platform unified_dlog graph_base ascendcl ascendc_runtime dl m)
  if(AMCT_TOOLKIT_KIND STREQUAL "sim")
    # The libraries are targets of sim/ with the names that CANN's have.
    target_include_directories(amct_toolkit SYSTEM INTERFACE "${AMCT_TOOLKIT_HOME}/include")
    _amct_link_package(pybind11 pybind11)
    add_library(amct_pybind11 INTERFACE)
    add_library(amct::pybind11 ALIAS amct_pybind11)
    target_include_directories(amct_pybind11 SYSTEM INTERFACE "${pybind11}/include")
  else()
    set(host "${AMCT_TOOLKIT_HOME}/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux")
    target_include_directories(amct_toolkit SYSTEM INTERFACE
      "${host}/include" "${host}/asc/include")
    target_link_directories(amct_toolkit INTERFACE
      "${AMCT_TOOLKIT_HOME}/lib64" "${host}/lib64")
  endif()
endfunction()
