// The dashboard's queries on a real Prometheus that scrapes a real run: each returns data.
#define BOOST_TEST_MODULE dashboard
#include <cmath>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/agent/fake_llm.h"
#include "tests/support/eventually.h"
#include "tests/support/ports.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;
using epilogue::HttpClient;
using epilogue::HttpRequest;

std::string percent_encoded(const std::string& text) {
    std::ostringstream encoded;
    encoded << std::hex << std::uppercase << std::setfill('0');
    for (const char c : text)
        encoded << "%" << std::setw(2) << static_cast<int>(static_cast<unsigned char>(c));
    return encoded.str();
}

/// Debian's Prometheus, which scrapes one worker twice a second, as job `epilogue`, and a relay as
/// `epilogue-relay`.
class Prometheus {
  public:
    explicit Prometheus(const WorkerProcess& worker, const WorkerProcess* relay = nullptr)
        : port_(free_port()) {
        const auto config = folder_.path() / "prometheus.yml";
        const auto job = [](const std::string& name, const WorkerProcess& process) {
            return "  - job_name: " + name + "\n    static_configs: [{targets: [\"" +
                   process.url().substr(std::string("http://").size()) + "\"]}]\n";
        };
        std::ofstream(config) << "global: {scrape_interval: 500ms, scrape_timeout: 400ms}\nscrape_configs:\n"
                              << job("epilogue", worker)
                              << (relay == nullptr ? "" : job("epilogue-relay", *relay));
        process_.emplace(
            Command{{EPILOGUE_BINARY_DIR "/prometheus/bin/prometheus", "--config.file=" + config.string(),
                     "--storage.tsdb.path=" + (folder_.path() / "data").string(),
                     "--web.listen-address=127.0.0.1:" + std::to_string(port_)}});
        eventually("Prometheus answers", [&] {
            if (!process_->running()) throw std::runtime_error("Prometheus ended: " + process_->err());
            return get("/-/ready").status == 200;
        });
    }

    /// The values that the query returns now; none of them is NaN.
    std::vector<double> values(const std::string& query) const {
        std::vector<double> values;
        for (const auto& [sink, value] : by_sink(query)) values.push_back(value);
        return values;
    }
    /// The same by the label `sink`, which may be "" or come again.
    std::multimap<std::string, double> by_sink(const std::string& query) const {
        const auto answer = get("/api/v1/query?query=" + percent_encoded(query));
        if (answer.status != 200) throw std::runtime_error(query + ": " + answer.body);
        std::multimap<std::string, double> values;
        const Json told = Json::parse(answer.body);
        for (const Json& series : told.at("data").at("result")) {
            const double value = std::stod(series.at("value").at(1).get<std::string>());
            if (!std::isnan(value)) values.emplace(series.at("metric").value("sink", ""), value);
        }
        return values;
    }

