# find_package(ASC): makes LANGUAGES ASC known to project().
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/asc_modules")
