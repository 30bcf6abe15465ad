#include "sinks/format/markdown_parser.h"

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <limits>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

namespace epilogue {
namespace {

constexpr std::size_t room = 16;
static_assert(room % alignof(std::max_align_t) == 0,
              "what stands behind the room is aligned as the block is");

void* behind_room(void* block) {
    if (block == nullptr) std::abort();
    return static_cast<std::byte*>(block) + room;
}

void* block_of(void* memory) {
    return memory == nullptr ? nullptr : static_cast<std::byte*>(memory) - room;
}

void* allocate(std::size_t count, std::size_t size) {
    if (size != 0 && count > (std::numeric_limits<std::size_t>::max() - room) / size) std::abort();
    return behind_room(std::calloc(1, room + count * size));
}

void* reallocate(void* memory, std::size_t size) {
    return behind_room(std::realloc(block_of(memory), room + size));
}

void release(void* memory) {
    std::free(block_of(memory));
}

}  // namespace

cmark_parser* new_markdown_parser(int options) {
    static cmark_mem memory{allocate, reallocate, release};
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser* const parser = cmark_parser_new_with_mem(options, &memory);
    for (const char* name : {"table", "autolink", "strikethrough", "tasklist"})
        cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(name));
    return parser;
}

}  // namespace epilogue
