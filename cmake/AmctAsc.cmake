include_guard(GLOBAL)

#[[ amct_find_asc()

Makes LANGUAGES ASC known to project(), from the toolkit that amct_plan() chose. Only the module path
leaves this function: CANN's package also clears CMAKE_CXX_FLAGS_RELEASE and _DEBUG in its caller.
]]
function(amct_find_asc)
  list(APPEND CMAKE_MESSAGE_CONTEXT "asc")
  set(ENV{ASCEND_HOME_PATH} "${AMCT_TOOLKIT_HOME}") # CANN's modules look there
  unset(ASC_DIR CACHE)
  find_package(ASC REQUIRED NO_DEFAULT_PATH
    HINTS "${AMCT_TOOLKIT_HOME}/lib64/cmake"
          "${AMCT_TOOLKIT_HOME}/compiler/tikcpp/ascendc_kernel_cmake") # CANN before 8.5
  set(CMAKE_MODULE_PATH "${CMAKE_MODULE_PATH}" PARENT_SCOPE)
endfunction()
