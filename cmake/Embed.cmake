# cmake -DFOLDER=lib/Std -DFILES=a.net;b/c.net -DPREFIX=std/ -DOUTPUT=Files.inc -P Embed.cmake
# Writes C++ arrays: `paths`, the names of a folder's files after the prefix, and `texts`, their contents.
set(paths "")
set(texts "")
foreach(file IN LISTS FILES)
  file(READ ${FOLDER}/${file} text)
  string(APPEND paths "    \"${PREFIX}${file}\",\n")
  string(APPEND texts "    R\"net(${text})net\",\n")
endforeach()
file(WRITE ${OUTPUT}
  "static const llvm::StringRef paths[] = {\n${paths}};\n"
  "static const llvm::StringRef texts[] = {\n${texts}};\n")
