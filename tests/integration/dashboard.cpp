// The dashboard's queries on a real Prometheus that scrapes a real run: each returns data.
#define BOOST_TEST_MODULE dashboard
#include <cmath>
#include <fstream>
#include <iomanip>
#include <sstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
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

/// Debian's Prometheus, which scrapes one worker twice a second, as job `epilogue`.
class Prometheus {
  public:
    explicit Prometheus(const WorkerProcess& worker) : port_(free_port()) {
        const auto config = folder_.path() / "prometheus.yml";
        const auto target = worker.url().substr(std::string("http://").size());
        std::ofstream(config) << "global: {scrape_interval: 500ms, scrape_timeout: 400ms}\n"
                              << "scrape_configs:\n  - job_name: epilogue\n"
                              << "    static_configs: [{targets: [\"" << target << "\"]}]\n";
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
        const auto answer = get("/api/v1/query?query=" + percent_encoded(query));
        if (answer.status != 200) throw std::runtime_error(query + ": " + answer.body);
        std::vector<double> values;
        const Json told = Json::parse(answer.body);
        for (const Json& series : told.at("data").at("result")) {
            const double value = std::stod(series.at("value").at(1).get<std::string>());
            if (!std::isnan(value)) values.push_back(value);
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

/// Every query of the dashboard, by the panel's title; a rate's window as Grafana chooses it.
std::multimap<std::string, std::string> queries() {
    std::ifstream file(EPILOGUE_SOURCE_DIR "/ops/grafana/dashboards/epilogue.json");
    std::multimap<std::string, std::string> all;
    const Json dashboard = Json::parse(file);
    for (const Json& panel : dashboard.at("panels"))
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
    const Rig rig("dashboard", 2);
    rig.platform().rules(
        {{{"do", "status"}, {"status", 403}, {"method", "POST"}, {"path", "/o/parked/"}, {"times", -1}},
         {{"do", "apply_then_reset"}, {"method", "POST"}, {"path", "/o/lost/"}, {"times", -1}}});
    auto worker = rig.epilogue().worker();
    const Prometheus prometheus(worker);
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
    tell(rig, "second");

    const auto all = queries();
    BOOST_TEST(all.size() > 20U);
    for (const auto& [title, query] : all)
        eventually("the panel \"" + title + "\" has data: " + query,
                   [&] { return !prometheus.values(query).empty(); });
    BOOST_TEST(prometheus.values("epilogue_ready") == std::vector<double>{1},
               boost::test_tools::per_element());
    BOOST_TEST(prometheus.values("epilogue_parked{sink=\"github\",why=\"credential\"}").size() == 1U);
}
