#pragma once

#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "domain/block.hpp"
#include "domain/bytes.hpp"
#include "domain/failure.hpp"
#include "domain/request.hpp"
#include "domain/request_id.hpp"
#include "domain/result.hpp"
#include "domain/time.hpp"
#include "engine/health.hpp"
#include "engine/per_family.hpp"
#include "store/rows.hpp"

namespace engine {

using RequestPtr = std::shared_ptr<const domain::Request>;

// Trouble on the way, not an answer: nothing is known about the request, asking later may help.
struct Unreachable {
    std::string reason;
    // How the request ends when its patience is over; absent: as its stage has it.
    std::optional<domain::Failure> verdict{};
    // Its patience in troubles of this stage; 0: only the deadline ends it.
    std::uint32_t tries_max = 0;
    // Nobody needs to try earlier than this: the node asked for it, or our account is empty.
    domain::Milliseconds hold{0};
    // No node was reached, or only a provider's front door (engine::Options::unreachable_limit).
    bool unreached = false;
    // Whether `hold` is for all that wait to be sent, not only for this one.
    bool holds_others = true;
    // Turned away before anything of the request was looked at: as if it had not been tried.
    bool untouched = false;
};

[[nodiscard]] inline Unreachable unreached(std::string reason) {
    return {.reason = std::move(reason), .unreached = true};
}

// The chain said no and asking again can not help (for shares: costs one of the attempts).
struct Rejected {
    domain::Failure failure;
};

// --- readiness of decrypts (relayer-api 4.3): one try each -------------------------------------

struct CheckOrder {
    domain::RequestId id;
    RequestPtr request;
};

struct Ready {};
struct NotReady {
    // The check was refused instead of answered; what the request ends with if this was its last
    // try (evm-gateway 7.3: the last attempt decides).
    std::optional<domain::Failure> verdict{};
};

using CheckOutcome = std::variant<Ready, NotReady, Rejected, Unreachable>;

struct Checked {
    domain::RequestId id;
    CheckOutcome outcome;
};

// --- preparing: gas estimation; for shares the proof -------------------------------------------

struct PrepareOrder {
    domain::RequestId id;
    RequestPtr request;
};

// What seal() needs to make a transaction; opaque to the engine.
struct Plan {
    domain::Bytes bytes;
};

using PrepareOutcome = std::variant<Plan, Rejected, Unreachable>;

struct Prepared {
    domain::RequestId id;
    PrepareOutcome outcome;
};

// --- sealing: nonce and signature, inside the commit that enters tx_in_flight ------------------

struct Sealed {
    std::uint64_t nonce = 0;
    domain::Bytes32 hash{};
    domain::Bytes bytes;
    domain::Timestamp at{};  // wall time; set by the engine
    std::string account{};   // whose nonce it is; empty: nobody keeps account of it
};

// The end of a signature that was fetched (Gateway::fetch_seal). Unreachable: there is none, and
// its nonce goes to the next request unless the request had it before.
using SignOutcome = std::variant<Sealed, Unreachable>;

struct Signed {
    domain::RequestId id;
    std::uint64_t ticket = 0;
    SignOutcome outcome;
};

// --- sending -----------------------------------------------------------------------------------

struct SendOrder {
    domain::RequestId id;
    domain::Kind kind = domain::Kind::input_proof;
    // Every transaction ever sealed for this request, oldest first; never empty.
    std::vector<Sealed> sealed;
    // The outcome of an earlier send is unknown: look all hashes up before sending the last one
    // again, byte for byte.
    bool look_up_first = false;
    // Troubles of this stage so far.
    std::uint32_t tries = 0;
    // For how long nodes have refused its nonce by now (Sent::refused).
    domain::Milliseconds refused_for{0};
    // The request has failed: no other nonce is taken for it when a stranger used its own.
    bool has_failed = false;
    // How many of its family may be written to the node within any second, this one among them; 0:
    // it does not count, since it went out before.
    std::uint32_t sends_in_any_second_max = 0;
};

// The chain included a transaction of the request.
struct Receipt {
    domain::Bytes32 hash{};
    // The id the chain gave the request; shares have none.
    std::optional<domain::Bytes32> reference;
    // Shares: what their completion serves.
    std::optional<domain::ShareRevealed> revealed;
    // Shares: the chain's record was seen, nobody needs to look for it again.
    bool confirmed = false;
};

// The chain does not take the newest transaction as it is. seal() makes another one of this plan in
// the next commit, then the order comes again with both.
struct Reseal {
    Plan plan;
    // How many transactions the order had. When the request has more by now, another order was
    // faster, and this one is too late.
    std::size_t sealed = 0;
    // The nonce of the order's is used by a transaction that is none of them.
    bool another_nonce = false;
};

using SendOutcome = std::variant<Receipt, Rejected, Unreachable, Reseal>;

// The transaction that settled the nonce, and the block that has it.
struct Included {
    domain::Bytes32 hash{};
    domain::Block block;
    store::Charge charge{};
};

struct Sent {
    domain::RequestId id;
    SendOutcome outcome;
    // Whether a node refused its nonce for no reason that is known, or took it; absent: neither.
    // The time of the first refusal is stored, so that it outlives a restart.
    std::optional<bool> refused{};
    // What the outcome was learned from, on a chain whose blocks may be replaced.
    std::optional<Included> included{};
};

// --- confirming: whether the chain has what it took; vote shares only ---------------------------

struct ConfirmOrder {
    domain::RequestId id;
    domain::Timestamp since{};  // when the chain took it: since then it is `receipt_received`
    Sealed sealed;              // what it took
};

struct Revealed {};
struct NotRevealed {};  // as far as the chain knows, also for a round it does not know
using NullifierAnswer = std::variant<Revealed, NotRevealed, Unreachable>;

struct Confirmed {
    domain::RequestId id;
    domain::Timestamp since{};  // as in the order
    NullifierAnswer answer;
};

// --- answers of the chain ----------------------------------------------------------------------

struct ProofRejected {};

// The shares 0 to count - 1 of a user decryption are enough: the chain itself says so
// (evm-gateway 3.2).
struct ThresholdReached {
    std::uint32_t count = 0;  // at least 1
    std::uint64_t block = 0;  // of the last of these shares