  private:
    epilogue::HttpAnswer get(const std::string& path) const {
        HttpRequest request;
        request.url = "http://127.0.0.1:" + std::to_string(port_) + path;
        request.timeout = Milliseconds(10'000);
        return http_.send(request);
    }

    TempDir folder_;
    unsigned short port_;
    std::optional<Process> process_;
    HttpClient http_;
};

Json panels() {
    std::ifstream file(EPILOGUE_SOURCE_DIR "/ops/grafana/dashboards/epilogue.json");
    return Json::parse(file).at("panels");
}

/// The panel of that title.
Json panel(const std::string& title) {
    for (const Json& one : panels())
        if (one.at("title") == title) return one;
    throw std::runtime_error("no panel \"" + title + "\"");
}

/// The panels under the first row's title.
std::vector<Json> first_row() {
    std::vector<Json> row;
    for (const Json& one : panels())
        if (one.at("gridPos").at("y") == 1) row.push_back(one);
    return row;
}

/// The colour in which Grafana shows the value in that panel.
std::string colour(const Json& panel, double value) {
    std::string shown;
    for (const Json& step : panel.at("fieldConfig").at("defaults").at("thresholds").at("steps"))
        if (step.at("value").is_null() || value >= step.at("value").get<double>()) shown = step.at("color");
    return shown;
}

/// The sinks that a panel shows in another colour than green.
std::set<std::string> not_green(const Prometheus& prometheus, const Json& panel) {
    std::set<std::string> sinks;
    for (const Json& target : panel.at("targets"))
        for (const auto& [sink, value] : prometheus.by_sink(target.at("expr")))
            if (colour(panel, value) != "green") sinks.insert(sink);
    return sinks;
}

/// Every query of the dashboard, by the panel's title; a rate's window as Grafana chooses it.
std::multimap<std::string, std::string> queries() {
    std::multimap<std::string, std::string> all;
    for (const Json& panel : panels())
        for (const Json& target : panel.value("targets", Json::array()))
            all.emplace(panel.at("title"),
                        epilogue::replaced(target.at("expr").get<std::string>(), "$__rate_interval", "1m"));
    return all;
}

/// In one go: a post, one whose answer is lost, one that the platform forbids, and a record that is none.
void tell(const Rig& rig, const std::string& name) {
    for (const std::string what : {"posted", "lost", "parked"}) {
        rig.add_github(name + what, "o/" + what, 1, "once");
        rig.publish(V0Conversation(name + what).user("Go.").agent_finishes("Done.").records());
    }
    rig.publish({{.key = name, .value = "{not json"}});
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_query_of_the_dashboard_returns_data) {
    const FakeLlm model;
    Settings settings = model.settings();
    settings["summary.sources"] = std::vector<std::string>{"llm", "digest"};
    const Rig rig("dashboard", 2, settings);
    rig.platform().rules(
        {{{"do", "status"}, {"status", 403}, {"method", "POST"}, {"path", "/o/parked/"}, {"times", -1}},
         {{"do", "apply_then_reset"}, {"method", "POST"}, {"path", "/o/lost/"}, {"times", -1}}});
    auto worker = rig.epilogue().worker();
    const auto port = free_port();
    const WorkerProcess relay(rig.epilogue().start({"relay"}, {{"EPILOGUE_RELAY_HTTP_LISTEN",
                                                                "127.0.0.1:" + std::to_string(port)}}),
                              port);
    const Prometheus prometheus(worker, &relay);
    // A rate wants two different samples: all series are there before the second go.
    tell(rig, "first");
    const auto has = [&](const std::string& query) {
        eventually("Prometheus has " + query, [&] { return !prometheus.values(query).empty(); });
    };
    has("epilogue_deliveries_total{state=\"PARKED\"} > 0");
    has("epilogue_dead_letters_total > 0");
    has("epilogue_lookups_total{result=\"found\"} > 0");
    has("epilogue_transition_to_visible_seconds_count > 1");
    has("epilogue_parked > 0");
    has("epilogue_llm_cost_total > 0");
    tell(rig, "second");

    const auto all = queries();
    BOOST_TEST(all.size() > 20U);
    for (const auto& [title, query] : all)
        eventually("the panel \"" + title + "\" has data: " + query,
                   [&] { return !prometheus.values(query).empty(); });
    BOOST_TEST(prometheus.values("epilogue_ready{job=\"epilogue\"}") == std::vector<double>{1},
               boost::test_tools::per_element());
    BOOST_TEST(prometheus.values("epilogue_parked{sink=\"github\",why=\"credential\"}").size() == 1U);
}

BOOST_AUTO_TEST_CASE(with_two_platforms_dead_the_first_row_is_not_green_and_says_which_they_are) {
    const Rig rig("dead_platforms", 1);
    auto worker = rig.epilogue().worker();
    const Prometheus prometheus(worker);
    const auto add = [&](const std::string& name, const std::string& sink, const std::string& place) {
        rig.add_callback({"--conversation", name, "--processor", sink, "--processor-json", place});
        rig.publish(V0Conversation(name).user("Go.").agent_finishes("Done.").records());
    };
    const auto add_all = [&](const std::string& go) {
        add(go + "github", "github", R"({"repo": "o/dead", "number": 1})");
        add(go + "gitlab", "gitlab", R"({"project": "o/dead", "iid": 1, "kind": "issue"})");
        add(go + "slack", "slack", R"({"channel": "C1"})");
    };
    add_all("well");
    const auto row = first_row();
    BOOST_TEST(row.size() >= 5U);
    const std::string sent = "sum by (sink) (epilogue_deliveries_total{state=\"SENT\"})";
    eventually("all are posted", [&] { return prometheus.by_sink(sent).size() == 3U; });
    for (const Json& one : row)
        eventually("while all is well it is green: " + one.at("title").get<std::string>(),
                   [&] { return not_green(prometheus, one).empty(); });

    rig.platform().rules(
        {{{"do", "status"}, {"status", 503}, {"path", "^/(github|gitlab)/"}, {"times", -1}}});
    add_all("dead");
    const std::set<std::string> dead{"github", "gitlab"};
    for (const char* title : {"Not posted yet", "Stuck, and why", "Platforms that fail"})
        eventually("it names both dead platforms and no other: " + std::string(title),
                   [&] { return not_green(prometheus, panel(title)) == dead; });
}

BOOST_AUTO_TEST_CASE(a_sink_that_fails_always_has_its_line_and_what_is_parked_is_shown_with_its_reason) {
    const Rig rig("always_failing", 1);
    rig.platform().rules(
        {{{"do", "status"}, {"status", 401}, {"method", "POST"}, {"path", "^/gitlab/"}, {"times", -1}}});
    auto worker = rig.epilogue().worker();
    const Prometheus prometheus(worker);
    eventually("the sink's series are there",
               [&] { return !prometheus.values("epilogue_attempts_total{sink=\"gitlab\"}").empty(); });
    rig.add_callback({"--conversation", "failing", "--processor", "gitlab", "--processor-json",
                      R"({"project": "o/p", "iid": 1, "kind": "issue"})"});
    rig.publish(V0Conversation("failing").user("Go.").agent_finishes("Done.").records());
    const auto shown = [&](const std::string& title) {
        return prometheus.by_sink(panel(title).at("targets").at(0).at("expr"));
    };
    eventually("all of its requests failed", [&] {
        const auto failed = shown("Part of requests that failed").equal_range("gitlab");
        return failed.first != failed.second && failed.first->second == 1;
    });
    eventually("its parked post is stuck", [&] { return shown("Stuck, and why").contains("gitlab"); });
    eventually("it is the platform that fails",
               [&] { return not_green(prometheus, panel("Platforms that fail")).contains("gitlab"); });
}
