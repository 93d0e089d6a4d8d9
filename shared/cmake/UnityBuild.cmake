# Compile up to eight files of a folder as one: reading the headers takes most of the time of a file.
# Names in the anonymous namespaces of a folder must therefore differ, except in files that are excluded.
# While you work on one file, -DCMAKE_UNITY_BUILD=OFF is quicker.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile several files as one")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# exclude_from_unity(FILE...): compile these files one by one, so that their local names may clash.
function(exclude_from_unity)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# unity_by_folder(TARGET FILE...): compile no files of different folders as one.
function(unity_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(file ${ARGN})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" name)
    math(EXPR count_${name} "${count_${name}} + 1")
    math(EXPR part "(${count_${name}} - 1) / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP "${name}_${part}")
  endforeach()
endfunction()
