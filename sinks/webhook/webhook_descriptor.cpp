#include "sinks/port/descriptor.h"
#include "sinks/webhook/webhook.h"
#include "sinks/webhook/webhook_section.h"

namespace epilogue {
namespace {

std::vector<std::string> revealed(const std::vector<Secret>& secrets) {
    std::vector<std::string> texts;
    for (const Secret& secret : secrets) texts.push_back(secret.reveal());
    return texts;
}

std::unique_ptr<Sink> make_webhook(const SinkSettings& settings) {
    const auto& section = settings.sections.get<WebhookSection>();
    WebhookSettings made;
    made.secrets = revealed(section.secrets);
    for (const auto& [name, endpoint] : section.endpoints)
        made.endpoints[name] = {endpoint.url, revealed(endpoint.secrets)};
    made.egress = settings.egress;
    made.now = settings.now;
    made.version = settings.version;
    return std::make_unique<WebhookSink>(std::move(made));
}

}  // namespace

const SinkDescriptor& webhook_sink() {
    static const SinkDescriptor descriptor{
        .name = "webhook",
        .sections = {webhook_section()},
        .shapes = webhook_shapes(),
        .wanted = {"", webhook_members()},
        .describe = describe_place<WebhookTarget>,
        .same = same_place<WebhookTarget>,
        .make = make_webhook,
        .form = R"({"endpoint": "name of a [webhook.endpoints.<name>]"} or {"url": "https://…"})"};
    return descriptor;
}

}  // namespace epilogue
