#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "commands/drill/judge.hpp"
#include "commands/drill/notebook.hpp"
#include "net/client.hpp"

namespace commands::drill {

// Lets so much time pass; what it throws ends the drill.
using Wait = std::function<void(std::chrono::milliseconds)>;

// What was said to a POST.
struct Reply {
    enum class Kind {
        promised,
        later,    // 429 or 503
        refused,  // anything else
        nothing,  // the connection broke, or no answer came in time
    };
    Kind kind = Kind::nothing;
    domain::RequestId job;   // promised; shares have none
    bool duplicate = false;  // a share that is known
    std::string text;        // refused: what was said
};

// Any thread.
[[nodiscard]] Reply post(net::Client& client, std::uint64_t seed, const Wish& wish);

// How long nothing may come forward before what is left counts as it stands.
inline constexpr std::chrono::seconds standstill{60};

struct Patience {
    std::chrono::seconds any = standstill;
    std::chrono::seconds waiting = standstill;  // when all that is left waits for the chain
};

// Asks for every promise until it has ended; the answers in the same order. Gives up at a
// standstill.
[[nodiscard]] std::vector<FinalAnswer> ask_until_ended(net::Client& client, std::uint64_t seed,
                                                       const std::vector<Promise>& promises,
                                                       const Wait& wait,
                                                       const Patience& patience = {});

}  // namespace commands::drill
