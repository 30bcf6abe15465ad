// Certificates of one test run, made by the openssl program: an authority of ours and a foreign one.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/temp_dir.h"

namespace epilogue::testing {

/// PEM files in a folder of their own: NAME.pem is a certificate, NAME.key its key, NAME.both the two in one.
/// Errors are std::runtime_error; needs openssl: see require_programs().
class Certificates {
  public:
    /// Makes the authorities `ca` and `foreign-ca`, `server` (for 127.0.0.1) and `client` signed by the
    /// first, and `foreign-client` by the second.
    Certificates();
    /// The path of "ca.pem", "client.key", …
    std::string path(const std::string& file) const { return (folder_.path() / file).string(); }

  private:
    void make(const std::string& name, const std::string& authority) const;

    TempDir folder_;
};

}  // namespace epilogue::testing
