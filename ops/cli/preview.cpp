#include "worker/serve/preview.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "ops/cli/command.h"
#include "worker/serve/callback_listing.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

using Json = nlohmann::ordered_json;

void print_json(CallbackId callback_id, const Preview& shown) {
    const Json document{{"callback_id", callback_id.value},
                        {"conversation_id", shown.conversation_id.text()},
                        {"turn_key", shown.turn_key.text()},
                        {"verdict", shown.verdict},
                        {"source", shown.source},
                        {"delivery_id", shown.delivery_id.text()},
                        {"sink", shown.sink},
                        {"target", shown.target},
                        {"basis", name_of(shown.basis)},
                        {"note", shown.note},
                        {"method", shown.request->method},
                        {"url", shown.request->url},
                        {"headers", shown.request->headers},
                        {"body", shown.request->body}};
    fmt::print("{}\n", json_indented(document));
}

void print_text(const Preview& shown) {
    fmt::print(
        "conversation_id: {}\nturn_key: {}\nverdict: {}\nsource: {}\ndelivery_id: {}\ntarget: {}\nbasis: "
        "{}\n\n",
        shown.conversation_id, shown.turn_key, shown.verdict, shown.source, shown.delivery_id, shown.target,
        shown.note);
    fmt::print("{} {}\n", shown.request->method, shown.request->url);
    for (const std::string& header : shown.request->headers) fmt::print("{}\n", header);
    fmt::print("\n{}\n", shown.request->body);
}

void show(const Common& common, CallbackId callback_id) {
    const Config config = load(common);
    const auto store = open_store(config);
    const auto planner = expect(planner_for(config, *store));
    const auto shown =
        expect(preview(*store, planner, sink_settings(config), config.worker.http_timeout, callback_id));
    if (!shown) throw Exit{failed, no_callback(callback_id)};
    if (!shown->request)
        throw Exit{shown->may_pass ? unavailable : failed, "nothing would be posted now: " + shown->cause};
    if (common.json)
        print_json(callback_id, *shown);
    else
        print_text(*shown);
}

}  // namespace

void add_preview(CLI::App& program) {
    auto* command = program.add_subcommand(
        "preview", "Print the exact request that a callback would post now, secrets hidden; posts nothing");
    auto common = std::make_shared<Common>();
    auto id = std::make_shared<std::int64_t>(0);
    add_common(*command, *common, true);
    command->add_option("CALLBACK", *id, "Callback id")->required();
    command->callback([=] { show(*common, {*id}); });
}

}  // namespace epilogue::cli
