# netc_library(NAME SOURCES... [LINK libs...]): one static library a folder.
function(netc_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# netc_unit_test(NAME SOURCES... [LINK libs...]): a GoogleTest program that check-netc runs;
# its name ends in Test.
function(netc_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  set_property(GLOBAL APPEND PROPERTY NETC_TEST_PROGRAMS ${name})
endfunction()