    bool operator==(const ThresholdReached&) const = default;
};

using AnswerBody = std::variant<domain::ProofAccepted, ProofRejected, domain::PublicDecrypted,
                                domain::KmsShare, ThresholdReached>;

struct Answer {
    domain::Bytes32 reference{};
    AnswerBody body;
    // Where it was read, on a chain whose blocks may be replaced.
    std::optional<domain::Block> block{};
};

inline constexpr std::string_view only_listener = "gateway";

// Answers in chain order. After the commit that applied them the listener may forget everything up
// to and including `cursor`.
struct Answered {
    std::vector<Answer> answers;
    std::uint64_t cursor = 0;
    std::string listener{only_listener};
    // The chain lost blocks, and the listener reads again from the cursor, although it was further.
    bool went_back = false;
};

// What a chain whose blocks may be replaced says of those it was asked to watch.
struct BlockNews {
    // On the chain, all of them at one time. Said of blocks that were just given to be watched.
    std::vector<domain::Block> standing;
    // Another block has their place.
    std::vector<domain::Block> replaced;
    // On the chain, and so deep that nobody looks again.
    std::vector<domain::Block> buried;
};

// What the chain has of an account that signs for us, found once after a start.
struct AccountFound {
    std::string account;      // its address
    std::uint64_t count = 0;  // of its transactions: the next nonce
    // Some of them are not known here, and called our contracts: another process sent them.
    bool sent_by_others = false;
    // Its key is not configured any more, and nothing is left to settle: what it sends from now on
    // says nothing about this database.
    bool retired = false;
};

// Of every account that may have sent for this database it is found how it stands.
struct AccountsSettled {};

// The nonce of a transaction of the gateway's own is used, for good.
struct OwnSettled {
    std::string account;
    std::uint64_t nonce = 0;
    // Of the one the chain has; nothing: none of ours.
    std::optional<domain::Bytes32> hash;
    store::OwnFate fate = store::OwnFate::included;
};

// What a gateway needs to know to go on where it was.
struct Resume {
    // How far each listener's answers are applied; absent: it never delivered.
    std::map<std::string, std::uint64_t> cursors;
    // Transactions whose outcome is not known; without their bytes unless only these say whose they
    // are.
    std::vector<Sealed> in_flight;
    // Nonces of ours in blocks that may be replaced.
    std::vector<store::UsedNonce> used;
    // By account: every nonce that was ever given out is smaller. Absent: not known.
    std::map<std::string, std::uint64_t> nonces{};
    // Requests wait that nothing was signed for here.
    bool has_unsigned = false;
    // The first block that may have what another process asked for since this database was copied;
    // absent: any block.
    std::optional<std::uint64_t> look_from{};
    // Transactions of its own that are not settled, with their bytes. Of them `in_flight` has the
    // nonces too.
    std::vector<store::OwnTransaction> own{};
    // What requests have signed with nonces of `own`, whatever became of it; without the bytes.
    std::vector<Sealed> beside_own{};

