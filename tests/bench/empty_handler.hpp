#pragma once

#include <filesystem>

#include "bench/child.hpp"

namespace bench {

// What our HTTP library does when the handler does nothing: a process of its own, like the service.
class EmptyHandler {
public:
    // `bench` is this program.
    EmptyHandler(const std::filesystem::path& bench, const std::filesystem::path& directory);

    [[nodiscard]] int port() const { return port_; }

    // The work of that process; never returns.
    [[noreturn]] static void serve(int port);

private:
    int port_;
    Child child_;
};

}  // namespace bench
