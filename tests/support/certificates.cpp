#include "tests/support/certificates.h"

#include <fstream>
#include <stdexcept>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/requirements.h"

namespace epilogue::testing {

Certificates::Certificates() {
    require_programs({"openssl"});
    for (const char* authority : {"ca", "foreign-ca"}) make(authority, "");
    make("server", "ca");
    make("client", "ca");
    make("foreign-client", "foreign-ca");
}

void Certificates::make(const std::string& name, const std::string& authority) const {
    std::vector<std::string> command{"openssl",
                                     "req",
                                     "-x509",
                                     "-newkey",
                                     "rsa:2048",  // MySQL 8.0.15 takes no other
                                     "-nodes",
                                     "-days",
                                     "2",
                                     "-subj",
                                     "/CN=" + name,
                                     "-keyout",
                                     path(name + ".key"),
                                     "-out",
                                     path(name + ".pem")};
    if (!authority.empty())
        for (const std::string& argument :
             {std::string("-CA"), path(authority + ".pem"), std::string("-CAkey"), path(authority + ".key"),
              std::string("-addext"), std::string("subjectAltName=IP:127.0.0.1"), std::string("-addext"),
              std::string("basicConstraints=critical,CA:FALSE")})
            command.push_back(argument);
    constexpr std::chrono::seconds deadline{30};
    const auto done = run({command}, deadline);
    if (done.status != 0) throw std::runtime_error("openssl: " + done.err);
    std::ofstream both(path(name + ".both"));
    both << std::ifstream(path(name + ".key")).rdbuf() << std::ifstream(path(name + ".pem")).rdbuf();
}

}  // namespace epilogue::testing
