// Programs that post what ended, over one log: what they take, how late they are, and what they lose and
// double when they are killed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/bench_servers.h"

namespace epilogue::bench {

enum class PosterKind {
    worker,
    python_one,   ///< python_poster.py, one post at a time
    python_many,  ///< the same, 64 in flight
    camel,        ///< camel/route.yaml
};
std::string name_of(PosterKind kind);

/// What became visible, judged by the ends that the recordings have.
struct Posted {
    std::size_t expected = 0;      ///< posts
    std::size_t lost = 0;          ///< of them, never visible
    std::size_t extra = 0;         ///< visible posts more than expected: doubled, or of an end that was none
    double events_per_s = 0;       ///< from the first visible post to the last
    Cost cost;                     ///< of the last process
    std::vector<double> delays_s;  ///< live only: from an event that ends a turn to its post, ascending
};

/// The log that all of them read: `events` of `live` conversations, all of which are posted.
class PostersLog {
  public:
    /// `camel`: the folder of Camel's jars; empty: Camel cannot be measured.
    PostersLog(const BenchServers& servers, std::size_t events, std::size_t live,
               std::filesystem::path camel);

    bool can_measure(PosterKind kind) const { return kind != PosterKind::camel || !camel_.empty(); }
    /// Reads the log; the process is killed (SIGKILL) and started again `kills` times while it posts.
    Posted read(PosterKind kind, std::size_t kills) const;
    /// Reads another log while it is written, at `per_s` for `seconds`.
    Posted follow(PosterKind kind, std::size_t per_s, std::size_t seconds) const;

  private:
    const BenchServers& servers_;
    const std::size_t events_;
    const std::size_t live_;
    const std::filesystem::path camel_;
    RecordedTraffic traffic_;
};

}  // namespace epilogue::bench
