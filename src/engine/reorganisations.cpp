#include "engine/reorganisations.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "engine/answers.hpp"
#include "engine/holds.hpp"
#include "engine/sealing.hpp"
#include "engine/sending.hpp"

namespace engine::reorganisations {

using domain::Kind;
using domain::Status;

namespace {

// Before the chain is asked again: for a moment some node may still tell of the replaced block.
constexpr domain::Milliseconds pause{500};
constexpr std::size_t rows_per_look = 2'000;

void log(Context& context, const store::Row& row, const domain::Block& block, const char* action) {
    context.effects.lines.push_back(
        {ports::LogLevel::warning, "request_reorganised job_id=" + to_string(row.id) +
                                       " status=" + std::string(to_string(row.status)) +
                                       " block=" + std::to_string(block.number) + " action=\"" +
                                       action + "\""});
}

// Back to where it was before its receipt; whoever had its id meanwhile is looked at again.
void send_back(Context& context, const store::Row& row, const store::Inclusion& inclusion) {
    store::Schedule schedule;
    schedule.lane = store::Lane::timer;
    schedule.wake = context.now.steady + pause;
    schedule.attempts = static_cast<std::uint32_t>(context.store.attempts(row.id.sequence).size());
    if (!context.store.send_back(row, schedule, context.now.wall)) {
        ++context.stale;
        return;
    }
    if (inclusion.reference) answers::join(context, *inclusion.reference);
}

// Deeper than is looked for, and found by chance: said, not repaired.
void lost(Context& context, const store::Row& row, const domain::Block& block) {
    log(context, row, block, "none: it is deeper than gateway.listener_pool.reorg_depth");
    const bool is_over = row.status == Status::receipt_received && row.schedule.deadline &&
                         context.now.steady >= *row.schedule.deadline;
    if (is_over) answers::time_out(context, row, "its transaction is no longer on the chain");
}

void replaced(Context& context, const store::Inclusion& inclusion) {
    assert(inclusion.block);
    const std::optional<store::Row> row = context.store.load(inclusion.sequence);
    if (row && inclusion.buried) {
        lost(context, *row, *inclusion.block);
        return;
    }
    context.store.exclude(inclusion.sequence);
    if (!row) return;
    if (row->status == Status::receipt_received) {
        log(context, *row, *inclusion.block, "it is looked up and sent again");
        send_back(context, *row, inclusion);
    } else if (domain::is_terminal(row->status)) {
        log(context, *row, *inclusion.block, "its transaction is sent again, its end stays");
        context.repairs[row->id.sequence] = context.now.monotonic + pause;
    }
}

// Each of these: false when there is more of the block. What is done is not found again, or again
// changes nothing.
bool replace_block(Context& context, const domain::Block& block) {
    for (const store::Inclusion& one : context.store.included_in(block)) {
        if (!context.has_room()) return false;
        replaced(context, one);
    }
    return true;
}

bool bury_block(Context& context, const domain::Block& block) {
    while (context.has_room()) {
        if (context.store.bury(block, rows_per_look)) return true;
    }
    return false;
}

bool count_block(Context& context, const domain::Block& block,
                 const std::vector<domain::Block>& standing) {
    for (const store::Inclusion& one : context.store.included_in(block)) {
        if (!context.has_room()) return false;
        answers::count_standing(context, one, standing);
    }
    return true;
}

bool drop_replaced_answers(Context& context, const BlockNews& news) {
    while (context.has_room()) {
        if (context.store.drop_answers(news.replaced, rows_per_look)) return true;
    }
    return false;
}

}  // namespace

bool apply(Context& context, const BlockNews& news, std::size_t& blocks) {
    if (blocks == 0 && !drop_replaced_answers(context, news)) return false;
    const std::size_t buried_from = news.replaced.size();
    const std::size_t standing_from = buried_from + news.buried.size();
    for (; blocks < standing_from + news.standing.size(); ++blocks) {
        const bool is_done =
            blocks < buried_from ? replace_block(context, news.replaced[blocks])
            : blocks < standing_from
                ? bury_block(context, news.buried[blocks - buried_from])
                : count_block(context, news.standing[blocks - standing_from], news.standing);
        if (!is_done) return false;
    }
    return true;
}

void note_inclusion(Context& context, const store::Row& row, const Sent& event) {
    assert(row.kind != Kind::share);
    if (!event.included) {
        // Whoever used its nonce, this request needs it no more.
        if (std::holds_alternative<Rejected>(event.outcome)) {
            context.store.settle_inclusion(row.id.sequence);
        }
        return;
    }
    const auto* receipt = std::get_if<Receipt>(&event.outcome);
    context.store.include({row.id.sequence, event.included->hash, event.included->block,
                           receipt != nullptr ? receipt->reference : std::nullopt, false},
                          event.included->charge);
    context.effects.watched.push_back(event.included->block);
}

void repair_later(Context& context, const store::Row& row, const Unreachable& unreachable) {
    const auto wait =
        std::min(context.options.unreachable_pause.pause(1), context.options.sealed_pause_max);
    context.repairs[row.id.sequence] = context.now.monotonic + std::max(wait, unreachable.hold);
}

void signed_again(Context& context, const store::Row& row, const Sealed& sealed) {
    const std::int64_t id = row.id.sequence;
    context.store.add_attempt(id, sealing::attempt_of(sealed), context.now.wall);
    holds::remember_nonce(context, sealed);
    context.store.include({id, sealed.hash, {}, {}, false});
    context.repairs[id] = context.now.monotonic;
}

void sent_again(Context& context, const store::Row& row, const Sent& event) {
    const std::int64_t id = row.id.sequence;
    if (const auto* unreachable = std::get_if<Unreachable>(&event.outcome)) {
        repair_later(context, row, *unreachable);
    } else if (const auto* reseal = std::get_if<Reseal>(&event.outcome)) {
        if (reseal->another_nonce && holds::is_unsettled(context, row)) {
            repair_later(context, row, Unreachable{"looking whether the chain is ahead"});
            return;
        }
        if (reseal->another_nonce && !holds::may_take_another_nonce(context, row)) {
            // Another process may have brought it to the chain.
            context.repairs.erase(id);
            context.store.settle_inclusion(id);
            return;
        }
        if (sealing::fetch(context, row, reseal->plan)) {
            context.gates.take_sending();
            return;
        }
        signed_again(context, row, context.gateway.seal(row.id, row.kind, reseal->plan));
    } else {
        context.repairs.erase(id);
        note_inclusion(context, row, event);
        if (!event.included) context.store.settle_inclusion(id);
    }
}

void start(Context& context) {
    if (context.gates.sends_held_until() > context.now.monotonic) return;
    for (auto next = context.repairs.begin(); next != context.repairs.end();) {
        const auto [id, when] = *next++;
        if (when > context.now.monotonic || context.work.contains(id)) continue;
        if (!context.has_room()) return;
        const std::optional<store::Row> row = context.store.load(id);
        if (row && sending::send_again(context, *row)) {
            context.gates.take_sending();
        } else {
            context.store.settle_inclusion(id);
            context.repairs.erase(id);
        }
    }
}

std::optional<domain::Monotonic> next_start(const Context& context) {
    std::optional<domain::Monotonic> next;
    for (const auto& [id, when] : context.repairs) {
        if (!context.work.contains(id)) next = std::min(next.value_or(when), when);
    }
    if (next) *next = std::max(*next, context.gates.sends_held_until());
    return next;
}

void rebuild(Context& context) {
    context.repairs.clear();
    for (const store::Inclusion& inclusion : context.store.inclusions()) {
        if (inclusion.block) continue;
        const std::optional<store::Row> row = context.store.load(inclusion.sequence);
        if (!row || !domain::is_terminal(row->status)) continue;
        context.repairs[inclusion.sequence] = context.now.monotonic;
    }
}

std::vector<domain::Block> blocks_at_start(store::Store& store) {
    std::vector<domain::Block> blocks;
    for (const store::Inclusion& inclusion : store.inclusions()) {
        if (!inclusion.block) continue;
        if (!inclusion.buried) blocks.push_back(*inclusion.block);
        if (!inclusion.reference) continue;
        const std::vector<store::HeldAnswer> held = store.held_answers(*inclusion.reference);
        if (held.empty()) continue;
        blocks.push_back(*inclusion.block);
        for (const store::HeldAnswer& answer : held) {
            if (answer.block) blocks.push_back(*answer.block);
        }
    }
    return blocks;
}

}  // namespace engine::reorganisations
