# Part 3 of the language ASC: the driver is a script beside this file; there is nothing to try.
set(CMAKE_ASC_COMPILER_WORKS 1 CACHE INTERNAL "")
