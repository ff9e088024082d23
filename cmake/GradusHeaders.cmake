# The public headers: every header of framework/ and layers/ but the internal ones. Installation and
# the umbrella header <gradus/gradus.h> both follow from this one list.

file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/framework/*.h" "${PROJECT_SOURCE_DIR}/layers/*.h")
list(FILTER public_headers EXCLUDE REGEX
  "^framework/kernels/(table|scratch|per_isa/.*)\\.h$|^framework/ops/(axes|launch|checks)\\.h$|_internal\\.h$")

set(GRADUS_FRAMEWORK_HEADERS ${public_headers})
list(FILTER GRADUS_FRAMEWORK_HEADERS INCLUDE REGEX "^framework/")
set(GRADUS_LAYERS_HEADERS ${public_headers})
list(FILTER GRADUS_LAYERS_HEADERS INCLUDE REGEX "^layers/")

# Headers find each other from the root of the tree, which is include/gradus once installed.
function(gradus_add_headers target headers)
  list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/")
  target_sources(${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
endfunction()

# Writes <gradus/gradus.h>, which includes them all but framework/eigen.h: that one needs Eigen.
function(gradus_add_umbrella_header target)
  set(headers ${GRADUS_FRAMEWORK_HEADERS} ${GRADUS_LAYERS_HEADERS})
  list(REMOVE_ITEM headers framework/eigen.h)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN headers "\n" includes)
  set(umbrella "${PROJECT_BINARY_DIR}/include/gradus/gradus.h")
  file(CONFIGURE OUTPUT "${umbrella}" @ONLY CONTENT
    "// All of Gradus in one include. Written by the build from the list of public headers.\n#pragma once\n\n@includes@\n")
  target_sources(${target} PUBLIC
    FILE_SET umbrella TYPE HEADERS BASE_DIRS "${PROJECT_BINARY_DIR}/include" FILES "${umbrella}")
endfunction()
