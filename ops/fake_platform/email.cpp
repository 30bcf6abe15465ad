// Mailboxes: each mail that comes is another one, whatever its Message-ID. A place is the first recipient.
#include "base/text.h"
#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {
namespace {

const std::string platform = "email";

/// The value of a header field on one line.
std::string field_of(const std::string& mail, const std::string& name) {
    const std::size_t at = mail.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t value = at + name.size() + 4;
    return mail.substr(value, mail.find("\r\n", value) - value);
}

Reply reply_of(int status, std::string says) {
    return {status, {}, std::move(says), Ending::answer};
}

}  // namespace

Reply serve_email(const Request& request, CommentStore& store) {
    const std::string place = request.path.substr(platform.size() + 2);
    if (store.state(platform, place) != PlaceState::open) return reply_of(550, "no such mailbox");
    if (request.method != "POST") return reply_of(200, "OK");
    Comment mail;
    mail.platform = platform;
    mail.place = place;
    mail.author = bot_login;
    mail.body = request.body;
    mail.thread = field_of(request.body, "Message-ID");
    mail.metadata = header_of(request, "recipients");
    store.add(std::move(mail));
    return reply_of(200, "OK");
}

}  // namespace epilogue::fake_platform
