#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "domain/kind.hpp"
#include "domain/request_id.hpp"
#include "store/rows.hpp"

namespace engine {

// What an operator may have done, with one request or with all of a family.

// Ends it as a failure, as long as nothing was signed for it or while it is held.
struct Cancel {
    domain::RequestId id;
    bool share_too = false;  // its secrets go, and it counts as failed
};

// Asks the same anew, with an id of its own: an end is final.
struct Retry {
    domain::RequestId id;
    bool pay_again = false;  // although something was signed for it
};

// Nothing of the family begins any more: what comes in is stored and waits, what is signed goes on.
// Deadlines stand still, but those of vote rounds. Remembered over restarts.
struct Pause {
    domain::Family family = domain::Family::input_proof;
};
// The end of a pause; deadlines move by its length.
struct Unpause {
    domain::Family family = domain::Family::input_proof;
};
// Lets requests go on that are held.
struct Release {
    bool all = false;
    std::vector<domain::RequestId> ids;  // when not all
};
// Kept for the next start, by whoever acts upon it.
struct Remember {
    store::Setting setting;
};

// As it was told to: the request that ended, or the new one; none of a pause.
struct Done {
    domain::RequestId id;
};
// How many go on, and which of those that were named were not held.
struct Released {
    std::uint64_t count = 0;
    std::vector<domain::RequestId> not_held;
};
// The same is asked already, or was answered: nothing was done.
struct AskedAlready {
    domain::RequestId id;
};
// Nothing was done, and why.
struct NotDone {
    std::string reason;
};
struct UnknownRequest {};
// The database takes no writes; nothing was done.
struct NotWritten {};

using InstructionOutcome =
    std::variant<Done, Released, AskedAlready, NotDone, UnknownRequest, NotWritten>;

struct Instruction {
    using What = std::variant<Cancel, Retry, Pause, Unpause, Release, Remember>;
    What what;
    // Told once, after the commit or when there was none. Must be quick.
    std::function<void(const InstructionOutcome&)> reply;
};

// How an operator reaches the engine. Any thread.
class Instructed {
public:
    virtual ~Instructed() = default;
    // Does not wait.
    virtual void instruct(Instruction instruction) = 0;
};

}  // namespace engine
