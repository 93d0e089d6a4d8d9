# xpu_sbom(DISTRIBUTION...): put the bill of materials into the wheel. It lists these wheels.
include("${CMAKE_CURRENT_LIST_DIR}/WheelFile.cmake")

function(xpu_sbom)
  if(NOT SKBUILD_METADATA_DIR)
    return()  # no wheel is built
  endif()
  set(sbom "${CMAKE_CURRENT_BINARY_DIR}/${SKBUILD_PROJECT_NAME}.cdx.json")
  execute_process(
    COMMAND "${XPU_WHEELS_PYTHON}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sbom.py" "${sbom}" "${SKBUILD_PROJECT_NAME}"
            "${SKBUILD_PROJECT_VERSION_FULL}" "${CMAKE_CXX_COMPILER_VERSION}" ${ARGN}
    COMMAND_ERROR_IS_FATAL ANY)
  install(FILES "${sbom}" DESTINATION "${SKBUILD_METADATA_DIR}/sboms")
endfunction()
