# For the sanitizers' trees, which are compiled once, run and deleted: what most files include is read once for all
# libraries (EpilogueLibrary.cmake). The other trees have each file read its own headers, so that none goes missing.
find_package(Threads REQUIRED)
add_compile_options(-pthread)  # The same flags and macros everywhere, as g++ demands it.
add_compile_definitions(FMT_SHARED)
add_library(epilogue_shared_headers OBJECT base/backoff.cpp)
target_include_directories(epilogue_shared_headers PRIVATE "${PROJECT_BINARY_DIR}/include/epilogue_base")
target_link_libraries(epilogue_shared_headers PRIVATE epilogue_options)
target_precompile_headers(epilogue_shared_headers PRIVATE
  <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <deque> <filesystem> <fstream>
  <functional> <map> <memory> <mutex> <optional> <set> <sstream> <stop_token> <string> <string_view> <thread> <utility>
  <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
