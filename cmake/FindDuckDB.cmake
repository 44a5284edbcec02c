# DuckDB's C API: a system installation first, then what tools/setup/duckdb.sh fetched.
# Sets DuckDB_FOUND and the imported target DuckDB::DuckDB. The build tree's programs find the
# library by rpath, so build/bin/discreet runs where it was built.

set(DISCREET_DUCKDB_DIR ${PROJECT_SOURCE_DIR}/build/_deps/duckdb CACHE PATH
  "Where tools/setup/duckdb.sh put DuckDB; shared by all build folders")

# pip has nobody to run the setup for it.
if(SKBUILD AND NOT EXISTS ${DISCREET_DUCKDB_DIR}/lib/libduckdb.so)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/setup/duckdb.sh ${DISCREET_DUCKDB_DIR})
endif()

# Both from the same place: a system header with a fetched library could disagree.
find_path(DuckDB_INCLUDE_DIR duckdb.h)
find_library(DuckDB_LIBRARY duckdb)
if(NOT DuckDB_INCLUDE_DIR OR NOT DuckDB_LIBRARY)
  unset(DuckDB_INCLUDE_DIR CACHE)
  unset(DuckDB_LIBRARY CACHE)
  find_path(DuckDB_INCLUDE_DIR duckdb.h PATHS ${DISCREET_DUCKDB_DIR}/include NO_DEFAULT_PATH)
  find_library(DuckDB_LIBRARY duckdb PATHS ${DISCREET_DUCKDB_DIR}/lib NO_DEFAULT_PATH)
endif()
mark_as_advanced(DuckDB_INCLUDE_DIR DuckDB_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DuckDB REQUIRED_VARS DuckDB_LIBRARY DuckDB_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run tools/setup/duckdb.sh (it fetches the pinned library), or install DuckDB 1.4 or newer")

if(DuckDB_FOUND AND NOT TARGET DuckDB::DuckDB)
  add_library(DuckDB::DuckDB SHARED IMPORTED)
  set_target_properties(DuckDB::DuckDB PROPERTIES
    IMPORTED_LOCATION ${DuckDB_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DuckDB_INCLUDE_DIR}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${DuckDB_INCLUDE_DIR})
endif()
