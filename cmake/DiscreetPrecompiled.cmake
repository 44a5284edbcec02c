# Most of a compile is reading the same headers again; with clang four fifths of it. DISCREET_PRECOMPILED reads them once,
# for libraries and for tests, and every target of ours takes that. .ci/run uses it for the sanitizers' build and the linter.
option(DISCREET_PRECOMPILED "Precompile the headers that most files read" OFF)

set(discreet_common_headers <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <iostream>
  <limits> <map> <memory> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <utility> <variant> <vector>
  <fmt/format.h> <nlohmann/json.hpp> <boost/multiprecision/cpp_int.hpp>)

function(discreet_precompile_once name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  file(CONFIGURE OUTPUT ${name}.cc CONTENT "// Carries the precompiled headers.\n")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE discreet_flags Boost::headers nlohmann_json::nlohmann_json fmt::fmt ${ARG_LINK})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# Call after the dependencies are found.
function(discreet_declare_precompiled)
  if(NOT DISCREET_PRECOMPILED)
    return()
  endif()
  discreet_precompile_once(discreet_precompiled HEADERS ${discreet_common_headers})
  if(DISCREET_TESTS)
    discreet_precompile_once(discreet_precompiled_tests HEADERS ${discreet_common_headers} <gmock/gmock.h> <gtest/gtest.h>
      LINK GTest::gmock GTest::gtest)
  endif()
endfunction()

# discreet_use_precompiled(discreet_sql) or discreet_use_precompiled(sql_test TESTS)
function(discreet_use_precompiled target)
  cmake_parse_arguments(ARG "TESTS" "" "" ${ARGN})
  if(NOT DISCREET_PRECOMPILED)
    return()
  endif()
  if(ARG_TESTS)
    target_precompile_headers(${target} REUSE_FROM discreet_precompiled_tests)
  else()
    target_precompile_headers(${target} REUSE_FROM discreet_precompiled)
  endif()
  target_compile_options(${target} PRIVATE -fPIC)  # one position model, or the headers cannot be shared
endfunction()
