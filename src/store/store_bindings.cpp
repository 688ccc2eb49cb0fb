#include <cassert>
#include <limits>

#include "store/store_impl.hpp"

// What is stored for one chain; asked once in the life of a process, so nothing is prepared.
namespace store {

namespace {

std::string unfinished_of(Chain chain) {
    return chain == Chain::votes ? "(lane = 0 or (lane = 2 and kind = 'share'))"
                                 : "(lane = 1 or (lane = 2 and kind <> 'share'))";
}

std::string ended_of(Chain chain) {
    return chain == Chain::votes ? "lane = 11" : "lane in (8, 9, 10)";
}

std::vector<Lane> ended_lanes(Chain chain) {
    if (chain == Chain::votes) return {Lane::ended_share};
    return {Lane::ended_input_proof, Lane::ended_public_decrypt, Lane::ended_user_decrypt};
}

}  // namespace

bool Store::has_ended(Chain chain) {
    Statement statement{impl_->database_,
                        "select 1 from request where " + ended_of(chain) + " limit 1"};
    return statement.next();
}

std::uint64_t Store::count_unfinished(Chain chain) {
    Statement statement{impl_->database_,
                        "select count(*) from request where " + unfinished_of(chain)};
    return statement.next() ? static_cast<std::uint64_t>(statement.integer(0)) : 0;
}

void Store::for_each_sealed(Chain chain, bool ended, const SealedVisitor& visit) {
    Statement statement{impl_->database_,
                        "select attempt.id, sealed from attempt join request using (id) where " +
                            (ended ? ended_of(chain) : unfinished_of(chain)) +
                            " order by attempt.id desc"};
    while (statement.next()) visit(statement.integer(0), statement.blob(1));
}

void Store::forget(const std::vector<std::int64_t>& requests) {
    assert(impl_->in_transaction());
    Statements& statements = impl_->statements_;
    for (const std::int64_t id : requests) {
        statements.purge_keys.with(id).run();
        statements.purge_attempts.with(id).run();
        statements.purge_result.with(id).run();
        statements.wipe_payload.with(id).run();
        statements.purge_request.with(id).run();
    }
    if (!requests.empty()) impl_->file_.note_wiped();
}

std::size_t Store::forget_ended(Chain chain, std::size_t limit) {
    const auto ever = domain::from_unix_ms(std::numeric_limits<std::int64_t>::max());
    std::size_t forgotten = 0;
    for (const Lane lane : ended_lanes(chain)) {
        if (forgotten < limit) forgotten += purge(lane, ever, limit - forgotten);
    }
    return forgotten;
}

std::size_t Store::forget_listening(std::size_t limit) {
    assert(impl_->in_transaction());
    Statement{impl_->database_, "delete from cursor where true"}.run();
    Statement answers{impl_->database_,
                      "delete from answer where position in "
                      "(select position from answer limit ?)"};
    return static_cast<std::size_t>(answers.with(limit).run());
}

}  // namespace store
