# cmake -DFILES=a.net;b.net -DPREFIX=std/ -DOUTPUT=Files.inc -P Embed.cmake
# Writes `paths`, the files' names after the prefix, and `texts`, what is in them.
set(paths "")
set(texts "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND paths "    \"${PREFIX}${name}\",\n")
  string(APPEND texts "    R\"net(${text})net\",\n")
endforeach()
file(WRITE ${OUTPUT}
  "static const llvm::StringRef paths[] = {\n${paths}};\n"
  "static const llvm::StringRef texts[] = {\n${texts}};\n")
