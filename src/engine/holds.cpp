#include "engine/holds.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/recovery.hpp"
#include "engine/sealing.hpp"
#include "engine/sending.hpp"

namespace engine::holds {

using domain::Milliseconds;
using domain::Status;

namespace {

constexpr std::string_view nonce_mark = "nonce ";
// The first block behind all cursors; 0: there was no cursor.
constexpr std::string_view look_from_mark = "look from";

void later(std::optional<domain::Timestamp>& time, Milliseconds by) {
    if (time) *time += by;
}

// False for one that is not held. `named`: as the operator wrote it.
bool release_one(Context& context, std::int64_t sequence,
                 const std::optional<domain::RequestId>& named) {
    const auto held = context.held.find(sequence);
    if (held == context.held.end()) return false;
    std::optional<store::Row> row = context.store.load(sequence);
    if (row && named && row->id != *named) return false;
    const Milliseconds stood_still =
        std::max(context.now.steady - held->second, Milliseconds::zero());
    context.held.erase(held);
    context.released.insert(sequence);
    context.store.release_hold(sequence);
    if (!row || domain::is_terminal(row->status)) return false;
    later(row->schedule.deadline, stood_still);
    later(row->schedule.unreached_since, stood_still);
    later(row->schedule.refused_since, stood_still);
    // What is still out from before goes on by itself.
    if (!context.work.contains(sequence)) recovery::enqueue(context, *row);
    return true;
}

}  // namespace

void load(Context& context) {
    context.held.clear();
    context.released.clear();
    for (const store::Hold& hold : context.store.holds()) {
        if (hold.released) {
            context.released.insert(hold.sequence);
        } else {
            context.held.emplace(hold.sequence, hold.since);
        }
    }
    context.restored_up_to =
        static_cast<std::int64_t>(context.store.mark(store::restored_mark).value_or(0));
}

void begin(Context& context) {
    load(context);
    context.found_up_to = context.store.last_sequence();
    context.account_found = false;
    context.accounts_unsettled.clear();
    for (const auto& [account, nonce] : known_nonces(context.store)) {
        context.accounts_unsettled.insert(account);
    }
    tell(context);
}

void tell(Context& context) {
    if (context.held.empty()) return;
    context.effects.lines.push_back(
        {ports::LogLevel::error,
         "requests_held alert=true count=" + std::to_string(context.held.size()) +
             " reason=\"another process may have sent them: the database was restored, or the "
             "chain is ahead of it\" hint=\"see on the chain which were sent; posthouse release "
             "ID… or --all sends them, posthouse cancel ID… ends them\""});
}

bool is_held(const Context& context, std::int64_t sequence) {
    return context.held.contains(sequence);
}

void hold(Context& context, const store::Row& row) {
    assert(row.kind != domain::Kind::share && !domain::is_terminal(row.status));
    context.store.hold(row.id.sequence, context.now.steady);
    context.held.emplace(row.id.sequence, context.now.steady);
    context.released.erase(row.id.sequence);
    context.gates.leave(row.id.sequence, domain::family_of(row.kind));
    context.effects.settled.push_back(row.id.sequence);
    // What is out comes back, and is set aside then.
    if (!context.work.contains(row.id.sequence)) set_aside(context, row);
}

bool is_unsigned(const store::Row& row) {
    return row.kind != domain::Kind::share && !sending::was_sealed(row) &&
           (row.status == Status::queued || row.status == Status::processing);
}

void set_aside(Context& context, const store::Row& row) {
    assert(is_held(context, row.id.sequence));
    store::Schedule schedule = row.schedule;
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.steady + second_look;
    schedule.claims = 0;
    if (!context.store.reschedule(row, row.status, schedule)) ++context.stale;
}

void wake(Context& context, const store::Row& row) {
    const domain::Family family = domain::family_of(row.kind);
    if (context.work.end(row.id.sequence, Task::check)) context.gates.give_back_check(family);
    if (sealing::end(context, row)) context.gates.give_back_sending();
    for (const Task task : {Task::prepare, Task::send, Task::rest}) {
        if (context.work.end(row.id.sequence, task)) context.gates.give_back_sending();
    }
    set_aside(context, row);
}

bool may_take_another_nonce(Context& context, const store::Row& row) {
    if (context.released.contains(row.id.sequence)) return true;
    if (row.id.sequence <= context.restored_up_to) return false;
    const std::vector<store::Attempt> attempts = context.store.attempts(row.id.sequence);
    return std::ranges::adjacent_find(attempts, std::ranges::not_equal_to{},
                                      &store::Attempt::nonce) == attempts.end();
}

bool is_unsettled(Context& context, const store::Row& row) {
    if (context.accounts_unsettled.empty()) return false;
    const std::vector<store::Attempt> attempts = context.store.attempts(row.id.sequence);
    if (attempts.empty() || attempts.back().account.empty()) return !context.account_found;
    return context.accounts_unsettled.contains(attempts.back().account);
}

std::optional<Released> release(Context& context, const Release& release, BegunRelease& begun) {
    Released& released = begun.released;
    if (release.all) {
        std::vector<std::int64_t> sequences;
        sequences.reserve(context.held.size());
        for (const auto& [sequence, since] : context.held) sequences.push_back(sequence);
        for (const std::int64_t sequence : sequences) {
            if (!context.has_room()) return std::nullopt;
            if (release_one(context, sequence, std::nullopt)) ++released.count;
        }
        return released;
    }
    for (; begun.next < release.ids.size(); ++begun.next) {
        if (!context.has_room()) return std::nullopt;
        const domain::RequestId& id = release.ids[begun.next];
        if (release_one(context, id.sequence, id)) {
            ++released.count;
        } else {
            released.not_held.push_back(id);
        }
    }
    return released;
}

void remember_nonce(Context& context, const Sealed& sealed) {
    if (sealed.account.empty()) return;
    const std::string mark = std::string(nonce_mark) + sealed.account;
    if (context.store.mark(mark).value_or(0) > sealed.nonce) return;
    context.store.set_mark(mark, sealed.nonce + 1);
}

std::map<std::string, std::uint64_t> known_nonces(store::Store& store) {
    std::map<std::string, std::uint64_t> nonces;
    for (const auto& [name, value] : store.marks()) {
        if (name.starts_with(nonce_mark)) nonces.emplace(name.substr(nonce_mark.size()), value);
    }
    return nonces;
}

void remember_start(Context& context) {
    if (context.store.mark(look_from_mark)) return;
    std::uint64_t from = 0;
    // Also of listeners that are not configured any more: when it was read, the block was there.
    for (const auto& [listener, cursor] : context.store.cursors()) {
        from = std::max(from, cursor + 1);
    }
    context.store.set_mark(look_from_mark, from);
}

void forget_start(Context& context) {
    context.store.drop_mark(look_from_mark);
}

std::optional<std::uint64_t> look_from(store::Store& store) {
    const std::uint64_t from = store.mark(look_from_mark).value_or(0);
    return from > 0 ? std::optional{from} : std::nullopt;
}

namespace {

// What was there when the process began, and nothing was signed for; what was signed gets no other
// nonce. What came since nobody else can have. False: there are more.
bool hold_unsigned(Context& context, std::size_t& count) {
    for (const store::Lane lane : {store::Lane::gate, store::Lane::timer}) {
        for (const store::Row& row : context.store.standing_in(lane)) {
            const bool is_new = row.id.sequence > context.found_up_to;
            if (is_new || !is_unsigned(row) || is_held(context, row.id.sequence)) continue;
            if (!context.has_room()) return false;
            hold(context, row);
            ++count;
        }
    }
    context.restored_up_to = std::max(context.restored_up_to, context.found_up_to);
    context.store.set_mark(store::restored_mark,
                           static_cast<std::uint64_t>(context.restored_up_to));
    return true;
}

}  // namespace

// The nonce that is known now is written with the last of those that are held: a process that is
// cut off before finds that the chain is ahead once more.
bool apply(Context& context, const AccountFound& event, std::size_t& held) {
    if (event.sent_by_others && !hold_unsigned(context, held)) return false;
    const std::string mark = std::string(nonce_mark) + event.account;
    context.accounts_unsettled.erase(event.account);
    const std::uint64_t known = context.store.mark(mark).value_or(0);
    if (event.retired) {
        // A node that knows less than we do has not told what the key sent since.
        if (event.count >= known) context.store.drop_mark(mark);
    } else {
        context.account_found = true;
        context.store.set_mark(mark, std::max(known, event.count));
    }
    if (!event.sent_by_others) return true;
    context.effects.lines.push_back(
        {ports::LogLevel::warning,
         "chain_is_ahead account=" + event.account + " count=" + std::to_string(event.count) +
             " known=" + std::to_string(known) + " held=" + std::to_string(held) +
             " reason=\"transactions of this account that this database does not know called our "
             "contracts\""});
    tell(context);
    return true;
}

}  // namespace engine::holds
