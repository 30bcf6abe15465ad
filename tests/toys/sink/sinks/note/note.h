// A toy: posts as notes on a server of notes. Shows all that a sink consists of.
#pragma once

#include <string>

#include "sinks/port/http_api.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// [note] of the configuration.
struct NoteSection {
    std::string api_url = "http://127.0.0.1:8080";
    bool operator==(const NoteSection&) const = default;
};

/// Where a post goes: `{"board": "todo"}` in processor_json.
struct NoteTarget {
    std::string board;
    bool operator==(const NoteTarget&) const = default;
    /// The board's name.
    std::string describe() const { return board; }
};

/// A post is found again by its delivery's id, which is the note's name.
class NoteSink final : public Sink {
  public:
    explicit NoteSink(const std::string& api_url) : api_(api_url, {"User-Agent: epilogue"}) {}

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    Dialogue<LookupResult> find(Post post) override;
    Dialogue<Attempt> create(Post post) override;
    Dialogue<bool> remove(Post post, Receipt duplicate) override;

  private:
    const HttpApi api_;
};

}  // namespace epilogue
