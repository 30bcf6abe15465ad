// Each operation that an agent server offers for conversations, as one REST call. JSON goes in and comes out
// as text. Errors are AgentError's kinds; an operation that this version of the server lacks is
// `unsupported`.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "agent/event_list.h"
#include "agent/server.h"

namespace epilogue::agent {

struct LogPage;

/// One page of the conversations of a server, each as the JSON text of its information.
struct ConversationPage {
    std::vector<std::string> items;
    std::string next_page_id;  ///< "": the last page
};

/// Creates a conversation from `request`, a JSON object of the server's StartConversationRequest; returns its
/// information, whose "id" is the conversation's. Gives it an id when it has none, so that a repeat after a
/// broken connection finds the same conversation.
AgentResult<std::string> create_conversation(const AgentServer& server, std::string_view request);

/// A page of at most `limit` (1 to 100) conversations with that status ("": any).
AgentResult<ConversationPage> list_conversations(const AgentServer& server, int limit,
                                                 const std::string& status, const std::string& page_id);

/// One page of the ids alone, as the server writes them.
struct ConversationIds {
    std::vector<std::string> ids;
    std::string next_page_id;  ///< "": the last page
};
/// The newest first. `stop` as in Call.
AgentResult<ConversationIds> list_conversation_ids(const AgentServer& server, int limit,
                                                   const std::string& page_id, const std::stop_token& stop);

/// The execution status in what ConversationCalls::info() gave; "" when it says none.
std::string status_in(std::string_view info);

/// The calls of one conversation. Thread-safe. The server has to outlive it.
class ConversationCalls {
  public:
    using Clock = std::chrono::steady_clock;

    /// `id`: a UUID, with or without dashes. No call goes on beyond `until`; where it is given, each may take
    /// as long as that, and not only Deadlines::call.
    ConversationCalls(std::shared_ptr<const AgentServer> server, std::string id,
                      Clock::time_point until = Clock::time_point::max());

    const std::string& id() const { return id_; }
    const AgentServer& server() const { return *server_; }

    /// Ends the calls under way, and all later ones, as `closed`.
    void close() { closing_.request_stop(); }

    /// Its information: state, title, times, as JSON text. Never waits for the agent, and needs no lock
    /// there.
    AgentResult<std::string> info(std::chrono::milliseconds deadline = {}) const;
    /// How many events its log has.
    AgentResult<std::size_t> event_count(std::chrono::milliseconds deadline = {}) const;
    /// Its whole log, page by page, in the server's order; at most 1 GiB. No page is asked for after `until`.
    /// A log that the server failed to read is asked for only as AgentServer::logs() lets it.
    AgentResult<std::vector<EventRef>> events(Clock::time_point until = Clock::time_point::max()) const;
    /// Its log from the event `first` on. A server that does not find that event gives another beginning.
    AgentResult<std::vector<EventRef>> events_from(const std::string& first) const;
    /// The last of them, one page at most, in the same order.
    AgentResult<std::vector<EventRef>> newest_events() const;
    /// Shows the log's events from the last one backwards, until `wants_more` is false or the log begins. No
    /// page is asked for after `until`.
    AgentResult<void> read_back(Clock::time_point until,
                                const std::function<bool(const RemoteEvent&)>& wants_more) const;
    /// Appends a message of the user; `invalid` when it is not UTF-8. `run`: and lets the agent answer.
    /// `overloaded` then means that the message is kept, or may be (`maybe_done`), and only the run was
    /// refused: run() does the rest.
    AgentResult<void> send_message(std::string_view text, bool run = false) const;
    /// The same with a message as JSON: {"role": "user", "content": [...]}.
    AgentResult<void> send_message_json(std::string_view message, bool run = false) const;
    /// Lets the agent work. `busy` when it does already.
    AgentResult<void> run(std::chrono::milliseconds deadline = {}) const;
    /// Stops the agent after its present step.
    AgentResult<void> pause() const;
    /// Stops the agent in the middle of its step.
    AgentResult<void> interrupt() const;
    /// Accepts or rejects the actions that wait for confirmation. An acceptance is never sent twice.
    AgentResult<void> respond(bool accept, std::string_view reason) const;
    /// `policy`: a JSON object, e.g. {"kind": "AlwaysConfirm"}.
    AgentResult<void> set_confirmation_policy(std::string_view policy) const;
    /// `analyzer`: a JSON object, e.g. {"kind": "LLMSecurityAnalyzer"}, or "null" for none.
    AgentResult<void> set_security_analyzer(std::string_view analyzer) const;
    /// Adds or replaces secrets, by name.
    AgentResult<void> update_secrets(const std::vector<std::pair<std::string, Secret>>& secrets) const;
    /// Asks the agent's LLM about the conversation, which does not change by it.
    AgentResult<std::string> ask_agent(std::string_view question) const;
    /// A title of at most `max_length` (1 to 200) characters, made by the LLM `llm` (JSON; "": the agent's).
    AgentResult<std::string> generate_title(int max_length = 50, std::string_view llm = "") const;
    /// Sets the title.
    AgentResult<void> set_title(std::string_view title) const;
    /// Has the history condensed, where the agent has a condenser.
    AgentResult<void> condense() const;
    /// The agent's last words; "" when there are none.
    AgentResult<std::string> final_response() const;
    /// Removes the conversation with its history.
    AgentResult<void> remove() const;

  private:
    AgentResult<Answer> send(Call call) const;
    AgentResult<std::vector<EventRef>> read_log(Clock::time_point until, std::string page_id) const;
    /// The newest first.
    AgentResult<LogPage> page_back(int size, const std::string& page_id) const;
    /// How long a call may take from now on that wants so long (0: as long as calls do).
    std::chrono::milliseconds deadline_of(std::chrono::milliseconds wanted) const;
    AgentResult<void> post(std::string_view tail, std::string body, Repeat repeat) const;
    AgentResult<std::string> text_of_answer(Call call, const char* member) const;
    AgentResult<void> require(bool Features::*feature, std::string_view operation) const;

    std::shared_ptr<const AgentServer> server_;
    std::string id_;
    std::string path_;
    const Clock::time_point until_;
    std::stop_source closing_;
};

}  // namespace epilogue::agent
