// A receiver as Standard Webhooks wants it: it accepts a message whose id it has seen before, and does
// nothing. Its places are the paths behind "/webhook/".
#include <algorithm>

#include <nlohmann/json.hpp>

#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {
namespace {

const std::string platform = "webhook";

Reply answer(int status, const char* says) {
    return json_reply(status, nlohmann::json{{"says", says}}.dump());
}

}  // namespace

Reply serve_webhook(const Request& request, CommentStore& store) {
    if (request.method != "POST") return answer(405, "only POST");
    const std::string place = request.path.substr(platform.size() + 2);
    const auto id = header_of(request, "webhook-id");
    if (id.empty() || header_of(request, "webhook-timestamp").empty() ||
        !header_of(request, "webhook-signature").starts_with("v1,"))
        return answer(401, "not signed");
    if (store.state(platform, place) == PlaceState::gone) return answer(410, "gone");
    if (store.state(platform, place) == PlaceState::missing) return answer(404, "no such path");
    const auto known = store.listed(platform, place);
    if (std::any_of(known.begin(), known.end(), [&](const Comment* each) { return each->thread == id; }))
        return answer(200, "had it");
    Comment taken;
    taken.platform = platform;
    taken.place = place;
    taken.author = bot_login;
    taken.body = request.body;
    taken.thread = id;
    store.add(std::move(taken));
    return answer(200, "taken");
}

}  // namespace epilogue::fake_platform
