#include "sinks/format/outcome_body.h"

#include <optional>
#include <string_view>

#include <cmark-gfm.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/redacted.h"
#include "base/text.h"
#include "sinks/format/format.h"
#include "sinks/format/markdown_tree.h"
#include "sinks/format/strip_unsafe.h"

namespace epilogue {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view type_of_event = "conversation.turn_ended";
constexpr std::size_t max_body_characters = 64000;  ///< of the Markdown, as in a post

Json text_or_null(std::string_view text) {
    return text.empty() ? Json() : Json(text);
}

Json number_or_null(const std::optional<std::int64_t>& number) {
    return number ? Json(*number) : Json();
}

std::string_view type_of(cmark_node* node) {
    return cmark_node_get_type_string(node);
}

/// What stands between a block and what follows it.
std::string_view end_of(cmark_node* block) {
    cmark_node* const parent = cmark_node_parent(block);
    cmark_node* const list = parent == nullptr ? nullptr : cmark_node_parent(parent);
    const auto type = type_of(block);
    const bool is_tight = list != nullptr && type_of(list) == "list" && cmark_node_get_list_tight(list) != 0;
    if (type == "table_cell") return " ";
    if (type == "table_row" || type == "table_header") return "\n";
    if (type == "paragraph") return is_tight ? "\n" : "\n\n";
    if (type == "list" || type == "heading" || type == "table") return "\n\n";
    return "";
}

/// What a reader sees of Markdown, without its marks.
std::string plain(std::string_view markdown) {
    const MarkdownTree tree(markdown);
    std::string text;
    tree.each([&](cmark_node* node, bool entering) {
        const auto type = type_of(node);
        if (!entering) {
            text += end_of(node);
        } else if (type == "item" || type == "tasklist") {
            text += "- ";
        } else if (type == "softbreak" || type == "linebreak") {
            text += '\n';
        } else {
            text += text_or_empty(cmark_node_get_literal(node));
            if (type == "code_block") text += '\n';
        }
    });
    while (text.find("\n\n\n") != std::string::npos) text = replaced(text, "\n\n\n", "\n\n");
    return std::string(trimmed(text));
}

Json links_of(const Summary& summary) {
    Json requests = Json::array();
    for (const std::string& each : summary.about.requests)
        if (each.starts_with("https://") || each.starts_with("http://"))
            requests.push_back(redacted(without_unseen(each)));
    return {{"conversation", text_or_null(summary.link)}, {"requests", std::move(requests)}};
}

Json figures_of(const TurnOutcome& about) {
    return {{"steps", about.steps},
            {"seconds", number_or_null(about.seconds)},
            {"tokens_in", number_or_null(about.tokens_in)},
            {"tokens_out", number_or_null(about.tokens_out)},
            {"cost_micro_usd", number_or_null(about.cost)}};
}

}  // namespace

Json outcome_of(const Summary& summary, const DeliveryId& delivery_id) {
    const TurnOutcome& about = summary.about;
    Summary shown = summary;
    shown.link.clear();  // it has a member of its own
    const std::string markdown = markdown_post(shown, "", max_body_characters);
    return {{"type", type_of_event},
            {"data",
             {{"delivery", delivery_id.text()},
              {"conversation", text_or_null(about.conversation_id)},
              {"turn", text_or_null(about.turn)},
              {"verdict", text_or_null(about.verdict)},
              {"outcome", text_or_null(about.outcome)},
              {"error_code", text_or_null(about.error_code)},
              {"summary", {{"text", plain(markdown)}, {"markdown", markdown}}},
              {"links", links_of(summary)},
              {"figures", figures_of(about)}}}};
}

std::string outcome_body(const Summary& summary, const DeliveryId& delivery_id) {
    return json_line(outcome_of(summary, delivery_id));
}

bool is_outcome_body(std::string_view line) {
    return line.starts_with(R"({"type":")" + std::string(type_of_event) + R"(",)");
}

}  // namespace epilogue
