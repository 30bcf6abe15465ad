#include "base/process/place.h"

#include <fstream>

#include <sys/stat.h>

namespace epilogue::process {

std::string place_of_listener(std::uint16_t port) {
    // proc(5): new at each start of the machine; namespaces(7): two processes share a network, and with it
    // its ports, when device and inode are the same.
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    struct stat network {};
    if (boot.empty() || ::stat("/proc/self/ns/net", &network) != 0) return "";
    return boot + "/" + std::to_string(network.st_ino) + "/" + std::to_string(port);
}

}  // namespace epilogue::process
