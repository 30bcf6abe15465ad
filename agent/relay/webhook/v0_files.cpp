#include "agent/relay/webhook/v0_files.h"

#include <optional>

#include <openssl/evp.h>

#include "agent/relay/webhook/webhook_path.h"
#include "schemas/json_reader.h"

namespace epilogue::relay {
namespace {

const WantedPart wanted{"", {{"method"}, {"path"}, {"content"}, {"encoding"}}};

/// nullopt when it is no base64.
std::optional<std::string> base64_decoded(std::string_view text) {
    std::string bytes(text.size() / 4 * 3 + 3, '\0');
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    std::size_t length = static_cast<std::size_t>(size);
    // It counts what stands for the padding, too.
    for (std::string_view rest = text; rest.ends_with('=') && length > 0; rest.remove_suffix(1)) --length;
    bytes.resize(length);
    return bytes;
}

std::string_view fault_of(const JsonPart& item) {
    if (item.type != JsonPart::Type::object) return "expected an object {method, path, content}";
    if (!item["path"].string()) return "\"path\": expected text";
    const auto method = item["method"].string();
    if (method != "POST" && method != "DELETE") return "\"method\": expected POST or DELETE";
    const auto encoding = item["encoding"].string();
    if (item["encoding"].is_given() && encoding != "base64") return "\"encoding\": expected base64";
    return "";
}

}  // namespace

void add_posted_file(PostedFiles& files, std::string_view item, std::size_t number) {
    thread_local JsonReader reader;
    const auto wrong = [&](std::string_view why) {
        if (files.invalid++ == 0)
            files.first_fault = "item " + std::to_string(number) + ": " + std::string(why);
    };
    auto read = reader.read(item, wanted);
    if (!read) return wrong(std::string(read.error().reason) + " " + read.error().detail);
    if (const auto fault = fault_of(*read); !fault.empty()) return wrong(fault);
    const auto conversation = conversation_of_file((*read)["path"].text);
    if (!conversation || (*read)["method"].string() == "DELETE") {
        ++files.others;
        return;
    }
    if (!(*read)["content"].string()) return wrong("\"content\": expected text");
    std::string content = (*read)["content"].text;
    if ((*read)["encoding"].is_given()) {
        auto decoded = base64_decoded(content);
        if (!decoded) return wrong("\"content\": expected base64");
        content = std::move(*decoded);
    }
    files.events.push_back({*conversation, std::move(content)});
}

}  // namespace epilogue::relay
