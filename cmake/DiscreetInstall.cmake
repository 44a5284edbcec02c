# discreet::core as an installed CMake package: find_package(discreet), target_link_libraries(app discreet::core).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(core_folders base random privacy mechanisms accounting)
add_library(discreet_core INTERFACE)
add_library(discreet::core ALIAS discreet_core)
set_target_properties(discreet_core PROPERTIES EXPORT_NAME core)
target_link_libraries(discreet_core INTERFACE discreet_accounting discreet_mechanisms)

set(core_targets discreet_core)
foreach(folder ${core_folders})
  list(APPEND core_targets discreet_${folder})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/discreet/${folder}
    COMPONENT core FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/src/discreet.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/discreet COMPONENT core)
install(TARGETS ${core_targets} EXPORT discreet-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT core)
install(EXPORT discreet-targets NAMESPACE discreet:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/discreet COMPONENT core)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/discreet-config.cmake.in ${CMAKE_BINARY_DIR}/discreet-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/discreet)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/discreet-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/discreet-config.cmake ${CMAKE_BINARY_DIR}/discreet-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/discreet COMPONENT core)

# The program as packages have it: it finds DuckDB beside itself, wherever it is unpacked.
# An old-style RPATH, because it also holds for what the libraries need in their turn.
set_target_properties(discreet_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/discreet")
target_link_options(discreet_cli PRIVATE -Wl,--disable-new-dtags)
install(TARGETS discreet_cli RUNTIME DESTINATION bin COMPONENT program)
install(FILES ${DuckDB_LIBRARY} DESTINATION lib/discreet COMPONENT program)
