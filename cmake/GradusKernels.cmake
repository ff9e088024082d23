# The kernels: framework/kernels/per_isa/ is compiled once per instruction set, and the program chooses
# one build of it when it starts.

set(known_isas baseline)
set(isa_flags_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  list(APPEND known_isas avx2 avx512)
  set(isa_flags_avx2 -mavx2 -mfma -mbmi2)
  set(isa_flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mbmi2
    -mprefer-vector-width=512)
endif()
set(GRADUS_ISAS "${known_isas}" CACHE STRING "Builds of the kernels; baseline must be among them")

# Optimised in every build type, for speed and for safety: a small function of std that is not
# inlined becomes a weak symbol, and the linker may then put its AVX code under the baseline's feet.
if(GRADUS_SANITIZE OR GRADUS_COVERAGE)
  set(kernel_flags -O2)
else()
  set(kernel_flags -O3)
endif()
list(APPEND kernel_flags -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes the "undefined" operand of its own AVX-512 intrinsics for a mistake (GCC bug 105593).
  list(APPEND kernel_flags -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

file(GLOB kernel_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/framework/kernels/per_isa/*.cpp")
foreach(isa IN LISTS GRADUS_ISAS)
  set(target gradus_kernels_${isa})
  add_library(${target} OBJECT ${kernel_sources})
  gradus_configure_target(${target})
  if(BUILD_SHARED_LIBS)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_compile_definitions(${target} PRIVATE GRADUS_ISA=${isa})
  target_compile_options(${target} PRIVATE ${kernel_flags} ${isa_flags_${isa}})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")

  target_sources(gradus_framework PRIVATE $<TARGET_OBJECTS:${target}>)
  if(NOT isa STREQUAL "baseline")
    string(TOUPPER ${isa} name)
    target_compile_definitions(gradus_framework PRIVATE GRADUS_HAS_${name})
  endif()
endforeach()
