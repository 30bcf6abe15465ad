#include "tests/integration/guarantees/place.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace epilogue::testing {
namespace {

/// What the places of a kind have in common; "%" stands for the number, "$" for the thread.
struct Form {
    std::string_view name;
    std::string_view platform;
    std::string_view path;
    bool in_thread;
    std::array<std::string_view, 2> lists;  ///< "": no second one
};

constexpr std::array<Form, kinds.size()> forms{
    {{"Slack", "slack", "C%", true, {"channel=C%&"}},
     {"GitHub comment",
      "github",
      "octo/issues#%",
      false,
      {"octo/issues/issues/%/comments", "octo/issues/pulls/%/comments?"}},
     {"GitHub review reply",
      "github",
      "octo/reviews!%",
      true,
      {"octo/reviews/issues/%/comments", "octo/reviews/pulls/%/comments?"}},
     {"GitLab note", "gitlab", "octo/notes#%", false, {"issues/%/notes?"}},
     {"GitLab discussion", "gitlab", "octo/discussions!%", true, {"discussions/$"}}}};

const Form& form_of(PlaceKind kind) {
    return forms.at(static_cast<std::size_t>(kind));
}

}  // namespace

std::string_view name_of(PlaceKind kind) {
    return form_of(kind).name;
}

Place make_place(fake_platform::FakePlatform& platform, PlaceKind kind, int number) {
    const Form& form = form_of(kind);
    const auto numbered = [&](std::string_view text) { return replaced(text, "%", std::to_string(number)); };
    Place place{{std::string(form.platform), numbered(form.path)}, kind};
    if (form.in_thread) place.thread = begin_thread(platform, place, "Could the agent do this?");
    for (const std::string_view list : form.lists)
        if (!list.empty()) place.lists.push_back(replaced(numbered(list), "$", place.thread));
    return place;
}

bool is_look_up(const fake_platform::LogEntry& entry, const Place& place) {
    if (entry.method != "GET" || !entry.path.starts_with("/" + place.platform + "/")) return false;
    const std::string asked = entry.path + "?" + entry.query;
    return std::any_of(place.lists.begin(), place.lists.end(),
                       [&](const std::string& list) { return asked.find(list) != std::string::npos; });
}

bool removes(const fake_platform::LogEntry& entry, std::int64_t comment) {
    if (entry.method == "DELETE") return entry.path.ends_with("/" + std::to_string(comment));
    return entry.path.ends_with("/chat.delete") &&
           entry.body.find(fmt::format(".{:06}\"", comment)) != std::string::npos;
}

}  // namespace epilogue::testing
