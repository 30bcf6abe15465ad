// Every command of docker-compose.yml does its work, as a plain process, on a real broker and a real
// database: tests/stack/run_commands is the judge, this file brings the servers.
#define BOOST_TEST_MODULE stack_commands
#include <chrono>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "tests/support/database.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/process.h"
#include "tests/support/requirements.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

const std::string stack = EPILOGUE_SOURCE_DIR "/tests/stack/";
const std::string binary = EPILOGUE_BINARY_DIR "/";

/// Runs them all on a broker of their own; `database` says which database they are to use.
void run_commands(const std::vector<std::string>& database) {
    require_programs({"java", "mvn", "mariadbd", "mysql"});
    const KafkaBroker broker;
    Command command{.argv = {binary + "stack-venv/bin/python", stack + "run_commands", EPILOGUE_EXECUTABLE,
                             "--kafka", broker.bootstrap(), "--kafka-libs", broker.libs(), "--prometheus",
                             binary + "prometheus/bin/prometheus"}};
    command.argv.insert(command.argv.end(), database.begin(), database.end());
    const auto done = run(command, 240s);
    BOOST_TEST(done.status == 0, done.out + done.err);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_command_does_its_work_with_mariadb_in_place_of_mysql) {
    const Database server(DatabaseKind::mariadb);
    server.create_database("epilogue");
    run_commands({"--database", "127.0.0.1:" + std::to_string(server.port()), "--user", server.user(),
                  "--password", server.password(), "--name", "epilogue"});
}

#if defined(__x86_64__)  // Maven Central has a MySQL for no other processor
BOOST_AUTO_TEST_CASE(every_command_does_its_work_with_the_stacks_own_mysql_8) {
    run_commands({"--mysql", binary + "mysql-8.0"});
}
#endif
