// The former name of harness/database.h.
#pragma once

#include "tests/integration/harness/database.h"

namespace epilogue::testing {

using MariaDb = Database;

}  // namespace epilogue::testing
