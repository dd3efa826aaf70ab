include_guard(GLOBAL)

#[[ amct_plan()

Asks amct_plan.py what SOC, OPS and TOOLKIT mean on this machine. A wrong setting ends the configure
run with that script's message. Sets in the caller's scope:
  AMCT_SOCS AMCT_NPU_ARCHS AMCT_OPS     lists
  AMCT_ARCH_OF_<soc>                    the NPU architecture of each SOC
  AMCT_OPS_NAMED AMCT_SOC_ALL           whether the user named operators, or SOC=all
  AMCT_TOOLKIT_KIND AMCT_TOOLKIT_HOME   cann | sim, and its folder
  AMCT_CXX_STANDARD AMCT_CXX11_ABI      as torch's headers need them
  AMCT_SIM_SOC                          the simulator's default SOC
  AMCT_<PACKAGE>_PATH AMCT_<PACKAGE>_VERSION   of TORCH, TORCH_NPU, and PYBIND11 for the simulator
]]
function(amct_plan)
  list(APPEND CMAKE_MESSAGE_CONTEXT "plan")
  find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/plan.json")
  execute_process(
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/amct_plan.py" plan
            --soc "${SOC}" --ops "${OPS}" --toolkit "${TOOLKIT}" --output "${file}"
    RESULT_VARIABLE failed
    ERROR_VARIABLE reason
    ERROR_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(FATAL_ERROR "${reason}")
  endif()
  file(READ "${file}" plan)

  set(socs "")
  string(JSON count LENGTH "${plan}" socs)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON soc MEMBER "${plan}" socs ${index})
    string(JSON arch GET "${plan}" socs ${soc})
    list(APPEND socs ${soc})
    set(AMCT_ARCH_OF_${soc} ${arch} PARENT_SCOPE)
  endforeach()
  set(AMCT_SOCS "${socs}" PARENT_SCOPE)
  foreach(key npu_archs ops)
    set(values "")
    string(JSON count LENGTH "${plan}" ${key})
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
      string(JSON value GET "${plan}" ${key} ${index})
      list(APPEND values "${value}")
    endforeach()
    string(TOUPPER "AMCT_${key}" name)
    set(${name} "${values}" PARENT_SCOPE)
    set(${key} "${values}")
  endforeach()
  foreach(key ops_named soc_all cxx11_abi cxx_standard sim_soc)
    string(JSON value GET "${plan}" ${key})
    string(TOUPPER "AMCT_${key}" name)
    set(${name} "${value}" PARENT_SCOPE)
  endforeach()
  foreach(package torch torch_npu pybind11)
    string(JSON type TYPE "${plan}" ${package})
    if(type STREQUAL "OBJECT")
      string(TOUPPER "AMCT_${package}" name)
      foreach(key path version)
        string(JSON value GET "${plan}" ${package} ${key})
        string(TOUPPER "${name}_${key}" variable)
        set(${variable} "${value}" PARENT_SCOPE)
      endforeach()
      message(STATUS "${package} ${value}")
    endif()
  endforeach()
  string(JSON kind GET "${plan}" toolkit kind)
  string(JSON home GET "${plan}" toolkit home)
  string(JSON version GET "${plan}" toolkit version)
  set(AMCT_TOOLKIT_KIND "${kind}" PARENT_SCOPE)
  set(AMCT_TOOLKIT_HOME "${home}" PARENT_SCOPE)
  if(kind STREQUAL "sim")
    message(NOTICE "**** SIMULATED toolkit: these libraries run on no NPU. For a real one, source "
                   "CANN's set_env.sh ****")
  else()
    message(STATUS "CANN ${version} in ${home}")
  endif()

  # Compiler and modules of a tree are those of its first configure run.
  set(AMCT_CONFIGURED_TOOLKIT "${home}" CACHE STRING "Toolkit of this build tree")
  mark_as_advanced(AMCT_CONFIGURED_TOOLKIT)
  if(NOT AMCT_CONFIGURED_TOOLKIT STREQUAL home)
    message(FATAL_ERROR "this build tree was configured with the toolkit in "
                        "${AMCT_CONFIGURED_TOOLKIT}, now it is ${home}. Configure it anew: "
                        "cmake --fresh, or -C cmake.fresh=true")
  endif()

  # Schemas come from register.cpp; a new operator is a new folder.
  file(GLOB operators CONFIGURE_DEPENDS ops/*/CMakeLists.txt)
  list(TRANSFORM ops PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/ops/" OUTPUT_VARIABLE registers)
  list(TRANSFORM registers APPEND "/op_extension/register.cpp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${registers}
               "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/amct_plan.py"
               "${CMAKE_CURRENT_SOURCE_DIR}/amct_ops/_soc.py")
endfunction()
