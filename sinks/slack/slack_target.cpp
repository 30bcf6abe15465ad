#include "sinks/slack/slack_target.h"

#include <algorithm>
#include <utility>

#include "sinks/port/edited_message.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_id_bytes = 64;

bool is_id(std::string_view text) {
    return !text.empty() && text.size() <= max_id_bytes &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '/'; });
}

bool is_time(std::string_view text) {
    const std::size_t stop = text.find('.');
    return text.size() <= max_id_bytes && stop != std::string_view::npos && is_digits(text.substr(0, stop)) &&
           is_digits(text.substr(stop + 1));
}

/// A Slack channel, team or the like: short, printable, without space and slash.
constexpr TextRule id_rule{is_id, R"(an id such as "C0456EFGH")"};
/// A Slack message's time: digits, a full stop, digits.
constexpr TextRule time_rule{is_time, R"(a message's time such as "1763715600.000100")"};

SlackTarget read_short(const ProcessorReader& json) {
    SlackTarget target{json.text("channel", id_rule), json.optional_text("thread_ts", time_rule),
                       json.optional_text("team_id", id_rule)};
    if (is_update(json)) {
        target.message_ts = json.text("message_ts", time_rule);
        target.notify = json.flag(member_notify, false);
    }
    return target;
}

void write_short(const ProcessorWriter& json, const SlackTarget& target) {
    json.text("channel", target.channel);
    json.optional_text("thread_ts", target.thread_ts);
    json.optional_text("team_id", target.team_id);
    write_update(json, !target.message_ts.empty(), target.notify);
    if (!target.message_ts.empty()) json.text("message_ts", target.message_ts);
}

/// A thread's parent is thread_ts; without one the message itself starts the thread.
SlackTarget read_view(const ProcessorReader& view) {
    std::string channel = view.text("channel_id", id_rule);
    std::string parent = view.optional_text("thread_ts", time_rule);
    if (parent.empty()) parent = view.text("message_ts", time_rule);
    return {std::move(channel), std::move(parent), view.optional_text("team_id", id_rule)};
}

void write_view(const ProcessorWriter& view, const SlackTarget& target) {
    view.text("channel_id", target.channel);
    const bool has_parent = !view.member("thread_ts").string_or_empty().empty();
    view.text(has_parent ? "thread_ts" : "message_ts", target.thread_ts);
    view.optional_text("team_id", target.team_id);
}

SlackTarget read_v1(const ProcessorReader& json) {
    return read_view(json.object("slack_view_data"));
}

void write_v1(const ProcessorWriter& json, const SlackTarget& target) {
    write_view(json.object("slack_view_data"), target);
}

}  // namespace

std::string SlackTarget::describe() const {
    return (team_id.empty() ? "-" : team_id) + "/" + channel + (thread_ts.empty() ? "" : "/" + thread_ts) +
           (message_ts.empty() ? "" : "/m" + message_ts);
}

std::vector<ProcessorShape> slack_shapes() {
    return {shape_of("slack", "channel", read_short, write_short),
            shape_of("SlackCallbackProcessor", "channel_id", read_view, write_view),
            shape_of("SlackV1CallbackProcessor", "slack_view_data", read_v1, write_v1)};
}

std::vector<WantedPart> slack_members() {
    return {{"channel"},
            {"channel_id"},
            {member_mode_of_post},
            {member_notify},
            {"message_ts"},
            {"thread_ts"},
            {"team_id"},
            {"slack_view_data", {{"channel_id"}, {"message_ts"}, {"thread_ts"}, {"team_id"}}}};
}

}  // namespace epilogue
