# libpg_query (PostgreSQL's own parser) and the C++ form of its protobuf tree.
# Sets PgQuery_FOUND and the targets PgQuery::PgQuery and PgQuery::Tree. The generated file takes most
# of a minute to compile, so it is a target of its own that nothing but the libpg_query package changes.

find_path(PgQuery_INCLUDE_DIR pg_query.h)
find_path(PgQuery_PROTO_DIR pg_query.proto PATH_SUFFIXES pg_query)
find_library(PgQuery_LIBRARY pg_query)
mark_as_advanced(PgQuery_INCLUDE_DIR PgQuery_PROTO_DIR PgQuery_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PgQuery REQUIRED_VARS PgQuery_LIBRARY PgQuery_INCLUDE_DIR PgQuery_PROTO_DIR
  REASON_FAILURE_MESSAGE "install libpg-query-dev (tools/setup lists it)")

if(PgQuery_FOUND AND NOT TARGET PgQuery::PgQuery)
  find_package(Protobuf REQUIRED)
  add_library(PgQuery::PgQuery UNKNOWN IMPORTED)
  set_target_properties(PgQuery::PgQuery PROPERTIES
    IMPORTED_LOCATION ${PgQuery_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PgQuery_INCLUDE_DIR})

  set(pg_query_tree ${CMAKE_BINARY_DIR}/pg_query_tree)
  file(MAKE_DIRECTORY ${pg_query_tree})
  add_custom_command(
    OUTPUT ${pg_query_tree}/pg_query.pb.cc ${pg_query_tree}/pg_query.pb.h
    COMMAND protobuf::protoc --cpp_out=${pg_query_tree} -I ${PgQuery_PROTO_DIR} pg_query.proto
    DEPENDS ${PgQuery_PROTO_DIR}/pg_query.proto
    COMMENT "Generating the C++ form of PostgreSQL's parse tree")
  add_library(pg_query_tree STATIC ${pg_query_tree}/pg_query.pb.cc)
  target_include_directories(pg_query_tree SYSTEM PUBLIC ${pg_query_tree})
  target_link_libraries(pg_query_tree PUBLIC protobuf::libprotobuf)
  target_compile_options(pg_query_tree PRIVATE -w -O1 -g0)
  add_library(PgQuery::Tree ALIAS pg_query_tree)
endif()
