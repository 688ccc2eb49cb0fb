#include "engine/share_log.hpp"

#include <cassert>
#include <utility>

#include "base/sanitize.hpp"
#include "base/urls.hpp"

namespace engine::shares {

namespace {

void write(Context& context, ports::LogLevel level, std::string text) {
    context.effects.lines.push_back({level, std::move(text)});
}

std::string name_of(Context& context, const store::Row& row) {
    const std::optional<domain::VoteShare> share = stored_share(context, row);
    if (!share) return " job_id=" + to_string(row.id);
    return " round_id=" + domain::to_hex(share->round_id) +
           " share_index=" + std::to_string(share->share_index);
}

// What others said, as one value that ends where it ends. Control characters are the log's.
std::string quoted(const std::string& text) {
    return base::log_value(base::redact_urls(text));
}

}  // namespace

std::optional<domain::VoteShare> stored_share(Context& context, const store::Row& row) {
    assert(row.kind == domain::Kind::share);
    const std::optional<domain::Bytes> payload = context.store.payload(row.id.sequence);
    std::optional<domain::Request> request;
    if (payload) request = domain::decode_request(*payload);
    auto* share = request ? std::get_if<domain::VoteShare>(&*request) : nullptr;
    if (share == nullptr) return std::nullopt;
    return *share;
}

void note_started(Context& context, std::size_t count) {
    if (count == 0 || !context.options.shares.expose_timing) return;
    write(context, ports::LogLevel::info,
          "shares_started count=" + std::to_string(count) +
              " max_concurrent=" + std::to_string(context.options.shares.max_concurrent_proofs));
}

void note_revealed(Context& context, const store::Row& row, const domain::ShareRevealed& revealed) {
    if (!context.options.shares.expose_timing) return;
    write(
        context, ports::LogLevel::info,
        (revealed.already ? "share_already_revealed" : "share_submitted") + name_of(context, row));
}

void note_failed_attempt(Context& context, const store::Row& row, const std::string& reason) {
    write(context, ports::LogLevel::warning,
          "share_attempt_failed" + name_of(context, row) +
              " attempt=" + std::to_string(row.schedule.attempts) + " attempts_max=" +
              std::to_string(context.options.shares.attempts_max) + " reason=" + quoted(reason));
    if (row.schedule.attempts < context.options.shares.attempts_max) return;
    write(context, ports::LogLevel::error,
          "share_given_up" + name_of(context, row) +
              " hint=\"its secrets are wiped: it can not be tried again\"");
}

void note_unreachable(Context& context, const store::Row& row, const std::string& reason) {
    write(context, ports::LogLevel::warning,
          "share_waits" + name_of(context, row) + " reason=" + quoted(reason) +
              " action=\"tried again without spending an attempt\"");
}

void note_lost(Context& context, const store::Row& row) {
    write(context, ports::LogLevel::warning,
          "share_lost" + name_of(context, row) +
              " reason=\"the chain took it and has no record of it\" action=\"proved and sent "
              "again without spending an attempt\"");
}

void note_unconfirmable(Context& context, const std::string& reason) {
    write(context, ports::LogLevel::warning,
          "share_look_ups_fail reason=" + quoted(reason) +
              " action=\"shares wait for their confirmation until the end of their round\" "
              "hint=\"see helper.nullifier_url\"");
}

void note_end(Context& context, const store::Row& row, const domain::Failure& failure) {
    using domain::Reason;
    // The last attempt, and the alert of the round, say it already.
    if (failure.reason == Reason::attempts_used_up || failure.reason == Reason::round_over) return;
    write(context, ports::LogLevel::warning,
          "share_failed job_id=" + to_string(row.id) + " reason=" +
              std::string(to_string(failure.reason)) + " text=" + quoted(failure.text));
}

}  // namespace engine::shares
