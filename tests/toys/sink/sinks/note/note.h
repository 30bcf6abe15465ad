// A toy: posts as blocks of lines in files of one folder. Shows all that a sink consists of.
#pragma once

#include <mutex>
#include <string>

#include "sinks/port/sink.h"

namespace epilogue {

/// [note] of the configuration.
struct NoteSection {
    std::string folder = ".";
    bool operator==(const NoteSection&) const = default;
};

/// Where a post goes: `{"file": "todo.txt"}` in processor_json.
struct NoteTarget {
    std::string file;
    bool operator==(const NoteTarget&) const = default;
    /// The file's name.
    std::string describe() const { return file; }
};

/// Thread-safe. A post is found again by its delivery's id, which is the block's first line.
class NoteSink final : public Sink {
  public:
    explicit NoteSink(std::string folder) : folder_(std::move(folder)) {}

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    LookupResult find(const Post& post) override;
    Attempt create(const Post& post) override;
    /// False: what is written stays.
    bool remove(const Post& post, const Receipt& duplicate) override;
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::never; }

  private:
    const std::string folder_;
    std::mutex mutex_;  // one writer at a time
};

}  // namespace epilogue
