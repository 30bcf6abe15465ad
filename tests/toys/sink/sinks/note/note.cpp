#include "sinks/note/note.h"

#include <fstream>
#include <memory>

#include "sinks/format/format.h"
#include "sinks/port/descriptor.h"
#include "sinks/port/remote_post.h"

namespace epilogue {
namespace {

constexpr std::size_t max_characters = 10000;
constexpr const char* no_place = "the target is no file";

bool is_file_name(std::string_view text) {
    return !text.empty() && text.size() <= 100 && text.front() != '.' &&
           text.find('/') == std::string_view::npos;
}

NoteTarget read_short(const ProcessorReader& json) {
    return {json.text("file", {is_file_name, "a file's name"})};
}

void write_short(const ProcessorWriter& json, const NoteTarget& target) {
    json.text("file", target.file);
}

std::unique_ptr<Sink> make_note(const SinkSettings& settings) {
    return std::make_unique<NoteSink>(settings.sections.get<NoteSection>().folder);
}

}  // namespace

std::string NoteSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return delivery_id + "\n" + markdown_post(summary, {}, max_characters);
}

LookupResult NoteSink::find(const Post& post) {
    const auto* place = target_in<NoteTarget>(post.target);
    if (place == nullptr) return lookup_failed(no_place);
    LookupResult lookup;
    lookup.ok = true;
    std::ifstream file(folder_ + "/" + place->file);
    for (std::string line; std::getline(file, line);)
        if (line == post.delivery_id) lookup.found.push_back({post.delivery_id, place->file});
    return lookup;
}

Attempt NoteSink::create(const Post& post) {
    const auto* place = target_in<NoteTarget>(post.target);
    if (place == nullptr) return not_sent(Answer::refused, no_place);
    const std::lock_guard lock(mutex_);
    std::ofstream file(folder_ + "/" + place->file, std::ios::app);
    if (!file) return not_sent(Answer::retry, "the file cannot be opened");
    file << post.body << "\n\n" << std::flush;
    Attempt attempt;
    attempt.answer = file ? Answer::sent : Answer::unknown;
    attempt.receipt = {post.delivery_id, place->file};
    return attempt;
}

bool NoteSink::remove(const Post&, const Receipt&) {
    return false;
}

const SinkDescriptor& note_sink() {
    static const SinkDescriptor descriptor{
        .name = "note",
        .sections = {{"note",
                      "Posts to files.",
                      {{"folder", required_text(place(&NoteSection::folder)), "Where the files are."}}}},
        .shapes = {shape_of("note", "file", read_short, write_short)},
        .wanted = {"", {{"file"}}},
        .describe = describe_place<NoteTarget>,
        .same = same_place<NoteTarget>,
        .make = make_note};
    return descriptor;
}

}  // namespace epilogue
