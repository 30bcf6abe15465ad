// From the configuration to what each part takes.
#pragma once

#include <string>

#include "base/config.h"
#include "base/config_keys.h"
#include "base/egress.h"
#include "base/io/kafka.h"
#include "base/io/mysql.h"
#include "base/process/reloader.h"
#include "sinks/port/transport.h"
#include "sinks/registry.h"
#include "worker/agents/agent_directory.h"
#include "worker/apply/batch.h"
#include "worker/apply/planner.h"
#include "worker/apply/registration.h"
#include "worker/parts.h"
#include "worker/store/store.h"

namespace epilogue {

struct RetentionRules;  // worker/serve/janitor.h has them

MysqlSettings mysql_settings(const Config& config);
/// With a client.id of its own for each call.
KafkaSettings kafka_settings(const Config& config);
/// All sections there are: the core's, the summary sources' and the sinks'.
const ConfigSchema& config_schema();
/// [egress], and the agent servers that the configuration names: a row may name those as well.
std::shared_ptr<const EgressRules> egress_rules(const Config& config);
/// The same for agent servers that rows name; null, which is anywhere, without [egress] guard_agent_urls.
std::shared_ptr<const EgressRules> agent_egress_rules(const Config& config);
/// With the first of [security] keys.
SinkSettings sink_settings(const Config& config);
/// The network; the lines of the `log` processor go to our log, the records of `topic` to [kafka] brokers.
Transport sink_transport(const Config& config);
BatchRules batch_rules(const Config& config);
/// With the name space that `migrate` wrote. Errors: the database's; fatal when it is empty.
Result<Planner> planner_for(const Config& config, Store& store);
/// With deadlines as posts have them: no user waits for the answer.
AgentDirectoryRules agent_directory_rules(const Config& config);
WatchRules watch_rules(const Config& config);
RetentionRules retention_rules(const Config& config);

/// How many partitions a worker works on at the same time; 1 at least.
int appliers(const Config& config);
/// How many threads may use the posts' database sessions at the same time: so many are kept open, since one
/// that is thrown away takes its prepared statements with it.
std::size_t post_sessions(const Config& config);
/// What the parts of the worker `owner` go by.
PartsRules parts_rules(const Config& config, const std::string& owner, const Installation& installation);

/// `now` with what a running worker takes of `next`: the sinks' sections (tokens, budgets), [log],
/// [worker] api_key and [database] password.
Reload reloaded(const Config& now, const Config& next);

/// host:pid:random, unique for each run of a process.
std::string worker_name();

}  // namespace epilogue
