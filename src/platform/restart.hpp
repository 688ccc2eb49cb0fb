#pragma once

#include <cstdint>
#include <vector>

#include "base/descriptor.hpp"

namespace platform {

// What a program hands to itself when it begins anew.
struct Handover {
    std::vector<base::Descriptor> sockets;  // they listen on: who connects meanwhile waits
    bool yields = false;                    // it gave up on purpose what it could have at once
    std::uint64_t takeovers = 0;            // so often has it owned a book
};

// What an earlier life of this process left; nothing at its first start. Before the first thread
// and the first child: they do not learn of it.
[[nodiscard]] Handover take_handover();

// Ends everything this program does, however far it is, and begins it anew with the same process
// id, arguments and environment: no thread, lock or connection of it goes on, no child either. Not
// more than these sockets is kept. Any thread; throws std::runtime_error when the system does not
// let it.
[[noreturn]] void restart(const Handover& handover);

}  // namespace platform
