// What a named model ([llm.NAME]) makes of the turn: of its events in its server's log, or else of its
// digest.
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/io/log.h"
#include "worker/sources/descriptor.h"
#include "worker/sources/llm_request.h"
#include "worker/sources/summary_section.h"
#include "worker/sources/told_log.h"

namespace epilogue {
namespace {

using std::chrono::milliseconds;
using Clock = agent::ConversationCalls::Clock;
using Kind = FinalMessageReply::Kind;

class LlmSource final : public FinalMessageSource {
  public:
    LlmSource(const SummarySection& summary, LlmModel model, const AskerSettings& settings)
        : name_(summary.llm),
          model_(std::move(model)),
          rules_{summary.llm_template_file.text, static_cast<std::size_t>(model_.context_tokens),
                 summary.language},
          settings_(settings) {}

    /// Conversations without an agent server all wait for the model's.
    Result<std::string> server_of(const ConversationId& conversation_id) override {
        TRY(const auto server, server_at(conversation_id));
        return server ? server->address().url() : model_.base_url;
    }

    FinalMessageReply ask(const FinalMessageQuery& query, milliseconds within,
                          const std::stop_token& stop) override {
        const auto until = Clock::now() + within;
        const auto known = known_turn(query);
        if (!known) return failed(known.error().text);
        TurnMaterial material = material_of(*known);
        read_history(query, until - within * 2 / 3, stop, material);
        if (stop.stop_requested()) return {Kind::stopped, "", "the worker stops"};
        FinalMessageReply reply = complete(prompt_of(material, rules_, random_uuid()), until, stop);
        tell(reply);
        return reply;
    }

  private:
    static FinalMessageReply failed(std::string cause) { return {Kind::refused, "", std::move(cause)}; }

    /// The conversation's; nullptr: it has none that can be used. Errors: the database's.
    Result<std::shared_ptr<const agent::AgentServer>> server_at(const ConversationId& conversation_id) const {
        auto server = settings_.find_server(conversation_id);
        if (!server && server.error().remedy == Remedy::poison)
            return std::shared_ptr<const agent::AgentServer>();
        return server;
    }

    Result<KnownTurn> known_turn(const FinalMessageQuery& query) const {
        KnownTurn known;
        known.headline = query.headline;
        known.facts = query.facts;
        TRY(auto turn, settings_.notes->turn(query.turn));
        known.is_known = turn.has_value();
        if (turn) known.turn = std::move(*turn);
        return known;
    }

    /// Adds what the server's log tells, when it can be read in that time.
    void read_history(const FinalMessageQuery& query, Clock::time_point until, const std::stop_token& stop,
                      TurnMaterial& material) {
        const auto server = server_at(query.turn.conversation_id);
        if (!server || !*server) return;
        agent::ConversationCalls calls(*server, query.turn.conversation_id, until);
        const std::stop_callback close(stop, [&] { calls.close(); });
        const auto told = told_events(calls, until);
        if (told) return add_history(material, *told, query.turn.turn_key, query.status_event);
        if (stop.stop_requested()) return;
        trouble_.warn((*server)->address().url(),
                      "a conversation's log could not be read; a model gets its digest",
                      {{"conversation", query.turn.conversation_id}, {"why", told.error().text}});
    }

    /// Asks the model, within its budget.
    FinalMessageReply complete(const LlmPrompt& prompt, Clock::time_point until,
                               const std::stop_token& stop) {
        LlmSpending most{1, static_cast<std::int64_t>(prompt.tokens()), model_.max_tokens, 0};
        most.cost = cost_of(model_, most.tokens_in, most.tokens_out);
        constexpr double millionths = 1e6;
        const auto day = settings_.notes->reserve(
            name_, most,
            {model_.tokens_per_day, static_cast<std::int64_t>(model_.cost_per_day * millionths)});
        if (!day) return failed(day.error().text);
        if (!*day) return failed("the model's budget of today is used up");
        const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
        Completion completion{{Kind::late, "", "no time was left"}, LlmSpending{}};
        if (left.count() > 0)
            completion = completion_of(http_.send(completion_request(model_, prompt, left, stop)), model_);
        settle(**day, most, completion);
        if (stop.stop_requested()) return {Kind::stopped, "", "the worker stops"};
        return std::move(completion.reply);
    }

    /// What was reserved stays noted when the API does not say what was used.
    void settle(const std::string& day, const LlmSpending& most, const Completion& completion) const {
        if (!completion.used) return;
        const LlmSpending& used = *completion.used;
        if (used.requests > 0)
            settings_.llm_used(name_, used.tokens_in, used.tokens_out, static_cast<double>(used.cost) / 1e6);
        const auto settled = settings_.notes->settle(name_, day, most, used);
        if (!settled)
            log_warn("what a model has used could not be noted: its budget is charged with an estimate",
                     {{"model", name_}, {"why", settled.error().text}});
    }

    void tell(const FinalMessageReply& reply) {
        if (reply.kind == Kind::confirmed || reply.kind == Kind::stopped) return;
        trouble_.warn(name_, "a model did not summarise a turn; the next source is taken",
                      {{"model", name_}, {"why", reply.cause}});
    }

    const std::string name_;
    const LlmModel model_;
    const PromptRules rules_;
    const AskerSettings settings_;
    const HttpClient http_;
    RateLimitedLog trouble_;
};

SummarySource make_llm(const ConfigExtensions&) {
    return {.name = {},
            .words_of = [](const TurnEnd&) -> std::optional<std::string> { return std::nullopt; },
            .may_ask = [](const TurnEnd&) { return true; },
            .needs_server = false};
}

std::unique_ptr<FinalMessageSource> make_asker(const AskerSettings& settings) {
    const auto& summary = settings.sections.get<SummarySection>();
    const auto& models = settings.sections.get<LlmSection>().models;
    const auto model = models.find(summary.llm);
    if (model == models.end()) return nullptr;  // which `check` refuses
    return std::make_unique<LlmSource>(summary, model->second, settings);
}

}  // namespace

const SummarySourceDescriptor& llm_summary_source() {
    static const SummarySourceDescriptor descriptor{.name = "llm",
                                                    .doc = "what a model of [llm.NAME] makes of it",
                                                    .sections = {llm_section()},
                                                    .make = make_llm,
                                                    .make_asker = make_asker};
    return descriptor;
}

}  // namespace epilogue
