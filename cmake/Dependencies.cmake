# Everything but librdkafka and the rules for secrets comes from Debian 12 packages (ops/setup installs them).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(simdjson REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(CMARK_GFM REQUIRED IMPORTED_TARGET libcmark-gfm)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_package(rapidcheck REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS unit_test_framework)
# What includes Asio links this. Each loop of ours has one thread, or hands over under a mutex: none needs Asio's fences,
# which the thread sanitizer does not know.
add_library(epilogue_asio INTERFACE)
target_link_libraries(epilogue_asio INTERFACE Boost::headers)
target_compile_definitions(epilogue_asio INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK
  # Boost 1.74 finds out for g++ alone that there are coroutines.
  "$<$<CXX_COMPILER_ID:Clang>:BOOST_ASIO_HAS_CO_AWAIT;BOOST_ASIO_HAS_STD_COROUTINE>")

include(Librdkafka)

# The connector ships neither a CMake package nor a pkg-config file.
find_path(MYSQLCPPCONN_INCLUDE mysql_driver.h REQUIRED)
find_library(MYSQLCPPCONN_LIBRARY mysqlcppconn REQUIRED)
add_library(mysqlcppconn INTERFACE)
target_include_directories(mysqlcppconn SYSTEM INTERFACE "${MYSQLCPPCONN_INCLUDE}")
target_link_libraries(mysqlcppconn INTERFACE "${MYSQLCPPCONN_LIBRARY}")

# The rules for secrets (ops/secret-rules/pin) are fetched before, so that a build needs no network.
set(EPILOGUE_SECRET_RULES "${PROJECT_SOURCE_DIR}/build/secret-rules/gitleaks.toml" CACHE FILEPATH
  "The rule set that ops/secret-rules/fetch has fetched")
file(STRINGS "${PROJECT_SOURCE_DIR}/ops/secret-rules/pin" pinned REGEX "^sha256 ")
string(REPLACE "sha256 " "" pinned "${pinned}")
set(found "missing")
if(EXISTS "${EPILOGUE_SECRET_RULES}")
  file(SHA256 "${EPILOGUE_SECRET_RULES}" found)
endif()
if(NOT found STREQUAL pinned)
  message(FATAL_ERROR "${EPILOGUE_SECRET_RULES} is ${found}; ops/secret-rules/pin wants ${pinned}. "
    "Run: ops/secret-rules/fetch (ops/setup build does that, too)")
endif()
