# One library per folder of src/, its unit tests beside it, and the arrows between folders.
#
#   discreet_library(random DEPENDS base LINK OpenSSL::Crypto)
#
# makes discreet_random from src/random/*.cc, and random_test from src/random/*_test.cc.
# A nested folder such as engines/duckdb is named engines_duckdb.

add_library(discreet_flags INTERFACE)
target_compile_options(discreet_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -ffp-contract=off)  # a fused multiply-add would change directed rounding
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives of these inside std::string and std::variant.
  target_compile_options(discreet_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-array-bounds -Wno-dangling-pointer)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # libstdc++ 12's own std::stable_sort uses what it calls deprecated.
  target_compile_options(discreet_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(DISCREET_WERROR)
  target_compile_options(discreet_flags INTERFACE -Werror)
endif()
if(DISCREET_SANITIZE)
  target_compile_options(discreet_flags INTERFACE -fsanitize=${DISCREET_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(discreet_flags INTERFACE -fsanitize=${DISCREET_SANITIZE})
endif()
if(DISCREET_FUZZERS)
  target_compile_options(discreet_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(discreet_library folder)
  cmake_parse_arguments(ARG "NO_TESTS" "" "DEPENDS;LINK;LINK_PRIVATE;TEST_LINK" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(dir ${PROJECT_SOURCE_DIR}/src/${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  if(sources)
    add_library(discreet_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(discreet_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(discreet::${name} ALIAS discreet_${name})
  set_target_properties(discreet_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(discreet_${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/discreet>)
  target_compile_features(discreet_${name} ${scope} cxx_std_20)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(discreet_${name} ${scope} discreet_${dependency})
  endforeach()
  target_link_libraries(discreet_${name} ${scope} ${ARG_LINK})
  if(sources)
    target_link_libraries(discreet_${name} PRIVATE $<BUILD_INTERFACE:discreet_flags>)
    discreet_use_precompiled(discreet_${name})
    foreach(library ${ARG_LINK_PRIVATE})
      target_link_libraries(discreet_${name} PRIVATE ${library})
    endforeach()
  endif()
  set_property(GLOBAL APPEND PROPERTY DISCREET_LIBRARIES discreet_${name})

  if(DISCREET_TESTS AND tests AND NOT ARG_NO_TESTS)
    discreet_test(${name}_test SOURCES ${tests} LINK discreet_${name} ${ARG_TEST_LINK})
  endif()
endfunction()

# A GoogleTest program. Every case is a ctest of its own, so the totals count behaviours, not files.
function(discreet_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} discreet_test_support discreet_flags GTest::gmock GTest::gtest_main)
  discreet_use_precompiled(${name} TESTS)
  set(labels ${ARG_LABELS})
  if(NOT labels)
    set(labels unit)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${labels}" TIMEOUT 600)
endfunction()

# Every library that target reaches through its links.
function(discreet_closure target out)
  set(seen)
  set(todo ${target})
  while(todo)
    list(POP_FRONT todo next)
    if(NOT TARGET ${next} OR next IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${next})
    foreach(property INTERFACE_LINK_LIBRARIES LINK_LIBRARIES)
      get_target_property(links ${next} ${property})
      if(links)
        list(APPEND todo ${links})
      endif()
    endforeach()
  endwhile()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()

# The static rule of ARCHITECTURE.md: an engine sees rows, so it must not be able to draw noise
# (or to see the noise drawn), and nothing that ships may reach the seeded generator of the tests.
function(discreet_check_arrows)
  get_property(libraries GLOBAL PROPERTY DISCREET_LIBRARIES)
  foreach(library ${libraries})
    discreet_closure(${library} reached)
    if(library MATCHES "^discreet_engines_" AND "discreet_random" IN_LIST reached)
      message(FATAL_ERROR "${library} links discreet_random. Engines return exact partials; only mechanisms/ draws noise.")
    endif()
    if("discreet_test_support" IN_LIST reached)
      message(FATAL_ERROR "${library} links the tests' seeded generator. Releases need SecureRandom.")
    endif()
  endforeach()
endfunction()
