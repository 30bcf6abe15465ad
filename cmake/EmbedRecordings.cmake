# Writes OUTPUT, a .cpp that holds recordings of FOLDER with their rows of its expected.jsonl:
# cmake -DFOLDER=… -DNAMES=a.jsonl,b.jsonl -DOUTPUT=… -P EmbedRecordings.cmake
file(READ "${FOLDER}/expected.jsonl" expected)
string(REPLACE "," ";" names "${NAMES}")
set(rows "")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}" events)
  string(REGEX MATCH "{\"recording\": \"${name}\"[^\n]*" truth "${expected}")
  if(NOT truth)
    message(FATAL_ERROR "expected.jsonl has no row for ${name}")
  endif()
  string(APPEND rows "      {\"${name}\", R\"jsonl(${truth})jsonl\", R\"jsonl(${events})jsonl\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"ops/embedded_demo/recording.h\"\n\nnamespace epilogue::demo {\n\nconst std::vector<Recording>& recordings() {\n  static const std::vector<Recording> all{\n${rows}  };\n  return all;\n}\n\n}  // namespace epilogue::demo\n")