    // 0 when absent.
    [[nodiscard]] std::uint64_t cursor(const std::string& listener) const {
        const auto known = cursors.find(listener);
        return known == cursors.end() ? 0 : known->second;
    }
};

// --- the port ----------------------------------------------------------------------------------

// Where a gateway leaves its answers. Any thread. Never blocks, never drops.
class GatewayEvents {
public:
    virtual ~GatewayEvents() = default;
    virtual void checked(std::vector<Checked> events) = 0;
    virtual void prepared(std::vector<Prepared> events) = 0;
    virtual void sent(std::vector<Sent> events) = 0;
    virtual void answered(Answered event) = 0;
    // So many answers wait that whoever reads them is asked to go on later.
    [[nodiscard]] virtual bool has_too_many_answers() { return false; }
    // Not for who signs at once.
    virtual void sealed(std::vector<Signed> events) { assert(events.empty()); }
    // Not for who gives no such orders.
    virtual void confirmed(std::vector<Confirmed> events) { assert(events.empty()); }
    // Not for who has nothing watched.
    virtual void block_news(BlockNews /*news*/) {}
    virtual void account_found(AccountFound /*event*/) {}
    // Once, after the last account_found.
    virtual void accounts_settled(AccountsSettled /*event*/) {}
    // Signed for no request: it is stored, then comes back (Gateway::send_own). Whoever dies before
    // has sent nothing.
    virtual void own_sealed(store::OwnTransaction /*own*/) {}
    virtual void own_settled(OwnSettled /*event*/) {}
};

struct SignerReadings {
    std::string account;                            // its address
    std::optional<double> balance{};                // in units of 10^18 wei
    std::optional<std::uint64_t> nonce_distance{};  // transactions sent and not included
    std::optional<std::string> problem{};           // why nothing goes out from there
};

// How the chain and our accounts on it stand; absent: not known.
struct ChainReadings {
    std::optional<double> signer_balance;                // in units of 10^18 wei
    std::optional<std::uint64_t> signer_nonce_distance;  // transactions sent and not included
    std::optional<std::uint64_t> head_lag;               // blocks between the head and our reading
    // Where there are several, in place of the first two.
    std::vector<SignerReadings> signers{};
    // Since the start, what went out again left aside.
    std::optional<PerRelayerFamily<std::uint32_t>> most_sent_in_a_second{};
};

// Port: a chain. Orders return at once; exactly one answer per order comes back through
// GatewayEvents, from any thread, possibly before the call returns. Orders are handed over after
// the commit that recorded them.
class Gateway {
public:
    virtual ~Gateway() = default;

    // Starts delivering answers. Called once, before orders.
    virtual void listen(GatewayEvents& events, const Resume& resume) = 0;

