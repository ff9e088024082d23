# How every target of Gradus is compiled: warnings, sanitizers, coverage. All of it is private to the
# target, so nothing here reaches a project that uses Gradus; and what such a project sets for itself
# (fast math, unity builds, hidden symbols) cannot change what Gradus computes.

function(gradus_configure_target target)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    UNITY_BUILD OFF
    COMPILE_WARNING_AS_ERROR ${GRADUS_WARNINGS_AS_ERRORS})
  target_compile_features(${target} PUBLIC cxx_std_20)

  # Masks are infinities: they must keep their meaning whatever the flags of a parent project.
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -fno-fast-math)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 warns of overlapping copies in any std::string sum (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()

  if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # An Index has 64 bits, a size 32: one that counts what is in memory fits.
    target_compile_options(${target} PRIVATE -Wno-shorten-64-to-32)
  endif()

  if(GRADUS_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${GRADUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${GRADUS_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC loses sight of what is initialised among its own checks; the other builds keep this warning.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
  if(GRADUS_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic)
    target_link_options(${target} PRIVATE --coverage)
  endif()
endfunction()

function(gradus_configure_library target)
  gradus_configure_target(${target})
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    CXX_VISIBILITY_PRESET default)
  if(NOT PROJECT_IS_TOP_LEVEL)
    # A parent's own warnings are for its own code, not for our headers.
    set_target_properties(${target} PROPERTIES SYSTEM ON)
  endif()
endfunction()
