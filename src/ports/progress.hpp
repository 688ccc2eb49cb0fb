#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace ports {

// How far a long piece of work is.
struct Done {
    std::string_view what;  // the part of it that goes on
    std::uint64_t done = 0;
    std::uint64_t total = 0;  // 0: not known
    std::string_view note{};  // what to say in the place of the rate; empty: the rate
};

// Called often, on the thread that works. What it throws ends the work.
using Progress = std::function<void(const Done&)>;

}  // namespace ports
