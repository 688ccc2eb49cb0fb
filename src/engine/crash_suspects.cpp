#include "engine/crash_suspects.hpp"

#include <algorithm>
#include <cassert>

#include "engine/recovery.hpp"
#include "engine/sending.hpp"
#include "engine/shares.hpp"

namespace engine {

using domain::Status;

namespace {

constexpr std::size_t group_max = 128;

bool has_last_chance(const Context& context, const store::Row& row) {
    return row.schedule.claims + 1 >= CrashSuspects::crashes_max(context, row);
}

bool can_begin(const Context& context, const store::Row& row) {
    return sending::was_sealed(row) ? context.gates.sends_held_until() <= context.now.monotonic
                                    : context.gates.lets_through(row, context.now.monotonic);
}

// Whether it still waits to be begun; otherwise it ended, or was held or begun meanwhile.
bool still_waits(const Context& context, const std::optional<store::Row>& row) {
    return row && !domain::is_terminal(row->status) && row->status != Status::receipt_received &&
           CrashSuspects::is_one(context, *row) && !context.work.contains(row->id.sequence);
}

// Not in a pause, nor a share whose second lies ahead again, since the clock was set back.
bool stands_in_line(const Context& context, const store::Row& row) {
    const bool is_scheduled = row.schedule.lane == store::Lane::schedule;
    return row.schedule.lane == store::Lane::gate ||
           row.schedule.wake <= (is_scheduled ? context.now.wall : context.now.steady);
}

}  // namespace

// What was signed may be on chain, and its nonce is one that others wait behind: it gets more
// chances before it is given up, and does not wait with the suspects until the last of them.
std::uint32_t CrashSuspects::crashes_max(const Context& context, const store::Row& row) {
    constexpr std::uint32_t patience = 3;
    return context.options.crashes_max * (sending::was_sealed(row) ? patience : 1);
}

bool CrashSuspects::is_one(const Context& context, const store::Row& row) {
    return row.schedule.claims >=
           (sending::was_sealed(row) ? crashes_max(context, row) - 1 : claims_min);
}

CrashSuspects::State& CrashSuspects::state() {
    if (!before_) before_ = now_;
    return now_;
}

void CrashSuspects::add(Context& context, const store::Row& row) {
    assert(is_one(context, row));
    recovery::set_aside(context, row);
    state().waiting.push_back(row);
}

bool CrashSuspects::keep_aside(Context& context, const store::Row& row) {
    const std::int64_t sequence = row.id.sequence;
    if (!still_waits(context, row) || now_.running.contains(sequence)) return false;
    if (row.kind == domain::Kind::share && shares::is_over(context, row)) return false;
    const bool is_known =
        std::ranges::any_of(now_.waiting, [&](const store::Row& one) { return one.id == row.id; });
    is_known ? recovery::set_aside(context, row) : add(context, row);
    return true;
}

void CrashSuspects::take_back(Context& context) {
    for (const std::int64_t sequence : std::set(now_.running)) {
        if (context.work.contains(sequence)) continue;
        const std::optional<store::Row> row = context.store.load(sequence);
        const bool waits = still_waits(context, row) && stands_in_line(context, *row);
        if (waits && can_begin(context, *row)) continue;
        state().running.erase(sequence);
        if (!waits) continue;
        context.gates.leave(sequence, domain::family_of(row->kind));
        add(context, *row);
    }
}

void CrashSuspects::release_next(Context& context) {
    take_back(context);
    if (!now_.running.empty()) return;
    for (std::size_t next = 0; next < now_.waiting.size() && now_.running.size() < now_.group;) {
        const store::Row suspect = now_.waiting[next];
        if (!can_begin(context, suspect)) {
            ++next;
            continue;
        }
        const bool runs_alone = has_last_chance(context, suspect);
        if (runs_alone && !now_.running.empty()) break;
        state().waiting.erase(now_.waiting.begin() + static_cast<std::ptrdiff_t>(next));
        const std::optional<store::Row> row = context.store.load(suspect.id.sequence);
        if (!still_waits(context, row) || row->schedule.lane != store::Lane::timer) continue;
        state().running.insert(suspect.id.sequence);
        recovery::enqueue(context, *row);
        if (runs_alone) break;
    }
}

void CrashSuspects::settled(const std::vector<std::int64_t>& sequences) {
    for (const std::int64_t sequence : sequences) {
        if (!now_.running.contains(sequence)) continue;
        state().running.erase(sequence);
        if (now_.running.empty()) now_.group = std::min(now_.group * 2, group_max);
    }
}

void CrashSuspects::keep() {
    before_.reset();
}

void CrashSuspects::undo() {
    if (before_) now_ = *std::move(before_);
    before_.reset();
}

}  // namespace engine
