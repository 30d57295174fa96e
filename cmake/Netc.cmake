# netc_library(NAME SOURCES... [LINK libs...] [PRECOMPILE headers...]): the static library of a folder.
# Most of the time of a compilation goes into reading MLIR's headers. Those in PRECOMPILE are read once;
# if it names a library, that library's precompiled headers are used. The files of such a library are
# compiled in batches of eight, so that templates are instantiated once: file-local names must be unique
# within the library.
function(netc_library name)
  cmake_parse_arguments(ARG "" "" "LINK;PRECOMPILE" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_PRECOMPILE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${NETC_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 8)
  endif()
  if(TARGET "${ARG_PRECOMPILE}")
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILE})
  elseif(ARG_PRECOMPILE)
    list(TRANSFORM ARG_PRECOMPILE REPLACE "(.+)" "<\\1>")
    target_precompile_headers(${name} PRIVATE ${ARG_PRECOMPILE})
    # Otherwise ccache takes a precompiled header for an input of its own compilation.
    if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      set_property(SOURCE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.cxx
        APPEND PROPERTY COMPILE_OPTIONS -fno-pch-preprocess)
    endif()
  endif()
endfunction()

# netc_embed(OUTPUT FILES... [PREFIX prefix]): generates the source file OUTPUT with the contents of
# the files, by Embed.cmake. List it among a library's sources.
function(netc_embed output)
  cmake_parse_arguments(ARG "" "PREFIX" "" ${ARGN})
  set(files ${ARG_UNPARSED_ARGUMENTS})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  set(script ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR} "-DFILES=${files}" -DPREFIX=${ARG_PREFIX} -DOUTPUT=${output} -P ${script}
    DEPENDS ${paths} ${script}
    VERBATIM)
endfunction()

# netc_unit_test(NAME SOURCES... [LINK libs...]): a GoogleTest program, which check-netc
# runs. Its name must end in Test.
function(netc_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  set_property(GLOBAL APPEND PROPERTY NETC_TEST_PROGRAMS ${name})
endfunction()

# netc_program(NAME SOURCES... [LINK libs...]): a program that people install. It takes what it needs of LLVM
# from archives. These come first, so that the shared library, which MLIR's targets name, is not needed:
# loading it takes longer than most estimates, and few machines have it. Much of MLIR and LLVM is templates:
# where instances are equal, the linker keeps one.
function(netc_program name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB archives ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  # The shared library exports templates of libstdc++, too.
  target_link_libraries(${name} PRIVATE -l:libstdc++.a ${archives} ${ARG_LINK})
  target_link_options(${name} PRIVATE -no-pie -Wl,--as-needed,--gc-sections,--icf=all,--exclude-libs,ALL)
endfunction()
