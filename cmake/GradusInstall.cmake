# Installation: after it, find_package(gradus) gives gradus::gradus, gradus::framework, gradus::layers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(gradus_framework PROPERTIES EXPORT_NAME framework)
set_target_properties(gradus_layers PROPERTIES EXPORT_NAME layers)
set_target_properties(gradus_gradus PROPERTIES EXPORT_NAME gradus)

install(TARGETS gradus_framework gradus_layers gradus_gradus EXPORT gradusTargets
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gradus"
  FILE_SET umbrella DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gradus")
install(EXPORT gradusTargets NAMESPACE gradus:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/gradusConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/gradusConfig.cmake" INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gradusConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gradusConfig.cmake"
  "${PROJECT_BINARY_DIR}/gradusConfigVersion.cmake" DESTINATION "${package_dir}")
