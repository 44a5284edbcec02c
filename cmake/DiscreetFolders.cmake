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

discreet_library(audit DEPENDS base random privacy mechanisms accounting)
discreet_library(ledger DEPENDS base privacy accounting LINK_PRIVATE OpenSSL::Crypto SQLite::SQLite3
  TEST_LINK SQLite::SQLite3)
discreet_library(catalog DEPENDS base privacy)
discreet_library(engines/duckdb DEPENDS base LINK_PRIVATE DuckDB::DuckDB)
discreet_library(sql DEPENDS base privacy catalog LINK_PRIVATE PgQuery::PgQuery PgQuery::Tree TEST_LINK discreet_engines_duckdb)
discreet_library(curator DEPENDS base random privacy mechanisms accounting ledger catalog sql engines_duckdb)
discreet_library(town DEPENDS base engines_duckdb)

discreet_library(prio DEPENDS base random privacy mechanisms accounting ledger LINK_PRIVATE OpenSSL::SSL OpenSSL::Crypto SQLite::SQLite3 Threads::Threads)

add_executable(discreet_cli)
set_target_properties(discreet_cli PROPERTIES OUTPUT_NAME discreet)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.cc)
target_sources(discreet_cli PRIVATE ${cli_sources})
target_include_directories(discreet_cli PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(discreet_cli PRIVATE
  discreet_mechanisms
  discreet_accounting
  discreet_audit
  discreet_curator
  discreet_town
  discreet_prio
  discreet_flags CLI11::CLI11)
target_compile_definitions(discreet_cli PRIVATE DISCREET_VERSION="${PROJECT_VERSION}")
