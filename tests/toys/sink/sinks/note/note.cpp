#include "sinks/note/note.h"

#include <memory>

#include "sinks/format/format.h"
#include "sinks/port/descriptor.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_characters = 10000;
constexpr const char* no_place = "the target is no board";

bool is_board(std::string_view text) {
    return path_segments(text) == 1;
}

NoteTarget read_short(const ProcessorReader& json) {
    return {json.text("board", {is_board, "a board's name"})};
}

void write_short(const ProcessorWriter& json, const NoteTarget& target) {
    json.text("board", target.board);
}

std::unique_ptr<Sink> make_note(const SinkSettings& settings) {
    return std::make_unique<NoteSink>(settings.sections.get<NoteSection>().api_url);
}

}  // namespace

std::string NoteSink::render(const Summary& summary, const DeliveryId&) const {
    return markdown_post(summary, {}, max_characters);
}

Dialogue<LookupResult> NoteSink::find(Post post) {
    const auto* place = target_in<NoteTarget>(post.target);
    if (place == nullptr) co_return lookup_failed(no_place);
    auto request = api_.request("GET", api_.url() + "/" + place->board + "/" + post.delivery_id);
    const auto answer = co_await request;
    const bool told =
        answer.outcome == HttpOutcome::answered && (answer.status == 200 || answer.status == 404);
    LookupResult lookup = lookup_failed(answer.cause);
    lookup.ok = told;
    lookup.platform = platform_state(answer);
    if (answer.status == 200) lookup.found.push_back({post.delivery_id, place->board});
    co_return lookup;
}

Dialogue<Attempt> NoteSink::create(Post post) {
    const auto* place = target_in<NoteTarget>(post.target);
    if (place == nullptr) co_return not_sent(Answer::refused, no_place);
    auto request = api_.request("PUT", api_.url() + "/" + place->board + "/" + post.delivery_id, post.body);
    const auto answer = co_await request;
    Attempt attempt =
        not_sent(answer.outcome == HttpOutcome::not_sent ? Answer::retry : Answer::unknown, answer.cause);
    attempt.platform = platform_state(answer);
    if (answer.status == 201) attempt.answer = Answer::sent;
    attempt.receipt = {post.delivery_id, place->board};
    co_return attempt;
}

/// One name is one note: there are no duplicates.
Dialogue<bool> NoteSink::remove(Post, Receipt) {
    co_return false;
}

const SinkDescriptor& note_sink() {
    static const SinkDescriptor descriptor{
        .name = "note",
        .sections = {{"note",
                      "Posts to a server of notes.",
                      {{"api_url", required_text(place(&NoteSection::api_url)), "Where the notes are."}}}},
        .shapes = {shape_of("note", "board", read_short, write_short)},
        .wanted = {"", {{"board"}}},
        .describe = describe_place<NoteTarget>,
        .same = same_place<NoteTarget>,
        .make = make_note};
    return descriptor;
}

}  // namespace epilogue
