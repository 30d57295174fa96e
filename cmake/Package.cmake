# The package of Debian, which the target `deb` makes: all that is installed but the libraries that Debian has.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_COMPONENTS_ALL Programs Editors Unspecified)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/Debian.cmake)
set(CPACK_PACKAGE_DESCRIPTION
"netc builds the whole training step of a network from a description of it,
and counts what the step costs: parameters, FLOP, bytes, memory, and the
compute of the run. Counts are exact.
.
It also compiles the step for this machine, lets it train, and measures each
layer. The package has a language server for editors, too.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "netc developers <netc@example.org>")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Programs are linked with these.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, libomp5-19")
include(CPack)

add_custom_target(deb COMMAND ${CMAKE_CPACK_COMMAND} DEPENDS netc netc-lsp WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
