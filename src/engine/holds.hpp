#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/context.hpp"

// Requests that wait for the operator, because another process may have sent them: the database was
// restored, or the chain is ahead of it. A hold is no status: the row stands where it stood, in the
// lane `timer`, and nothing is done about it; its deadline stands still.
namespace engine::holds {

// At the start: reads what is held, and says so.
void begin(Context& context);
// Reads it again, after a step that was rolled back.
void load(Context& context);
// One line when something is held.
void tell(Context& context);

[[nodiscard]] bool is_held(const Context& context, std::int64_t sequence);

// Nothing happens to the row until it is released. Its place in the queues goes; what is under way
// for it comes to nothing (set_aside).
void hold(Context& context, const store::Row& row);

// A relayer request that waits, and that nothing was signed for.
[[nodiscard]] bool is_unsigned(const store::Row& row);

// Its time to be looked at came up; what was handed out for it was not answered.
void wake(Context& context, const store::Row& row);

// An answer for it came, or it would stand in line: it waits on.
void set_aside(Context& context, const store::Row& row);

// Whether a request that was signed may get another nonce: not when another process may have given
// it one, and not twice. A node that does not know what it took would say for ever that somebody
// else has used the nonce.
[[nodiscard]] bool may_take_another_nonce(Context& context, const store::Row& row);

// Whether it is not known yet if the chain is ahead of what this database knows of the account that
// signed for a request.
[[nodiscard]] bool is_unsettled(Context& context, const store::Row& row);

// They go on where they stood. `begun`: what steps before came to, with which this one goes on;
// nothing: there is more to do.
struct BegunRelease {
    std::size_t next = 0;  // of those that are named
    Released released{};
};
[[nodiscard]] std::optional<Released> release(Context& context, const Release& release,
                                              BegunRelease& begun);

// Every nonce that is given out is kept count of, so that a database that is older than the chain
// knows it; it goes only when the account is looked at and its key is not configured any more.
void remember_nonce(Context& context, const Sealed& sealed);
[[nodiscard]] std::map<std::string, std::uint64_t> known_nonces(store::Store& store);

// Where the cursors stood at the first start since the accounts were settled. A start that is cut
// off before it knows them moves the cursors: the next one must not look from there. What it has
// accepted counts as found, since the file may have been copied again meanwhile.
void remember_start(Context& context);
// The accounts are settled.
void forget_start(Context& context);
// As in Resume. After remember_start().
[[nodiscard]] std::optional<std::uint64_t> look_from(store::Store& store);

// The chain is ahead of what this database knows of the account. `held`: so many requests were held
// for it by steps before. False: there are more, and until all are held nothing may be sealed.
[[nodiscard]] bool apply(Context& context, const AccountFound& event, std::size_t& held);

}  // namespace engine::holds
