# Several files are compiled as one: reading the headers takes most of a file's time, and so it is done once for eight.
# Names in the anonymous namespaces of one package must therefore differ, but for folders that compile file by file.
# While working on one file, -DCMAKE_UNITY_BUILD=OFF is quicker.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile several files as one")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# exclude_from_unity(FILE...): files whose local names are their own.
function(exclude_from_unity)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
