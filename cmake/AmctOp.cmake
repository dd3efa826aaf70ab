include_guard(GLOBAL)

#[[ amct_op(<op> KERNEL <source>... EXTENSION <source>... [SOCS <soc>...])

Declares the operator in ops/<op>/: one library per NPU architecture, installed with the operator's
Python package as amct_ops/<op>/<npu-arch>/lib<op>_ops.so and amct_ops/<op>/*.py.

  KERNEL      Ascend C sources, compiled for each architecture; AMCT_NPU_ARCH is its number in them,
              on the host's side too
  EXTENSION   host C++ sources, compiled once
  SOCS        the SOCs that the operator supports; all where absent
]]
function(amct_op op)
  list(APPEND CMAKE_MESSAGE_CONTEXT "${op}")
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "KERNEL;EXTENSION;SOCS")
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  if(NOT op STREQUAL folder)
    message(FATAL_ERROR "amct_op(${op}) stands in ops/${folder}: operator and folder have one name")
  endif()
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_KERNEL OR NOT ARG_EXTENSION)
    message(FATAL_ERROR "amct_op(${op} KERNEL <source>... EXTENSION <source>... [SOCS <soc>...]) "
                        "does not fit: ${ARGN}")
  endif()

  _amct_op_archs(archs)
  if(NOT archs)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY AMCT_BUILT_ARCHS ${archs})
  if(ARG_SOCS)
    list(JOIN ARG_SOCS "," socs)
    set_property(GLOBAL APPEND PROPERTY AMCT_SOC_LIMITS "--limit ${op}=${socs}")
  endif()

  add_library(${op}_host OBJECT ${ARG_EXTENSION})
  set_target_properties(${op}_host PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${op}_host PRIVATE op_kernel op_extension)
  target_link_libraries(${op}_host PRIVATE amct::compile amct::torch amct::toolkit)

  set_source_files_properties(${ARG_KERNEL} PROPERTIES LANGUAGE ASC)
  foreach(arch IN LISTS archs)
    set(library ${op}_${arch})
    add_library(${library} SHARED ${ARG_KERNEL} $<TARGET_OBJECTS:${op}_host>)
    target_include_directories(${library} PRIVATE op_kernel)
    target_compile_options(${library} PRIVATE $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=${arch}>)
    string(REPLACE "dav-" "" arch_number ${arch})
    target_compile_definitions(${library} PRIVATE AMCT_NPU_ARCH=${arch_number})
    target_link_libraries(${library} PRIVATE amct::compile amct::torch amct::toolkit)
    target_link_options(${library} PRIVATE LINKER:--as-needed) # Debian and Ubuntu differ
    set_target_properties(${library} PROPERTIES
      OUTPUT_NAME ${op}_ops
      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${arch}"
      LINKER_LANGUAGE CXX
      BUILD_WITH_INSTALL_RPATH ON)
    if(AMCT_TOOLKIT_KIND STREQUAL "sim")
      # A simulated wheel brings its toolkit; a real one finds CANN already loaded by torch_npu.
      set_target_properties(${library} PROPERTIES
        INSTALL_RPATH "$ORIGIN/../../_sim/toolkit/lib64")
      target_compile_options(${library} PRIVATE
        $<$<COMPILE_LANGUAGE:ASC>:-Wall;-Wextra;-Werror;-fvisibility=hidden>)
    endif()
    install(TARGETS ${library} LIBRARY DESTINATION "amct_ops/${op}/${arch}")
  endforeach()
  install(DIRECTORY "python/${op}/" DESTINATION "amct_ops/${op}" FILES_MATCHING PATTERN "*.py")
endfunction()

# The architectures to build the operator for. Reads op and ARG_SOCS of amct_op().
function(_amct_op_archs out)
  set(supported ${AMCT_SOCS})
  if(ARG_SOCS)
    set(supported "")
    set(unsupported "")
    foreach(soc IN LISTS AMCT_SOCS)
      if(soc IN_LIST ARG_SOCS)
        list(APPEND supported ${soc})
      else()
        list(APPEND unsupported ${soc})
      endif()
    endforeach()
    list(JOIN unsupported ", " unsupported)
    list(JOIN ARG_SOCS ", " allowed)
    if(unsupported AND AMCT_OPS_NAMED AND NOT AMCT_SOC_ALL)
      message(FATAL_ERROR "operator ${op} does not support SOC ${unsupported}. It supports: "
                          "${allowed}")
    elseif(unsupported)
      message(NOTICE "operator ${op} is left out for ${unsupported}: it supports ${allowed}")
    endif()
  endif()
  set(archs "")
  foreach(soc IN LISTS supported)
    list(APPEND archs ${AMCT_ARCH_OF_${soc}})
  endforeach()
  list(REMOVE_DUPLICATES archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

#[[ amct_check_archs()

Ends the configure run if an architecture that the wheel's version names has no operator.
]]
function(amct_check_archs)
  get_property(built GLOBAL PROPERTY AMCT_BUILT_ARCHS)
  foreach(arch IN LISTS AMCT_NPU_ARCHS)
    if(NOT arch IN_LIST built)
      list(JOIN AMCT_OPS ", " ops)
      message(FATAL_ERROR "nothing to build for ${arch}: none of the operators ${ops} supports it. "
                          "Leave its SOCs out of SOC=${SOC}")
    endif()
  endforeach()
endfunction()

#[[ amct_install_manifest()

Installs amct_ops/_manifest.json. Must come last: it lists the libraries that are installed by then.
]]
function(amct_install_manifest)
  get_property(limits GLOBAL PROPERTY AMCT_SOC_LIMITS)
  list(JOIN limits " " limits)
  install(CODE "
    execute_process(COMMAND \"${Python_EXECUTABLE}\" \"${CMAKE_SOURCE_DIR}/cmake/amct_plan.py\"
      manifest --plan \"${CMAKE_BINARY_DIR}/plan.json\" --prefix \"\${CMAKE_INSTALL_PREFIX}\" ${limits}
      COMMAND_ERROR_IS_FATAL ANY)")
endfunction()
