#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "domain/retry_after.hpp"
#include "engine/options.hpp"
#include "store/rows.hpp"

namespace engine {

// What an administrator may change while the process runs (relayer-api 6).
struct Tuning {
    domain::RetryAfterOptions retry_after;
    PerRelayerFamily<std::uint32_t> per_seconds;  // transactions

    bool operator==(const Tuning&) const = default;
};

[[nodiscard]] Tuning tuning_of(const Options& options);

// A new tuning, with what of it is to be remembered over restarts.
struct Retune {
    Tuning tuning;
    std::vector<store::Setting> remember;
    std::vector<std::string> forget;  // names
    // Told once, after the commit or when there was none (false). Must be quick.
    std::function<void(bool stored)> reply;
};

// How an administrator reaches the engine. Any thread.
class Control {
public:
    virtual ~Control() = default;
    // What is in force now.
    [[nodiscard]] virtual Tuning tuning() const = 0;
    // Does not wait: the whole change takes effect with its commit, or none of it does.
    virtual void retune(Retune change) = 0;
};

}  // namespace engine
