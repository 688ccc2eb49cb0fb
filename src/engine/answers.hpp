#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/context.hpp"

// The third way forward: the chain's answers complete requests (relayer-api 3.3, 12).
namespace engine::answers {

// How long a request waits for its answer, from its receipt on.
[[nodiscard]] domain::Milliseconds timeout(const Context& context, domain::Family family);

// Now and then: deadlines stand still while the gateway hears no answers, and for two minutes after
// it does again, or after a start: what is there already comes first.
void note_listening(Context& context);

// Applies a batch, and with the last of it moves the cursor in the same commit. `applied`: so many
// of them steps before have applied. False: there are more.
[[nodiscard]] bool apply(Context& context, const Answered& event, std::size_t& applied);

// The request with this reference has its receipt now: answers that were early take effect. Where
// some may have been forgotten, read_forgotten() asks for them.
void join(Context& context, const domain::Bytes32& reference);

// Answers nobody claimed were forgotten, of blocks up to this one.
void note_forgotten(Context& context, std::uint64_t block);
// Has the chain read again for those who have their receipt since the last time.
void read_forgotten(Context& context);
// At start: for all who wait for answers.
void reload_forgotten(Context& context);

// A block with transactions of requests is on the chain together with these: what they hold of the
// answers counts.
void count_standing(Context& context, const store::Inclusion& inclusion,
                    const std::vector<domain::Block>& standing);

// No answer came in time; `why`: what is known of it, if anything.
void time_out(Context& context, const store::Row& row, const std::string& why = {});

// A receipt whose deadline passed, or whose shares wait until their threshold is known.
void wake(Context& context, const store::Row& row);

}  // namespace engine::answers
