#include "engine/answers.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/extra_data.hpp"

namespace engine::answers {

using domain::Bytes;
using domain::Cause;
using domain::Family;
using domain::KmsShare;
using domain::Reason;
using domain::Status;

namespace {

// Until the threshold of a share's context may have been looked up, and until one that was not
// reached may have been lowered.
constexpr domain::Milliseconds unknown_pause{1'000};
constexpr domain::Milliseconds changed_pause{30'000};
// Until the next step, which has room again.
constexpr domain::Milliseconds at_once_pause{1};

// The newest block with an answer that was forgotten before anybody claimed it.
constexpr std::string_view forgotten_mark = "answers forgotten";

// How long a deadline waits for word of the transaction.
constexpr domain::Milliseconds last_look{2'000};
// What is on the chain already is read within this time.
constexpr domain::Milliseconds listening_min{std::chrono::minutes{2}};

// Where ThresholdReached is held; no share has such an index (evm-gateway 3.4).
constexpr std::uint32_t threshold_slot = 0x80000000;

// The stored form of an answer: what it is, then the domain's own encoding.
enum class Tag : std::uint8_t {
    result = 1,
    proof_rejected = 2,
    kms_share = 3,
    threshold_reached = 4,
    too_large = 5  // in the place of an answer that no row can hold
};

Bytes tagged(Tag tag, const Bytes& body) {
    Bytes bytes;
    bytes.reserve(body.size() + 1);
    bytes.push_back(static_cast<std::uint8_t>(tag));
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
}

Bytes encode(const ThresholdReached& reached) {
    Bytes bytes;
    domain::append_big_endian(bytes, reached.count, sizeof(reached.count));
    domain::append_big_endian(bytes, reached.block, sizeof(reached.block));
    return bytes;
}

std::optional<ThresholdReached> decode_threshold_reached(domain::ByteView bytes) {
    constexpr std::size_t count_bytes = 4;
    if (bytes.size() != count_bytes + 8) return std::nullopt;
    ThresholdReached reached;
    for (const std::uint8_t byte : bytes.first(count_bytes)) {
        reached.count = reached.count << 8U | byte;
    }
    for (const std::uint8_t byte : bytes.subspan(count_bytes)) {
        reached.block = reached.block << 8U | byte;
    }
    if (reached.count == 0) return std::nullopt;
    return reached;
}

store::HeldAnswer held_form(const AnswerBody& body) {
    if (const auto* share = std::get_if<KmsShare>(&body)) {
        return {share->index, tagged(Tag::kms_share, domain::encode(*share))};
    }
    if (const auto* reached = std::get_if<ThresholdReached>(&body)) {
        return {threshold_slot, tagged(Tag::threshold_reached, encode(*reached))};
    }
    if (std::holds_alternative<ProofRejected>(body)) return {0, tagged(Tag::proof_rejected, {})};
    if (const auto* accepted = std::get_if<domain::ProofAccepted>(&body)) {
        return {0, tagged(Tag::result, domain::encode(domain::Result{*accepted}))};
    }
    return {0, tagged(Tag::result,
                      domain::encode(domain::Result{std::get<domain::PublicDecrypted>(body)}))};
}

store::HeldAnswer to_held(const Context& context, const Answer& answer) {
    store::HeldAnswer held = held_form(answer.body);
    if (held.body.size() > context.store.value_bytes_max()) held.body = tagged(Tag::too_large, {});
    held.block = answer.block;
    return held;
}

bool is_too_large(const store::HeldAnswer& held) {
    return !held.body.empty() && held.body.front() == static_cast<std::uint8_t>(Tag::too_large);
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
        case Tag::threshold_reached:
            if (const auto reached = decode_threshold_reached(rest)) return *reached;
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

// What the chain says is final, and nothing can be served of it.
void fail_as_too_large(Context& context, const store::Row& row) {
    fail(context, row, Status::failure, Cause::internal,
         {Reason::internal_error,
          internal_text(row.kind, "The answer of the chain is larger than " +
                                      std::to_string(context.store.value_bytes_max()) +
                                      " bytes, the most that can be stored"),
          {}});
}

void complete(Context& context, const store::Row& row, const domain::Result& result) {
    assert(row.status == Status::receipt_received && row.kind != domain::Kind::share);
    const Bytes encoded = domain::encode(result);
    if (encoded.size() > context.store.value_bytes_max()) return fail_as_too_large(context, row);
    if (!context.store.complete(row, encoded, context.now.wall)) {
        ++context.stale;
        return;
    }
    log_end(context, row, Status::completed);
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

// The threshold that the shares reach, or whether one of them has one that is not known yet. The
// first share whose context has a small enough threshold decides (relayer-api 12.1: any share that
// comes is measured by its own).
struct Reached {
    std::optional<std::size_t> threshold;
    bool has_unknown = false;
    bool has_looked_up = false;
};

Reached reached_by(Context& context, const std::vector<KmsShare>& shares) {
    const std::uint32_t configured = context.options.user_decrypt_shares_threshold;
    Reached reached;
    std::vector<domain::Bytes32> asked;
    for (const KmsShare& share : shares) {
        const auto kms_context = domain::kms_context_of(share.extra_data);
        if (!kms_context) continue;
        std::optional<std::uint32_t> threshold = configured;
        if (kms_context->id) {
            if (std::ranges::find(asked, *kms_context->id) != asked.end()) continue;
            asked.push_back(*kms_context->id);
            reached.has_looked_up = true;
            threshold = context.gateway.share_threshold(*kms_context->id, configured);
        }
        if (!threshold) {
            reached.has_unknown = true;
        } else if (shares.size() >= *threshold) {
            reached.threshold = *threshold;
            break;
        }
    }
    return reached;
}

// Nobody is late for what nobody listened to. What got its receipt since then is not put off.
domain::Timestamp deadline_of(const Context& context, const store::Row& row) {
    assert(row.schedule.deadline);
    return std::max(*row.schedule.deadline,
                    context.listening_since +
                        std::min(listening_min, timeout(context, domain::family_of(row.kind))));
}

// Looks again before the deadline.
void look_again(Context& context, const store::Row& row, domain::Milliseconds pause) {
    assert(row.status == Status::receipt_received && pause > domain::Milliseconds::zero());
    store::Schedule schedule = row.schedule;
    schedule.wake = context.now.steady + pause;
    if (schedule.deadline) schedule.wake = std::min(schedule.wake, deadline_of(context, row));
    if (!context.store.reschedule(row, Status::receipt_received, schedule)) ++context.stale;
}

void complete(Context& context, const store::Row& row, std::vector<KmsShare> shares) {
    std::sort(shares.begin(), shares.end(),
              [](const KmsShare& a, const KmsShare& b) { return a.index < b.index; });
    complete(context, row, domain::UserDecrypted{std::move(shares)});
}

// The chain counted them: exactly these complete it. False when one is missing: a node left it out
// (relayer-api 12.1).
bool settle_announced(Context& context, const store::Row& row, std::vector<KmsShare> shares,
                      const ThresholdReached& announced) {
    std::erase_if(shares, [&](const KmsShare& share) { return share.index >= announced.count; });
    if (shares.size() == announced.count) {
        complete(context, row, std::move(shares));
        return true;
    }
    context.gateway.read_again(announced.block);
    look_again(context, row, changed_pause);
    return false;
}

// The first `threshold` shares that came, in order of their index (relayer-api 12.2, D-9).
void settle_shares(Context& context, const store::Row& row, std::vector<KmsShare> shares) {
    if (shares.empty()) return;
    if (context.gateway.announces_thresholds()) {
        look_again(context, row, changed_pause);  // it may turn out that it does not
        return;
    }
    const Reached reached = reached_by(context, shares);
    if (!reached.threshold) {
        if (reached.has_looked_up) {
            look_again(context, row, reached.has_unknown ? unknown_pause : changed_pause);
        }
        return;
    }
    assert(*reached.threshold <= shares.size());
    shares.resize(*reached.threshold);
    complete(context, row, std::move(shares));
}

// Ends the request if these are enough.
void count(Context& context, const store::Row& row, const domain::Bytes32& reference,
           const std::vector<store::HeldAnswer>& answers) {
    std::vector<KmsShare> shares;
    std::optional<ThresholdReached> announced;
    bool settled = false;
    std::optional<std::uint32_t> too_large;  // the first slot
    for (const store::HeldAnswer& held : answers) {
        if (is_too_large(held)) too_large = std::min(too_large.value_or(held.slot), held.slot);
        std::optional<AnswerBody> body = from_held(held);
        if (!body) continue;
        if (auto* share = std::get_if<KmsShare>(&*body)) {
            shares.push_back(std::move(*share));
        } else if (const auto* reached = std::get_if<ThresholdReached>(&*body)) {
            announced = *reached;
        } else if (!settled) {
            settled = settle(context, row, *body);
        }
    }
    const bool is_user_decrypt = domain::family_of(row.kind) == Family::user_decrypt;
    // Of shares only the chain knows whether others are enough.
    const bool is_lost = is_user_decrypt ? announced && too_large && *too_large < announced->count
                                         : too_large.has_value() && !settled;
    if (is_lost) {
        fail_as_too_large(context, row);
    } else if (is_user_decrypt) {
        if (!announced || !settle_announced(context, row, shares, *announced)) {
            settle_shares(context, row, std::move(shares));
        }
    }
    const std::optional<store::Row> after = context.store.load(row.id.sequence);
    if (after && domain::is_terminal(after->status)) context.store.drop_answers(reference);
}

// Whether an answer can be of a request that was included there.
bool may_follow(const store::HeldAnswer& answer, const domain::Block& receipt) {
    if (!answer.block || *answer.block == receipt) return true;
    return answer.block->number > receipt.number;
}

// Looks whether what is held for a request with a receipt is enough to end it. Where blocks can be
// replaced the chain is asked first whether answers and receipt stand on it together.
void evaluate(Context& context, const store::Row& row, const domain::Bytes32& reference) {
    std::vector<store::HeldAnswer> held = context.store.held_answers(reference);
    const std::optional<store::Inclusion> inclusion = context.store.inclusion(row.id.sequence);
    if (!inclusion || !inclusion->block) {
        count(context, row, reference, held);
        return;
    }
    std::erase_if(held, [&](const auto& one) { return !may_follow(one, *inclusion->block); });
    if (held.empty()) return;
    context.effects.watched.push_back(*inclusion->block);
    for (const store::HeldAnswer& one : held) {
        if (one.block) context.effects.watched.push_back(*one.block);
    }
}

bool is_kms_share(const Answer& answer) {
    return std::holds_alternative<KmsShare>(answer.body);
}

// A share of a context that can not be read counts for nobody (relayer-api 12.1).
bool is_worthless(const Answer& answer) {
    const auto* share = std::get_if<KmsShare>(&answer.body);
    return share != nullptr && !domain::kms_context_of(share->extra_data);
}

// The request an answer is for. One that ended may have had its id on blocks that were replaced
// since, or has another one there now.
std::optional<store::Row> find_row(Context& context, const domain::Bytes32& reference) {
    std::optional<store::Row> row = context.store.find_by_reference(reference);
    if (row && domain::is_terminal(row->status)) {
        const auto inclusion = context.store.inclusion(row->id.sequence);
        if (inclusion && inclusion->reference != reference) row.reset();
    }
    if (!row) {
        if (const auto id = context.store.find_included(reference)) row = context.store.load(*id);
    }
    return row;
}

bool has_share(const domain::UserDecrypted& served, const KmsShare& share) {
    const auto same = std::ranges::find(served.shares, share.index, &KmsShare::index);
    return same == served.shares.end() || domain::encode(*same) == domain::encode(share);
}

// What is served stays, also when the chain says something else after it was reorganised.
void note_other_answer(Context& context, const store::Row& row, const Answer& answer) {
    if (row.status != Status::completed || row.kind == domain::Kind::share || !answer.block) return;
    if (std::holds_alternative<ThresholdReached>(answer.body)) return;
    if (!context.store.inclusion(row.id.sequence)) return;
    const auto stored = context.store.result(row.id.sequence);
    const auto served = stored ? domain::decode_result(*stored) : std::nullopt;
    if (!served) return;
    const auto* shares = std::get_if<domain::UserDecrypted>(&*served);
    const auto* share = std::get_if<KmsShare>(&answer.body);
    const bool same = shares != nullptr && share != nullptr
                          ? has_share(*shares, *share)
                          : held_form(answer.body).body == tagged(Tag::result, *stored);
    if (same) return;
    ++context.effects.answers_reorganised;
    context.effects.lines.push_back(
        {ports::LogLevel::warning, "answer_reorganised job_id=" + to_string(row.id) +
                                       " block=" + std::to_string(answer.block->number) +
                                       " action=\"what was answered first is served\""});
}

// The answers of this request may be among those that were forgotten.
void want_forgotten(Context& context, const store::Inclusion& inclusion, std::uint64_t forgotten) {
    if (!inclusion.block || inclusion.block->number > forgotten) return;
    const std::uint64_t block = inclusion.block->number;
    context.forgotten_from = std::min(context.forgotten_from.value_or(block), block);
}

}  // namespace

domain::Milliseconds timeout(const Context& context, Family family) {
    const auto& timeouts = context.options.response_timeout;
    switch (family) {
        case Family::input_proof:
            return timeouts.input_proof;
        case Family::public_decrypt:
            return timeouts.public_decrypt;
        default:
            return timeouts.user_decrypt;
    }
}

bool apply(Context& context, const Answered& event, std::size_t& applied) {
    std::vector<std::pair<store::Row, domain::Bytes32>> to_evaluate;
    const auto forgotten = context.store.mark(forgotten_mark);
    for (; applied < event.answers.size() && context.has_room(); ++applied) {
        const Answer& answer = event.answers[applied];
        if (is_worthless(answer)) continue;
        const std::optional<store::Row> row = find_row(context, answer.reference);
        // It is read once more should somebody want it.
        if (!row && answer.block && forgotten && answer.block->number <= *forgotten) continue;
        if (row && row->status != Status::receipt_received) {
            note_other_answer(context, *row, answer);
            ++context.stale;  // a late share, or the same answer once more
            continue;
        }
        const bool at_once = row && !is_kms_share(answer) &&
                             (!answer.block || !context.store.inclusion(row->id.sequence));
        if (at_once && settle(context, *row, answer.body)) continue;
        const bool is_new =
            context.store.hold_answer(answer.reference, to_held(context, answer), context.now.wall);
        if (is_new && row &&
            (to_evaluate.empty() || to_evaluate.back().second != answer.reference)) {
            to_evaluate.emplace_back(*row, answer.reference);
        }
    }
    for (const auto& [row, reference] : to_evaluate) {
        const std::optional<store::Row> current = context.store.load(row.id.sequence);
        if (!current || current->status != Status::receipt_received) continue;
        if (context.has_room()) {
            evaluate(context, *current, reference);
        } else {
            look_again(context, *current, at_once_pause);
        }
    }
    if (applied < event.answers.size()) return false;
    // Other blocks take the place of those behind the cursor, and all of them are read.
    if (event.went_back && forgotten && event.cursor < *forgotten) {
        context.store.set_mark(forgotten_mark, event.cursor);
    }
    const auto stored = context.store.cursor(event.listener);
    if (!stored || event.cursor > *stored || event.went_back) {
        context.store.set_cursor(event.listener, event.cursor);
    }
    return true;
}

void join(Context& context, const domain::Bytes32& reference) {
    const std::optional<store::Row> row = context.store.find_by_reference(reference);
    if (!row || row->status != Status::receipt_received) return;
    if (const auto forgotten = context.store.mark(forgotten_mark)) {
        const auto inclusion = context.store.inclusion(row->id.sequence);
        if (inclusion) want_forgotten(context, *inclusion, *forgotten);
    }
    evaluate(context, *row, reference);
}

void reload_forgotten(Context& context) {
    const auto forgotten = context.store.mark(forgotten_mark);
    if (!forgotten) return;
    for (const store::Inclusion& inclusion : context.store.inclusions()) {
        const std::optional<store::Row> row = context.store.load(inclusion.sequence);
        if (row && row->status == Status::receipt_received) {
            want_forgotten(context, inclusion, *forgotten);
        }
    }
}

void read_forgotten(Context& context) {
    if (context.forgotten_from) context.gateway.read_again(*context.forgotten_from);
    context.forgotten_from.reset();
}

void note_forgotten(Context& context, std::uint64_t block) {
    if (context.store.mark(forgotten_mark).value_or(0) >= block) return;
    context.store.set_mark(forgotten_mark, block);
}

void count_standing(Context& context, const store::Inclusion& inclusion,
                    const std::vector<domain::Block>& standing) {
    if (!inclusion.reference) return;
    const std::optional<store::Row> row = context.store.load(inclusion.sequence);
    if (!row || row->status != Status::receipt_received) return;
    std::vector<store::HeldAnswer> held = context.store.held_answers(*inclusion.reference);
    std::erase_if(held, [&](const store::HeldAnswer& one) {
        return !may_follow(one, *inclusion.block) ||
               (one.block && std::ranges::find(standing, *one.block) == standing.end());
    });
    if (!held.empty()) count(context, *row, *inclusion.reference, held);
}

void time_out(Context& context, const store::Row& row, const std::string& why) {
    fail(context, row, Status::timed_out, Cause::expired,
         {Reason::response_timed_out,
          "Gateway chain did not respond within the expected timeframe" +
              (why.empty() ? why : ": " + why),
          {}});
}

void note_listening(Context& context) {
    if (!context.gateway.hears_answers()) context.listening_since = context.now.steady;
}

void wake(Context& context, const store::Row& row) {
    if (!row.schedule.deadline) return time_out(context, row);
    note_listening(context);
    const domain::Timestamp deadline = deadline_of(context, row);
    if (context.now.steady < deadline) {
        const auto reference = context.store.reference(row.id.sequence);
        // Sleeps to the deadline unless the evaluation says otherwise.
        look_again(context, row, deadline - context.now.steady);
        if (reference) evaluate(context, row, *reference);
        return;
    }
    const auto inclusion = context.store.inclusion(row.id.sequence);
    if (inclusion && inclusion->block && context.now.steady < deadline + last_look) {
        // It may have timed out because its transaction is gone.
        context.effects.watched.push_back(*inclusion->block);
        store::Schedule schedule = row.schedule;
        schedule.wake = deadline + last_look;
        if (!context.store.reschedule(row, Status::receipt_received, schedule)) ++context.stale;
        return;
    }
    time_out(context, row);
}

}  // namespace engine::answers
