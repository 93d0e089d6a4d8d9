# xpu_wheel_file(RESULT DISTRIBUTION FILE): the folder of a file that an installed wheel brought.
find_package(Python REQUIRED COMPONENTS Interpreter)

# Builds for several Pythons that read the same headers compile what needs no Python once, with ccache.
set(XPU_WHEELS_PYTHON "${Python_EXECUTABLE}" CACHE FILEPATH "Python whose wheels bring the headers and libraries")

function(xpu_wheel_file result distribution file)
  execute_process(
    COMMAND "${XPU_WHEELS_PYTHON}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/wheel_file.py" ${distribution} ${file}
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE why RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cannot find ${file} of the wheel ${distribution}: ${why}\npip install ${distribution}")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()