    virtual void check(std::vector<CheckOrder> orders) = 0;
    virtual void prepare(std::vector<PrepareOrder> orders) = 0;
    virtual void send(std::vector<SendOrder> orders) = 0;
    // Stored, in the order in which they were sealed (GatewayEvents::own_sealed).
    virtual void send_own(std::vector<store::OwnTransaction> own) { assert(own.empty()); }
    // So many proofs are wanted in the next seconds, those under way included; whoever makes them
    // gets ready. Processor thread, must not block.
    virtual void expect_proofs(std::size_t /*proofs*/) {}
    // Given only with ShareOptions::confirm_reveals, to a chain that can be asked.
    virtual void confirm(std::vector<ConfirmOrder> orders) { assert(orders.empty()); }

    // Processor thread, inside the step: no I/O, no blocking. Assigns the nonce.
    [[nodiscard]] virtual Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const Plan& plan) = 0;
    // Processor thread, inside the step, before seal(): no I/O, no blocking. For a signer that is
    // not in the process: reserves the nonce in memory and, once the step is durable, fetches the
    // signature; exactly one Signed with this ticket comes back, unless it is dropped. The step
    // that takes what comes stores it as it would what seal() gives. Nothing: seal() signs at once.
    [[nodiscard]] virtual std::optional<std::uint64_t> fetch_seal(const domain::RequestId& /*id*/,
                                                                  domain::Kind /*kind*/,
                                                                  const Plan& /*plan*/) {
        return std::nullopt;
    }
    // Processor thread, inside the step: it stores this signature, or nobody ever will, since it
    // came too late or nobody waits for it; its number is free then, once the step is durable. Of
    // an unknown ticket nothing happens.
    virtual void end_seal(std::uint64_t /*ticket*/, bool /*stored*/) {}
    // Processor thread: what was sealed, reserved or ended since the last call is durable, or never
    // was.
    virtual void keep_sealed() {}
    virtual void undo_sealed() {}

    // Any thread. Must not block. How many shares complete a user decryption whose shares carry
    // this KMS context (evm-gateway 9.4). Nothing: not known now; asking again may help. By default
    // as many as are configured for context 0.
    [[nodiscard]] virtual std::optional<std::uint32_t> share_threshold(
        const domain::Bytes32& /*context*/, std::uint32_t configured) {
        return configured;
    }

    // Any thread. Must not block. Whether the chain says itself when shares are enough. Then
    // nothing else completes a user decryption: a number from elsewhere may be an old one.
    [[nodiscard]] virtual bool announces_thresholds() const { return false; }

    // Any thread. Must not block. False while answers are read from nowhere: what is on the chain
    // may be learned later.
    [[nodiscard]] virtual bool hears_answers() const { return true; }

    // Any thread. Must not block. An answer seems to be missing in this block or before it: reads
    // there again.
    virtual void read_again(std::uint64_t /*block*/) {}

    // Any thread. Must not block. Something rests on these blocks, which are on one chain or none:
    // whether they stand is said at once, what becomes of them until nobody looks any more. Not for
    // a chain whose blocks can not be replaced.
    virtual void watch(std::vector<domain::Block> /*blocks*/) {}

    // Any thread. A stop is near: what can be begun anew at the next start, such as a proof, ends
    // now as Unreachable; what is on its way to the chain goes on.
    virtual void wind_down() {}

    // No event is delivered after this returns.
    virtual void stop() = 0;

    // Any thread. Nothing when healthy, else one line without secrets.
    [[nodiscard]] virtual std::optional<std::string> problem() const = 0;

    // Any thread. What /healthz says of it (relayer-api 1.13): `gateway_http` and, one for each
    // listener, `gateway_listener_0` …
    [[nodiscard]] virtual std::vector<Dependency> dependencies() const {
        return {{"gateway_http", !problem()}};
    }

    // Any thread. Must not block: what was last read.
    [[nodiscard]] virtual ChainReadings readings() const { return {}; }
};

// Port: which vote rounds exist (share-helper 1.2). Any thread, may block.
struct Round {
    domain::Timestamp vote_end;
};
struct UnknownRound {};
using RoundAnswer = std::variant<Round, UnknownRound, Unreachable>;

class RoundDirectory {
public:
    virtual ~RoundDirectory() = default;
    [[nodiscard]] virtual RoundAnswer find(const domain::Bytes32& round_id) = 0;
};

}  // namespace engine
