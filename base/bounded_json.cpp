#include "base/bounded_json.h"

#include <bit>
#include <vector>

#include <nlohmann/json.hpp>

namespace epilogue {
namespace {

constexpr std::string_view too_deep = "nested more than 1024 deep";
constexpr std::string_view too_large = "more than 256 MiB";
constexpr std::string_view too_many_values = "more than a million values";
constexpr std::string_view too_costly = "too many members in one object, or around large ones";
static_assert(max_json_depth == 1024 && max_answer_json_bytes == std::size_t{256} << 20U);
static_assert(max_json_values == std::size_t{1} << 20U);

/// Counts what the parser would build of a text. Of one that is no JSON the count means nothing: the parser
/// builds less, because it ends at the first fault, and it takes brackets in strings as this does.
class Measure {
  public:
    /// What is wrong with the text as far as `c`, the next character outside strings.
    std::string_view take(char c) {
        switch (c) {
            case '[':
            case '{':
                open_.push_back({0, values_});
                return open_.size() > max_json_depth ? too_deep : count();
            case ']':
            case '}':
                if (!open_.empty()) open_.pop_back();
                return {};
            case ',':
                return count();
            case ':':
                return add_member();
            default:
                return {};
        }
    }

  private:
    std::string_view count() { return ++values_ > max_json_values ? too_many_values : std::string_view(); }
    std::string_view add_member() {
        if (open_.empty()) return {};
        Open& object = open_.back();
        steps_ += object.members;
        // The room for members doubles whenever it is used up, and what was there is copied.
        if (std::has_single_bit(object.members)) steps_ += copy_steps * (values_ - object.values_before);
        ++object.members;
        return steps_ > max_json_steps ? too_costly : std::string_view();
    }

    /// An array or object whose end has not been seen.
    struct Open {
        std::size_t members = 0;
        std::size_t values_before = 0;  ///< in the text up to its beginning
    };
    static constexpr std::size_t copy_steps = 16;

    std::vector<Open> open_;
    std::size_t values_ = 0;
    std::size_t steps_ = 0;
};

template <class Json>
Json parsed_as(std::string_view text) {
    if (!json_objection(text).empty()) return Json(Json::value_t::discarded);
    return Json::parse(text, nullptr, false);
}

}  // namespace

std::string_view json_objection(std::string_view text) {
    if (text.size() > max_answer_json_bytes) return too_large;
    Measure measure;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (const auto objection = measure.take(c); !objection.empty()) {
            return objection;
        }
    }
    return {};
}

nlohmann::json parse_json(std::string_view text) {
    return parsed_as<nlohmann::json>(text);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
    return parsed_as<nlohmann::ordered_json>(text);
}

}  // namespace epilogue
