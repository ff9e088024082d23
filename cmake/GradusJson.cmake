# The header of safetensors files is JSON. The library that reads it is all headers, seen by one file of
# framework/io only: neither an installed Gradus nor a program that uses it needs it.
find_package(nlohmann_json 3.11 REQUIRED)
target_include_directories(gradus_framework SYSTEM PRIVATE
  $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
