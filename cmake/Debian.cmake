# What Debian's policy wants of a package, before CPack packs the folder.
set(share ${CPACK_TEMPORARY_DIRECTORY}/ALL_COMPONENTS_IN_ONE/usr/share)

# zsh of Debian looks for completions of packages elsewhere.
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)

# Pages of the manual are compressed, without the time.
file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)

# The programs hold these libraries, whose licenses want to be there, too.
set(copyright ${share}/doc/netc/copyright)
file(RENAME ${share}/doc/netc/LICENSE ${copyright})
foreach(package libantlr4-runtime-dev libfmt-dev libmlir-19-dev libsqlite3-dev libyaml-cpp-dev libzstd-dev llvm-19-dev nlohmann-json3-dev zlib1g-dev)
  file(READ /usr/share/doc/${package}/copyright text)
  file(APPEND ${copyright} "\n\n${package}, of which the programs hold a part:\n\n${text}")
endforeach()
