#include "tests/sim/client.h"

namespace epilogue::sim {
namespace {

constexpr std::chrono::seconds before_next_try{1};

}  // namespace

Client::~Client() {
    if (!process_) return;
    process_->on_death = [] {};
    process_->kill();
}

void Client::begin(Job job) {
    job_ = std::move(job);
    try_again();
}

void Client::try_again() {
    process_ = std::make_shared<Process>(schedule_, "client");
    store_ = std::make_unique<SimStore>(database_, *process_);
    process_->on_death = [this] {
        store_.reset();
        process_.reset();
        schedule_.after(before_next_try, [this] { try_again(); });
    };
    process_->start(
        [this] {
            while (!job_(*store_)) process_->wait(before_next_try);
        },
        [this] { done_ = true; });
}

}  // namespace epilogue::sim
