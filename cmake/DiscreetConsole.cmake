# The web console: TypeScript in console/, built by npm's packages into <build>/console, which the server hands out.
if(NOT DISCREET_CONSOLE OR DISCREET_SANITIZE)
  return()
endif()
include(GNUInstallDirs)
find_program(NPM npm)
find_program(NODE node)
if(NOT NPM OR NOT NODE)
  message(STATUS "console: npm is missing (Debian: apt-get install npm), so the web console is left out")
  return()
endif()

file(GLOB_RECURSE console_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/console/src/*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/console.stamp
  COMMAND ${PROJECT_SOURCE_DIR}/tools/setup/console.sh ${CMAKE_BINARY_DIR}/console
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/console.stamp
  DEPENDS ${console_sources} ${PROJECT_SOURCE_DIR}/console/index.html ${PROJECT_SOURCE_DIR}/console/package-lock.json
          ${PROJECT_SOURCE_DIR}/console/vite.config.ts ${PROJECT_SOURCE_DIR}/console/tsconfig.json ${PROJECT_SOURCE_DIR}/tools/setup/console.sh
  COMMENT "Building the web console"
  VERBATIM)
add_custom_target(console ALL DEPENDS ${CMAKE_BINARY_DIR}/console.stamp)
install(DIRECTORY ${CMAKE_BINARY_DIR}/console/ DESTINATION ${CMAKE_INSTALL_DATADIR}/discreet/console COMPONENT console OPTIONAL)
