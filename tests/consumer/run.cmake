# Builds and runs the consumer, from an installed Gradus (WAY=installed) or as a parent project with
# Gradus inside (WAY=subdirectory). Started by CTest, which passes the variables used here; SYSTEM,
# PROCESSOR and EMULATOR only where Gradus is built for another machine.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
set(build "${WORK_DIR}/build")
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -B "${build}"
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
set(march -march=native)
if(SYSTEM)
  separate_arguments(EMULATOR)
  list(APPEND configure -D CMAKE_SYSTEM_NAME=${SYSTEM} -D CMAKE_SYSTEM_PROCESSOR=${PROCESSOR})
  set(march)
endif()
set(strict "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror")

if(WAY STREQUAL "installed")
  run(${CMAKE_COMMAND} --install "${GRADUS_BINARY_DIR}" --prefix "${WORK_DIR}/prefix")
  file(GLOB_RECURSE exports "${WORK_DIR}/prefix/*/gradusTargets*.cmake")
  foreach(file IN LISTS exports)
    file(READ "${file}" text)
    string(REPLACE "${GRADUS_SOURCE_DIR}/" "SOURCE_DIR/" text "${text}")
    if(text MATCHES "SOURCE_DIR/|Eigen|nlohmann|-W[a-z]|-march|-mavx|-fsanitize")
      message(FATAL_ERROR "${file} lets '${CMAKE_MATCH_0}' out to those who use Gradus")
    endif()
  endforeach()
  run(${configure} -S "${CMAKE_CURRENT_LIST_DIR}" -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    "-DCMAKE_CXX_FLAGS=-O0 ${strict}")
else()
  # One build of the kernels is enough: the installed one has them all.
  run(${configure} -S "${CMAKE_CURRENT_LIST_DIR}/parent" -D GRADUS_SOURCE_DIR=${GRADUS_SOURCE_DIR}
    -D GRADUS_ISAS=baseline
    "-DCMAKE_CXX_FLAGS=-O0 ${march} ${strict}")
endif()
run(${CMAKE_COMMAND} --build "${build}" --parallel 2)
run(${EMULATOR} "${build}/consumer")

if(WAY STREQUAL "subdirectory")
  execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir "${build}" --show-only
    OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
  if(NOT list MATCHES "Total Tests: 1\n")
    message(FATAL_ERROR "The parent has one test of its own, but CTest lists:\n${list}")
  endif()
endif()
