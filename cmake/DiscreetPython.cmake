# The Python package: python/bindings becomes the module discreet._core, beside the .py files of python/discreet.
#
# The ordinary build makes it into <build>/python/discreet, importable with PYTHONPATH=<build>/python. pip (by way of
# scikit-build-core, pyproject.toml) runs the same CMake files with the same flags, so that ccache hands it the libraries
# that were compiled before, and installs the component `python` into the wheel.
set(DISCREET_PYTHON AUTO CACHE STRING "Build the Python module: ON, OFF, or AUTO (when <build>/venv can)")
if(DISCREET_SANITIZE OR NOT DISCREET_PYTHON)
  return()
endif()

if(NOT SKBUILD)
  find_program(DISCREET_VENV_PYTHON NAMES python PATHS ${CMAKE_BINARY_DIR}/venv/bin NO_DEFAULT_PATH)
  if(DISCREET_VENV_PYTHON AND NOT Python_EXECUTABLE)
    set(Python_EXECUTABLE ${DISCREET_VENV_PYTHON})
  elseif(DISCREET_PYTHON STREQUAL "AUTO" AND NOT Python_EXECUTABLE)
    message(STATUS "python: no ${CMAKE_BINARY_DIR}/venv, so the Python module is left out; make test makes it")
    return()
  endif()
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
    OUTPUT_VARIABLE nanobind_ROOT ERROR_QUIET)
endif()
if(NOT Python_FOUND OR NOT nanobind_ROOT)
  if(DISCREET_PYTHON STREQUAL "AUTO")
    message(STATUS "python: no headers of Python or no nanobind, so the Python module is left out")
    return()
  endif()
  message(FATAL_ERROR "python: the module needs Python's headers (Debian: apt-get install python3-dev) and nanobind (pip install nanobind)")
endif()
# A copy in the build folder: its path is then the same, seen from there, in every build, as ccache wants it.
cmake_path(GET nanobind_ROOT PARENT_PATH nanobind_package)
file(COPY ${nanobind_package}/cmake ${nanobind_package}/include ${nanobind_package}/src ${nanobind_package}/ext
  ${nanobind_package}/stubgen.py DESTINATION ${CMAKE_BINARY_DIR}/nanobind-package)
set(nanobind_ROOT ${CMAKE_BINARY_DIR}/nanobind-package/cmake)
find_package(nanobind CONFIG REQUIRED PATHS ${nanobind_ROOT} NO_DEFAULT_PATH)

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bindings/*.cc)
# For the version of Python that builds it. The stable ABI needs Python 3.12 and CMake 3.26's SABIModule; without either nanobind
# quietly builds for one version, so a wheel must not be named as if it were for all (docs/python.md).
nanobind_add_module(discreet_python NB_STATIC NB_SUPPRESS_WARNINGS NB_DOMAIN discreet ${python_sources})
set(package ${CMAKE_BINARY_DIR}/python/discreet)
set_target_properties(discreet_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${package}
  INSTALL_RPATH "$ORIGIN")
set_source_files_properties(${PROJECT_SOURCE_DIR}/python/bindings/rows.cc PROPERTIES COMPILE_OPTIONS -O3)  # it has loops over rows
target_include_directories(discreet_python PRIVATE ${PROJECT_SOURCE_DIR}/python)
target_compile_definitions(discreet_python PRIVATE DISCREET_VERSION="${PROJECT_VERSION}")
target_link_libraries(discreet_python PRIVATE discreet_accounting discreet_mechanisms discreet_audit discreet_synth discreet_local
  discreet_curator discreet_attack discreet_prio discreet_town discreet_flags)
if(TARGET discreet_learn)
  target_link_libraries(discreet_python PRIVATE discreet_learn)
endif()
# Nothing of ours or of the libraries inside shows: other modules may bring other versions of the same ones.
target_link_options(discreet_python PRIVATE -Wl,--exclude-libs,ALL)

# The .py files beside it, so that the build tree can be imported and tested.
file(GLOB_RECURSE python_files RELATIVE ${PROJECT_SOURCE_DIR}/python CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/discreet/*.py
  ${PROJECT_SOURCE_DIR}/python/discreet/py.typed)
foreach(file ${python_files})
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/python/${file} DEPENDS ${PROJECT_SOURCE_DIR}/python/${file}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/python/${file} ${CMAKE_BINARY_DIR}/python/${file})
  list(APPEND copied ${CMAKE_BINARY_DIR}/python/${file})
endforeach()
add_custom_target(discreet_python_files ALL DEPENDS ${copied})
nanobind_add_stub(discreet_python_stub MODULE _core OUTPUT ${package}/_core.pyi PYTHON_PATH ${package}
  DEPENDS discreet_python)
add_custom_target(discreet_package ALL DEPENDS discreet_python discreet_python_files discreet_python_stub)

install(TARGETS discreet_python LIBRARY DESTINATION discreet COMPONENT python)
install(FILES ${package}/_core.pyi DESTINATION discreet COMPONENT python)
# The engine travels in the wheel.
install(FILES ${DuckDB_LIBRARY} DESTINATION discreet COMPONENT python)
cmake_path(GET DuckDB_LIBRARY PARENT_PATH duckdb_folder)
install(FILES ${duckdb_folder}/../LICENSE DESTINATION discreet RENAME LICENSE.duckdb COMPONENT python OPTIONAL)
