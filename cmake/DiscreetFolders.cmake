# The folders of src/ and the arrows between them: a folder may use only folders listed above it.
# discreet::core is base, random, privacy, mechanisms, accounting; it needs no database.

discreet_library(base LINK Boost::headers nlohmann_json::nlohmann_json fmt::fmt)
discreet_library(random DEPENDS base LINK_PRIVATE OpenSSL::Crypto hwy::hwy)

# The tests' generator. Kept out of src/ and out of every shipped library (discreet_check_arrows).
add_library(discreet_test_support STATIC ${PROJECT_SOURCE_DIR}/tests/support/seeded_random.cc
  ${PROJECT_SOURCE_DIR}/tests/support/shared_folder.cc)
set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/support/shared_folder.cc PROPERTIES
  COMPILE_DEFINITIONS DISCREET_SHARED="${PROJECT_SOURCE_DIR}/../shared")
target_include_directories(discreet_test_support PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(discreet_test_support PUBLIC discreet_random PRIVATE OpenSSL::Crypto discreet_flags)

discreet_library(privacy DEPENDS base)
discreet_library(mechanisms DEPENDS base random privacy)
discreet_library(accounting DEPENDS base privacy LINK_PRIVATE Eigen3::Eigen)
discreet_library(inference DEPENDS base random privacy mechanisms accounting LINK_PRIVATE Eigen3::Eigen)

discreet_library(audit DEPENDS base random privacy mechanisms accounting LINK_PRIVATE Eigen3::Eigen)
discreet_library(synth DEPENDS base random privacy mechanisms accounting LINK Threads::Threads LINK_PRIVATE hwy::hwy)
target_compile_options(discreet_synth PRIVATE -O3)  # arithmetic after the release; vectors matter
discreet_library(tables DEPENDS base random privacy mechanisms accounting synth)
target_compile_options(discreet_tables PRIVATE -O3)  # transforms after the release
discreet_library(learn DEPENDS base random privacy mechanisms accounting synth LINK Threads::Threads LINK_PRIVATE Eigen3::Eigen
  TEST_LINK discreet_audit)
target_compile_options(discreet_learn PRIVATE -O3)
discreet_library(local DEPENDS base random privacy mechanisms accounting LINK_PRIVATE hwy::hwy OpenSSL::Crypto Threads::Threads)
discreet_library(local/audits DEPENDS base local audit)
discreet_library(local/collector DEPENDS base local LINK_PRIVATE Threads::Threads)
include(DiscreetAssets)
discreet_embed(discreet_local_collector ${CMAKE_BINARY_DIR}/local_assets.cc
  "/|text/html|sdk/typescript/demo/index.html"
  "/demo.js|text/javascript|sdk/typescript/demo/demo.js"
  "/demo.css|text/css|sdk/typescript/demo/demo.css"
  "/client/index.js|text/javascript|sdk/typescript/dist/index.js"
  "/client/client.js|text/javascript|sdk/typescript/dist/client.js"
  "/client/coin.js|text/javascript|sdk/typescript/dist/coin.js"
  "/client/hash.js|text/javascript|sdk/typescript/dist/hash.js"
  "/client/noise.js|text/javascript|sdk/typescript/dist/noise.js"
  "/client/oracles.js|text/javascript|sdk/typescript/dist/oracles.js"
  "/client/random.js|text/javascript|sdk/typescript/dist/random.js"
  "/client/sha256.js|text/javascript|sdk/typescript/dist/sha256.js"
  "/client/spec.js|text/javascript|sdk/typescript/dist/spec.js")
discreet_library(postgres DEPENDS base LINK_PRIVATE PkgConfig::LibPq)
discreet_library(ledger DEPENDS base privacy accounting postgres LINK_PRIVATE OpenSSL::Crypto SQLite::SQLite3
  TEST_LINK SQLite::SQLite3)
discreet_library(catalog DEPENDS base privacy)
discreet_library(engines DEPENDS base)
discreet_library(engines/duckdb DEPENDS base engines LINK_PRIVATE DuckDB::DuckDB)
foreach(folder engines engines_duckdb)
  target_compile_options(discreet_${folder} PRIVATE -O3)  # every row passes here; vectors matter
endforeach()
discreet_library(engines/postgres DEPENDS base engines postgres)
discreet_library(engines/spark DEPENDS base engines)
include(DiscreetSpark)
discreet_library(sql DEPENDS base privacy catalog LINK_PRIVATE PgQuery::PgQuery PgQuery::Tree TEST_LINK discreet_engines_duckdb)
discreet_library(curator DEPENDS base random privacy mechanisms accounting inference synth tables ledger catalog sql engines_duckdb engines_postgres engines_spark)
discreet_library(town DEPENDS base engines_duckdb)
discreet_library(anonymity DEPENDS base)
discreet_library(attack DEPENDS base random privacy mechanisms audit synth learn catalog curator town anonymity LINK_PRIVATE Eigen3::Eigen PkgConfig::Clp)

discreet_library(server DEPENDS base random catalog ledger sql engines_duckdb curator local local_collector
  LINK_PRIVATE OpenSSL::SSL OpenSSL::Crypto ${PROMETHEUS_CORE} Threads::Threads)
discreet_library(server/pgwire DEPENDS server LINK_PRIVATE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_compile_definitions(discreet_server_pgwire PRIVATE DISCREET_VERSION="${PROJECT_VERSION}")
discreet_library(server/http DEPENDS server LINK_PRIVATE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_compile_definitions(discreet_server_http PRIVATE DISCREET_VERSION="${PROJECT_VERSION}")
# Asio's headers cost more than our code: sessions are compiled together.
set_target_properties(discreet_server_pgwire discreet_server_http PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/server/pgwire/login.cc ${PROJECT_SOURCE_DIR}/src/server/pgwire/session.cc
  ${PROJECT_SOURCE_DIR}/src/server/pgwire/execute.cc ${PROJECT_SOURCE_DIR}/src/server/pgwire/listen.cc
  PROPERTIES UNITY_GROUP sessions)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/server/http/connection.cc ${PROJECT_SOURCE_DIR}/src/server/http/listen.cc
  PROPERTIES UNITY_GROUP connections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 does not see that Asio's coroutine frames bring their own new as well as delete.
  target_compile_options(discreet_server_pgwire PRIVATE -Wno-mismatched-new-delete)
  target_compile_options(discreet_server_http PRIVATE -Wno-mismatched-new-delete)
endif()
discreet_library(prio DEPENDS base random privacy mechanisms accounting ledger LINK_PRIVATE OpenSSL::SSL OpenSSL::Crypto SQLite::SQLite3 Threads::Threads)
discreet_library(lecture DEPENDS base random privacy mechanisms accounting attack prio)

add_executable(discreet_cli)
set_target_properties(discreet_cli PROPERTIES OUTPUT_NAME discreet)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.cc)
target_sources(discreet_cli PRIVATE ${cli_sources})
target_include_directories(discreet_cli PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(discreet_cli PRIVATE
  discreet_mechanisms
  discreet_accounting
  discreet_audit
  discreet_local
  discreet_local_collector
  discreet_local_audits
  discreet_curator
  discreet_town
  discreet_server_pgwire
  discreet_server_http
  OpenSSL::SSL
  discreet_prio
  discreet_synth
  discreet_learn
  discreet_anonymity
  discreet_attack
  discreet_lecture
  discreet_flags CLI11::CLI11)
if(NOT DISCREET_PRECOMPILED)
  # Verbs are glue: the work is in the libraries, and CLI11 compiles slowly. Precompiled headers are for one level only.
  target_compile_options(discreet_cli PRIVATE -O0)
  # Of a template that several files instantiate the linker keeps the copy it meets first. The verbs' would come first, and the
  # server would build its JSON with code that was not optimised; so the libraries are put before them.
  target_link_options(discreet_cli PRIVATE LINKER:--whole-archive $<TARGET_FILE:discreet_server_http> $<TARGET_FILE:discreet_server_pgwire>
    $<TARGET_FILE:discreet_server> $<TARGET_FILE:discreet_curator> $<TARGET_FILE:discreet_ledger> $<TARGET_FILE:discreet_accounting>
    LINKER:--no-whole-archive)
endif()
discreet_use_precompiled(discreet_cli)
target_compile_definitions(discreet_cli PRIVATE DISCREET_VERSION="${PROJECT_VERSION}")
