# The target `rdkafka`: librdkafka's C interface. By default it is the version that ops/librdkafka pins, compiled once
# for the whole tree and linked into our programs. Configuring builds it where it is not there yet, without network.
#
# For others: EPILOGUE_LIBRDKAFKA_CHOICE is the option with which another build takes the same library,
# EPILOGUE_STATIC_LIBRDKAFKA the folder of the one that is linked in, empty when it is a shared one.
option(EPILOGUE_SYSTEM_LIBRDKAFKA "Link the librdkafka that the system has (Debian: librdkafka-dev)" OFF)
set(EPILOGUE_LIBRDKAFKA "" CACHE PATH "Prefix of a librdkafka to use in place of ours: another tree's, or an installed one")

# Links a librdkafka that pkg-config knows.
macro(epilogue_shared_librdkafka choice)
  pkg_check_modules(SYSTEM_RDKAFKA REQUIRED IMPORTED_TARGET rdkafka>=2.0.2)
  add_library(rdkafka INTERFACE)
  target_link_libraries(rdkafka INTERFACE PkgConfig::SYSTEM_RDKAFKA)
  set(EPILOGUE_LIBRDKAFKA_CHOICE "${choice}")
  set(EPILOGUE_STATIC_LIBRDKAFKA "")
endmacro()

# Compiles the source that ops/librdkafka/fetch brought into `folder`; nothing when that is done already.
function(epilogue_build_librdkafka folder)
  set(build "${PROJECT_SOURCE_DIR}/ops/librdkafka/build")
  execute_process(COMMAND "${build}" --check "${folder}" RESULT_VARIABLE status ERROR_VARIABLE errors)
  if(status EQUAL 1)
    message(STATUS "Compiling librdkafka, once for this tree: about a minute")
    execute_process(COMMAND "${build}" "${folder}" RESULT_VARIABLE status ERROR_VARIABLE errors)
  endif()
  if(status EQUAL 69)
    message(FATAL_ERROR "${errors}To have it fetched, with the packages that are missing:\n"
      "  ops/setup build\n"
      "To link Debian's librdkafka 2.0.2 instead (no SCRAM with Kafka 4):\n"
      "  apt-get install librdkafka-dev && cmake --preset release -DEPILOGUE_SYSTEM_LIBRDKAFKA=ON\n")
  elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "${errors}")
  endif()
endfunction()

# Links the static library in `folder`, with what it was compiled against.
macro(epilogue_static_librdkafka folder)
  find_library(ZSTD_LIBRARY zstd REQUIRED)
  find_library(LZ4_LIBRARY lz4 REQUIRED)
  add_library(rdkafka STATIC IMPORTED)
  set_target_properties(rdkafka PROPERTIES IMPORTED_LOCATION "${folder}/lib/librdkafka.a")
  target_compile_definitions(rdkafka INTERFACE EPILOGUE_OWN_LIBRDKAFKA)
  target_include_directories(rdkafka SYSTEM INTERFACE "${folder}/include")
  target_link_libraries(rdkafka INTERFACE CURL::libcurl OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB
    "${ZSTD_LIBRARY}" "${LZ4_LIBRARY}" Threads::Threads ${CMAKE_DL_LIBS})
  set(EPILOGUE_LIBRDKAFKA_CHOICE "-DEPILOGUE_LIBRDKAFKA=${folder}")
  set(EPILOGUE_STATIC_LIBRDKAFKA "${folder}")
endmacro()

if(EPILOGUE_SYSTEM_LIBRDKAFKA)
  epilogue_shared_librdkafka("-DEPILOGUE_SYSTEM_LIBRDKAFKA=ON")
elseif(NOT EPILOGUE_LIBRDKAFKA)
  epilogue_build_librdkafka("${PROJECT_SOURCE_DIR}/build/librdkafka")
  epilogue_static_librdkafka("${PROJECT_SOURCE_DIR}/build/librdkafka")
elseif(EXISTS "${EPILOGUE_LIBRDKAFKA}/.built")
  epilogue_static_librdkafka("${EPILOGUE_LIBRDKAFKA}")
else()
  set(ENV{PKG_CONFIG_PATH} "${EPILOGUE_LIBRDKAFKA}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  epilogue_shared_librdkafka("-DEPILOGUE_LIBRDKAFKA=${EPILOGUE_LIBRDKAFKA}")
endif()
