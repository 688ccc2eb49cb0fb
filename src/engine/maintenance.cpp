#include "engine/maintenance.hpp"

#include <algorithm>
#include <string>

#include "engine/shares.hpp"

namespace engine::maintenance {

namespace {

// About a millisecond of writing each: a purge never holds up the step it runs in.
constexpr std::size_t rows_per_piece = 100;
constexpr std::size_t rounds_per_piece = 16;

void alert(Context& context, const store::RoundRow& round) {
    const std::uint64_t unsubmitted = round.failed + round.timed_out;
    if (unsubmitted == 0) return;
    context.effects.lines.push_back(
        {Level::error,
         "round_closed_with_unsubmitted_shares alert=true round_id=" +
             domain::to_hex(round.round_id) + " total=" + std::to_string(round.total) +
             " submitted=" + std::to_string(round.submitted) + " failed=" +
             std::to_string(round.failed) + " pending=" + std::to_string(round.timed_out) +
             " unsubmitted=" + std::to_string(unsubmitted)});
}

bool is_settled(const store::RoundRow& round) {
    return round.submitted + round.failed + round.timed_out == round.total;
}

bool close_rounds(Context& context) {
    const domain::Timestamp last_second = context.now.wall - std::chrono::seconds{1};
    const auto rounds_over = [&] {
        return context.store.rounds_over(last_second, rounds_per_piece);
    };
    const bool more_to_expire = !std::ranges::all_of(rounds_over(), is_settled) &&
                                shares::expire(context, rows_per_piece) == rows_per_piece;
    for (const store::RoundRow& round : rounds_over()) {
        if (!is_settled(round)) continue;  // a proof still runs, or the next piece goes on
        alert(context, round);
        context.store.close_round(round.id);
    }
    return more_to_expire;
}

bool purge(Context& context, store::Lane lane, domain::Milliseconds retention) {
    return context.store.purge(lane, context.now.wall - retention, rows_per_piece) ==
           rows_per_piece;
}

bool purge_ended(Context& context) {
    const RetentionOptions& keep = context.options.retention;
    // Shares go with their round, one second after its end like the round itself.
    bool more = purge(context, store::Lane::ended_share, keep.share + std::chrono::seconds{1});
    if (!keep.expiry_enabled) return more;
    more = purge(context, store::Lane::ended_public_decrypt, keep.public_decrypt) || more;
    more = purge(context, store::Lane::ended_user_decrypt, keep.user_decrypt) || more;
    more = purge(context, store::Lane::ended_input_proof, keep.input_proof) || more;
    return more;
}

// Shares of a request wait for their siblings as long as the request does.
domain::Milliseconds longest_wait_for_answers(const Options& options) {
    return std::max(options.early_answer_lifetime, options.response_timeout.user_decrypt);
}

}  // namespace

bool run_piece(Context& context) {
    bool more = close_rounds(context);
    more = purge_ended(context) || more;
    const auto before = context.now.wall - longest_wait_for_answers(context.options);
    more = context.store.trim_answers(before, rows_per_piece) >= rows_per_piece || more;
    return more;
}

}  // namespace engine::maintenance
