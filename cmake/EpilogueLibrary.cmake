# epilogue_library(NAME FOLDER [DEPENDS lib...] [LINK lib...] SOURCES file...)
#
# One folder is one static library with an include root of its own. The root holds a link to each header
# of that folder (not of its sub-folders) under its path in the tree, so `#include "base/result.h"` works
# only where the library that owns base/ is linked: a wrong-way include does not compile.
# DEPENDS: libraries of ours, visible to every target that links this one. LINK: third-party libraries, private.
function(epilogue_library name folder)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINK;SOURCES" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  add_library(${name} STATIC ${arg_SOURCES})
  set(root "${PROJECT_BINARY_DIR}/include/${name}")
  file(MAKE_DIRECTORY "${root}/${folder}")
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.h")
  foreach(header IN LISTS headers)
    get_filename_component(leaf "${header}" NAME)
    file(CREATE_LINK "${header}" "${root}/${folder}/${leaf}" SYMBOLIC)
  endforeach()
  target_include_directories(${name} PUBLIC "${root}")
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS} PRIVATE epilogue_options ${arg_LINK})
  if(TARGET epilogue_shared_headers)
    target_precompile_headers(${name} REUSE_FROM epilogue_shared_headers)
  endif()
endfunction()
