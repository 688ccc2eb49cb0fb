#include "engine/answers.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace engine::answers {

using domain::Bytes;
using domain::Cause;
using domain::Family;
using domain::KmsShare;
using domain::Reason;
using domain::Status;

namespace {

// The stored form of an answer: what it is, then the domain's own encoding.
enum class Tag : std::uint8_t { result = 1, proof_rejected = 2, kms_share = 3 };

Bytes tagged(Tag tag, const Bytes& body) {
    Bytes bytes;
    bytes.reserve(body.size() + 1);
    bytes.push_back(static_cast<std::uint8_t>(tag));
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
}

store::HeldAnswer to_held(const AnswerBody& body) {
    if (const auto* share = std::get_if<KmsShare>(&body)) {
        return {share->index, tagged(Tag::kms_share, domain::encode(*share))};
    }
    if (std::holds_alternative<ProofRejected>(body)) return {0, tagged(Tag::proof_rejected, {})};
    if (const auto* accepted = std::get_if<domain::ProofAccepted>(&body)) {
        return {0, tagged(Tag::result, domain::encode(domain::Result{*accepted}))};
    }
    return {0, tagged(Tag::result,
                      domain::encode(domain::Result{std::get<domain::PublicDecrypted>(body)}))};
}

std::optional<AnswerBody> from_held(const store::HeldAnswer& held) {
    if (held.body.empty()) return std::nullopt;
    const domain::ByteView rest = domain::ByteView{held.body}.subspan(1);
    switch (static_cast<Tag>(held.body.front())) {
        case Tag::proof_rejected:
            return ProofRejected{};
        case Tag::kms_share:
            if (auto share = domain::decode_kms_share(rest)) return std::move(*share);
            return std::nullopt;
        case Tag::result:
            break;
        default:
            return std::nullopt;
    }
    std::optional<domain::Result> result = domain::decode_result(rest);
    if (!result) return std::nullopt;
    if (auto* accepted = std::get_if<domain::ProofAccepted>(&*result)) return std::move(*accepted);
    if (auto* value = std::get_if<domain::PublicDecrypted>(&*result)) return std::move(*value);
    return std::nullopt;
}

void complete(Context& context, const store::Row& row, const domain::Result& result) {
    if (!context.store.complete(row, domain::encode(result), context.now.wall)) ++context.stale;
}

// A single answer settles the request; false when it is none for this kind.
bool settle(Context& context, const store::Row& row, const AnswerBody& body) {
    const Family family = domain::family_of(row.kind);
    if (family == Family::input_proof) {
        if (const auto* accepted = std::get_if<domain::ProofAccepted>(&body)) {
            complete(context, row, *accepted);
            return true;
        }
        if (std::holds_alternative<ProofRejected>(body)) {
            fail(context, row, Status::failure, Cause::rejected,
                 {Reason::proof_rejected, "Proof Rejected", {}});
            return true;
        }
    }
    if (family == Family::public_decrypt) {
        if (const auto* value = std::get_if<domain::PublicDecrypted>(&body)) {
            complete(context, row, *value);
            return true;
        }
    }
    return false;
}

// The first `threshold` shares that came, in order of their index (relayer-api 12.2, D-9).
void settle_shares(Context& context, const store::Row& row, std::vector<KmsShare> shares) {
    const std::size_t threshold = context.options.user_decrypt_shares_threshold;
    if (shares.size() < threshold) return;
    shares.resize(threshold);
    std::sort(shares.begin(), shares.end(),
              [](const KmsShare& a, const KmsShare& b) { return a.index < b.index; });
    complete(context, row, domain::UserDecrypted{std::move(shares)});
}

// Looks whether what is held for a request with a receipt is enough to end it.
void evaluate(Context& context, const store::Row& row, const domain::Bytes32& reference) {
    std::vector<KmsShare> shares;
    bool settled = false;
    for (const store::HeldAnswer& held : context.store.held_answers(reference)) {
        std::optional<AnswerBody> body = from_held(held);
        if (!body) continue;
        if (auto* share = std::get_if<KmsShare>(&*body)) {
            shares.push_back(std::move(*share));
        } else if (!settled) {
            settled = settle(context, row, *body);
        }
    }
    if (domain::family_of(row.kind) == Family::user_decrypt) {
        settle_shares(context, row, std::move(shares));
    }
    const std::optional<store::Row> after = context.store.load(row.id.sequence);
    if (after && domain::is_terminal(after->status)) context.store.drop_answers(reference);
}

bool is_kms_share(const Answer& answer) {
    return std::holds_alternative<KmsShare>(answer.body);
}

}  // namespace

void apply(Context& context, const Answered& event) {
    std::vector<std::pair<store::Row, domain::Bytes32>> to_evaluate;
    for (const Answer& answer : event.answers) {
        const std::optional<store::Row> row = context.store.find_by_reference(answer.reference);
        if (row && row->status != Status::receipt_received) {
            ++context.stale;  // a late share, or the same answer once more
            continue;
        }
        if (row && !is_kms_share(answer) && settle(context, *row, answer.body)) continue;
        context.store.hold_answer(answer.reference, to_held(answer.body), context.now.wall);
        if (row && (to_evaluate.empty() || to_evaluate.back().second != answer.reference)) {
            to_evaluate.emplace_back(*row, answer.reference);
        }
    }
    for (const auto& [row, reference] : to_evaluate) {
        const std::optional<store::Row> current = context.store.load(row.id.sequence);
        if (current && current->status == Status::receipt_received) {
            evaluate(context, *current, reference);
        }
    }
    if (event.cursor > context.store.cursor(event.listener)) {
        context.store.set_cursor(event.listener, event.cursor);
    }
}

void join(Context& context, const domain::Bytes32& reference) {
    const std::optional<store::Row> row = context.store.find_by_reference(reference);
    if (row && row->status == Status::receipt_received) evaluate(context, *row, reference);
}

void expire(Context& context, const store::Row& row) {
    fail(context, row, Status::timed_out, Cause::expired,
         {Reason::response_timed_out,
          "Gateway chain did not respond within the expected timeframe",
          {}});
}

}  // namespace engine::answers
