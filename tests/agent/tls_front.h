// TLS before a server that speaks none, with certificates that the test makes itself.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace epilogue::testing {

/// A certificate and its key, as PEM files.
struct Identity {
    std::filesystem::path certificate;
    std::filesystem::path key;
};

/// A certificate authority that only the test knows. Errors are std::runtime_error.
class Authority {
  public:
    Authority();

    /// Its own certificate: a client that trusts it trusts what it issues.
    const std::filesystem::path& certificate() const { return self_.certificate; }
    /// Issues an identity for one name, as X.509 writes it: "DNS:localhost", "IP:127.0.0.1".
    Identity issue(const std::string& name) const;

  private:
    TempDir folder_;
    Identity self_;
};

/// Listens on a free port of 127.0.0.1, ends TLS there, and passes everything on to a port of 127.0.0.1.
class TlsFront {
  public:
    TlsFront(unsigned short target, const Identity& identity);
    ~TlsFront();
    TlsFront(const TlsFront&) = delete;
    TlsFront& operator=(const TlsFront&) = delete;

    unsigned short port() const;
    /// The server name that each client asked for so far; "" for none.
    std::vector<std::string> names() const;

  private:
    class Relay;
    std::unique_ptr<Relay> relay_;
};

}  // namespace epilogue::testing
