# Writes OUTPUT, a .cpp in which each of FILES is a string_view of the name beside it in NAMES:
# cmake -DHEADER=declares_them.h -DNAMES=a,b -DFILES=a.toml,b.toml -DOUTPUT=… -P EmbedText.cmake
string(REPLACE "," ";" names "${NAMES}")
string(REPLACE "," ";" files "${FILES}")
set(source "#include \"${HEADER}\"\n\nnamespace epilogue {\n\n")
foreach(name path IN ZIP_LISTS names files)
  file(READ "${path}" text)
  string(APPEND source "const std::string_view ${name} = R\"embedded(${text})embedded\";\n\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}}  // namespace epilogue\n")
