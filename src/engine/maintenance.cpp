#include "engine/maintenance.hpp"

#include <algorithm>

#include "engine/answers.hpp"
#include "engine/shares.hpp"

namespace engine::maintenance {

namespace {

// About a millisecond of writing: a purge never holds up the step it runs in.
constexpr std::size_t rows_per_batch = 100;

bool purge(Context& context, store::Lane lane, domain::Milliseconds retention) {
    if (!context.has_room()) return true;
    return context.store.purge(lane, context.now.wall - retention, rows_per_batch) ==
           rows_per_batch;
}

bool purge_ended(Context& context) {
    const RetentionOptions& keep = context.options.retention;
    // Shares go with their round, when it is over.
    bool more = purge(context, store::Lane::ended_share, keep.share + shares::last_second);
    if (!keep.expiry_enabled) return more;
    more = purge(context, store::Lane::ended_public_decrypt, keep.public_decrypt) || more;
    more = purge(context, store::Lane::ended_user_decrypt, keep.user_decrypt) || more;
    more = purge(context, store::Lane::ended_input_proof, keep.input_proof) || more;
    const auto longest = std::max({keep.public_decrypt, keep.user_decrypt, keep.input_proof});
    const auto own = context.store.purge_own(context.now.wall - longest, rows_per_batch);
    return own == rows_per_batch || more;
}

// Shares of a request wait for their siblings as long as the request does.
domain::Milliseconds longest_wait_for_answers(const Options& options) {
    return std::max(options.early_answer_lifetime, options.response_timeout.user_decrypt);
}

}  // namespace

bool run_batch(Context& context) {
    bool more = purge_ended(context);
    const auto before = context.now.wall - longest_wait_for_answers(context.options);
    const store::Store::Trimmed trimmed = context.store.trim_answers(before, rows_per_batch);
    if (trimmed.newest_block) answers::note_forgotten(context, *trimmed.newest_block);
    answers::read_forgotten(context);
    return trimmed.answers >= rows_per_batch || more;
}

}  // namespace engine::maintenance
