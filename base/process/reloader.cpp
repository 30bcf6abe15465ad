#include "base/process/reloader.h"

#include <utility>

#include "base/config_file.h"
#include "base/ids.h"
#include "base/io/log.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds look_every{5};

/// A digest of what the secrets' files hold now; one that cannot be read counts as one without content.
std::string fingerprint_of(const std::vector<std::string>& files) {
    std::string all;
    for (const std::string& file : files) {
        const auto text = read_text_file(file);
        all += file + " " + (text ? sha256_hex(*text) : "") + "\n";
    }
    return sha256_hex(all);
}

}  // namespace

Reloader::Reloader(const Config& first, std::function<Result<Config>()> load, ReloadRule rule)
    : load_(std::move(load)), rule_(std::move(rule)), current_(std::make_shared<const Config>(first)) {}

std::shared_ptr<const Config> Reloader::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

void Reloader::request() {
    {
        const std::lock_guard lock(mutex_);
        is_asked_ = true;
    }
    asked_.notify_all();
}

void Reloader::on_reload(std::function<void(const Config&)> apply) {
    const std::lock_guard lock(apply_mutex_);
    apply_ = std::move(apply);
    if (apply_) apply_(*current());
}

void Reloader::run(const std::stop_token& stop) {
    std::string seen = fingerprint_of(current()->secret_files);
    while (!stop.stop_requested()) {
        bool is_asked = false;
        {
            std::unique_lock lock(mutex_);
            asked_.wait_for(lock, stop, look_every, [this] { return is_asked_; });
            is_asked = std::exchange(is_asked_, false);
        }
        if (stop.stop_requested()) return;
        const auto files = current()->secret_files;
        const std::string now = fingerprint_of(files);
        if (!is_asked && now == seen) continue;
        reload(is_asked ? "SIGHUP" : "a secret's file has changed");
        // Taken before the reload: what changes meanwhile is seen the next time.
        seen = current()->secret_files == files ? now : fingerprint_of(current()->secret_files);
    }
}

void Reloader::reload(const std::string& why) {
    const auto next = load_();
    if (!next) {
        log_error("the configuration is wrong: the settings stay as they are",
                  {{"asked_by", why}, {"why", next.error().text}});
        return;
    }
    const auto before = current();
    Reload taken = rule_(*before, *next);
    const auto after = std::make_shared<const Config>(std::move(taken.config));
    {
        const std::lock_guard lock(mutex_);
        current_ = after;
    }
    start_logging(after->log.level, after->log.format);
    {
        const std::lock_guard lock(apply_mutex_);
        if (apply_) apply_(*after);
    }
    log_info("the configuration was read again",
             {{"asked_by", why}, {"changed", *before == *after ? "nothing" : "yes"}});
    std::string sections;
    for (const std::string& section : taken.need_restart)
        sections += (sections.empty() ? "[" : ", [") + section + "]";
    if (!sections.empty()) log_warn("changes in these sections need a restart", {{"sections", sections}});
}

}  // namespace epilogue
