#include "sinks/email/email_target.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/control_character.h"
#include "base/ids.h"
#include "base/text.h"
#include "sinks/email/mail_address.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_recipients = 20;
constexpr std::size_t max_subject_bytes = 200;

/// A line's end would begin another field.
bool is_subject(std::string_view text) {
    return text.size() <= max_subject_bytes && is_utf8(text) && !has_control_character(text);
}

constexpr std::string_view expected_address = "an address such as \"a@b.example\", or 1 to 20 of them";
constexpr TextRule address_rule{is_mail_address, expected_address};
constexpr TextRule subject_rule{is_subject, "a text of 200 bytes at most, without control characters"};

EmailTarget read_short(const ProcessorReader& json) {
    EmailTarget target;
    const JsonPart& to = json.member("to");
    if (to.type == JsonPart::Type::array) {
        for (const JsonPart& each : to.parts) {
            const auto address = each.string_or_empty();
            if (!is_mail_address(address)) json.refuse("to", expected_address);
            if (std::find(target.to.begin(), target.to.end(), address) == target.to.end())
                target.to.emplace_back(address);
        }
        if (target.to.empty() || to.parts.size() > max_recipients) json.refuse("to", expected_address);
    } else {
        target.to.push_back(json.text("to", address_rule));
    }
    target.subject = json.optional_text("subject", subject_rule);
    return target;
}

void write_short(const ProcessorWriter& json, const EmailTarget& target) {
    json.texts("to", target.to);
    json.optional_text("subject", target.subject);
}

}  // namespace

std::string EmailTarget::describe() const {
    constexpr std::size_t all_shown = 3;
    constexpr std::size_t digits = 8;
    const std::string all = fmt::format("{}", fmt::join(to, ","));
    std::string text =
        to.size() <= all_shown && all.size() <= 300
            ? all
            : fmt::format("{},+{}/{}", to.front(), to.size() - 1, sha256_hex(all).substr(0, digits));
    if (!subject.empty()) text += "/" + sha256_hex(subject).substr(0, digits);
    return text;
}

std::vector<ProcessorShape> email_shapes() {
    return {shape_of("email", "", read_short, write_short)};
}

std::vector<WantedPart> email_members() {
    // Elements of a list are kept when something of them is wanted: these are texts, and have no members.
    return {{"to", {{""}}}, {"subject"}};
}

}  // namespace epilogue
