# Spark Connect for discreet_engines_spark: gRPC from Debian, and Spark's own protocol files, which tools/setup/spark.sh
# takes out of Spark's jar. Without them the program is whole but for spark:// sources, which it refuses with a sentence.
set(DISCREET_SPARK AUTO CACHE STRING "Spark Connect: AUTO (where gRPC and the protocol files are there), ON or OFF")
set(DISCREET_SPARK_PROTOCOL ${CMAKE_BINARY_DIR}/_deps/spark/protocol CACHE PATH "Folder that holds spark/connect/*.proto")

set(DISCREET_HAS_SPARK OFF)
if(NOT DISCREET_SPARK STREQUAL "OFF")
  find_package(Protobuf QUIET)
  pkg_check_modules(Grpc QUIET IMPORTED_TARGET grpc++)
  set(missing)
  if(NOT Grpc_FOUND OR NOT Protobuf_FOUND)
    list(APPEND missing "libgrpc++-dev, libprotobuf-dev")
  endif()
  if(NOT EXISTS ${DISCREET_SPARK_PROTOCOL}/spark/connect/base.proto)
    list(APPEND missing "Spark's protocol files (tools/setup/spark.sh)")
  endif()
  if(NOT missing)
    set(DISCREET_HAS_SPARK ON)
  elseif(DISCREET_SPARK STREQUAL "ON")
    list(JOIN missing ", and no " missing)
    message(FATAL_ERROR "DISCREET_SPARK is ON, but there is no ${missing}. Run tools/setup/debian.sh spark-build and "
      "tools/setup/spark.sh --protocol ${CMAKE_BINARY_DIR}/_deps/spark, or leave Spark out with -DDISCREET_SPARK=OFF (make package SPARK=off).")
  else()
    list(JOIN missing ", no " missing)
    message(STATUS "spark:// sources are left out: no ${missing}")
  endif()
endif()

if(DISCREET_HAS_SPARK)
  set(descriptor ${CMAKE_BINARY_DIR}/spark_protocol)
  file(GLOB protocol_files ${DISCREET_SPARK_PROTOCOL}/spark/connect/*.proto)
  add_custom_command(
    OUTPUT ${descriptor}.cc
    COMMAND protobuf::protoc -I ${DISCREET_SPARK_PROTOCOL} --include_imports --descriptor_set_out=${descriptor}.bin
      spark/connect/base.proto
    COMMAND ${CMAKE_COMMAND} -DINPUT=${descriptor}.bin -DOUTPUT=${descriptor}.cc
      -P ${PROJECT_SOURCE_DIR}/cmake/EmbedSparkProtocol.cmake
    DEPENDS ${protocol_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedSparkProtocol.cmake
    COMMENT "Taking in Spark's protocol")
  target_sources(discreet_engines_spark PRIVATE ${PROJECT_SOURCE_DIR}/src/engines/spark/connect/connection.cc ${descriptor}.cc)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/engines/spark/no_connect.cc PROPERTIES HEADER_FILE_ONLY ON)
  target_include_directories(discreet_engines_spark SYSTEM PRIVATE ${Protobuf_INCLUDE_DIRS} ${Grpc_INCLUDE_DIRS})
  target_link_libraries(discreet_engines_spark PRIVATE PkgConfig::Grpc protobuf::libprotobuf)
endif()
