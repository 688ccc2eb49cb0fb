#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/block.hpp"
#include "domain/failure.hpp"
#include "domain/identity.hpp"
#include "domain/kind.hpp"
#include "domain/moves.hpp"
#include "domain/request_id.hpp"
#include "domain/status.hpp"
#include "domain/time.hpp"

namespace store {

// Whom a request is for: shares go to the chain of votes, all others to the gateway's.
enum class Chain { gateway, votes };

// Which queue a row stands in; the numbers are stored.
enum class Lane {
    schedule = 0,  // shares that wait for their time
    gate = 1,      // waits for a permit or a token; wake is only a second look
    timer = 2,     // a pause, a lease or a deadline ends at wake
    ended_input_proof = 8,
    ended_public_decrypt = 9,
    ended_user_decrypt = 10,
    ended_share = 11,
};

[[nodiscard]] Lane ended_lane(domain::Family family);

// Whether a request of this kind stands in this lane while it has this status.
[[nodiscard]] bool may_stand_in(Lane lane, domain::Kind kind, domain::Status status);

// When and why a row is looked at again, and what it used up; changes without changing the status.
struct Schedule {
    Lane lane = Lane::timer;
    domain::Timestamp wake{};
    std::optional<domain::Timestamp> deadline;
    std::uint32_t claims = 0;
    std::uint32_t attempts = 0;
    std::uint32_t faults = 0;
    // Nothing is signed, and since then no node could be reached.
    std::optional<domain::Timestamp> unreached_since{};
    // The nodes refuse what is signed since then, for no reason that is known.
    std::optional<domain::Timestamp> refused_since{};

    bool operator==(const Schedule&) const = default;
};

// The hot part of a request.
struct Row {
    domain::RequestId id;
    domain::Kind kind = domain::Kind::input_proof;
    domain::Status status = domain::Status::queued;
    domain::Timestamp since{};  // the status last changed
    Schedule schedule;
    std::optional<std::int64_t> round;
    std::int64_t client = 0;  // id of the key that asked; 0: nobody known

    bool operator==(const Row&) const = default;
};

// Why the parts of a row can not belong together; nothing: they can.
[[nodiscard]] std::optional<std::string> problem_of(const Row& row);

// A row that holds what this program never writes: the file was changed by somebody else or by a
// bad disk. What can be read of it.
struct BrokenRow {
    std::int64_t sequence = 0;
    std::optional<domain::Kind> kind;
    std::optional<domain::Status> status;
    std::optional<std::int64_t> round;
    std::string problem;
};

struct NewRequest {
    Row row;
    domain::Identity identity;
    domain::ByteView payload;
};

// The row a new request turned out to be the same as.
struct Duplicate {
    Row row;
    bool same_content = true;
};

// A status change of the transaction in progress.
struct Change {
    std::int64_t sequence = 0;
    domain::Kind kind = domain::Kind::input_proof;
    std::optional<domain::Status> from;  // nothing: the request is new
    std::optional<domain::Status> to;    // nothing: the row was purged
    domain::Milliseconds spent{};        // in `from`
    std::optional<domain::Reason> reason;
    std::optional<std::uint32_t> selector;
    std::optional<std::int64_t> round{};  // shares
};

// One value for each kind and status.
template <typename Value>
class ByKindAndStatus {
public:
    [[nodiscard]] Value& at(domain::Kind kind, domain::Status status) {
        return values_.at(static_cast<std::size_t>(kind)).at(static_cast<std::size_t>(status));
    }
    [[nodiscard]] const Value& at(domain::Kind kind, domain::Status status) const {
        return values_.at(static_cast<std::size_t>(kind)).at(static_cast<std::size_t>(status));
    }

private:
    std::array<std::array<Value, domain::statuses.size()>, domain::kinds.size()> values_{};
};

// A request that waits for the operator, or did until it was released.
struct Hold {
    std::int64_t sequence = 0;
    domain::Timestamp since{};  // steady
    bool released = false;

    bool operator==(const Hold&) const = default;
};

// The last request that was there when the database was restored: another process may have gone on
// with those up to it.
inline constexpr std::string_view restored_mark = "restored";

// Marks stand among the cursors.
[[nodiscard]] std::string cursor_of_mark(std::string_view name);

// Relayer requests in work that nothing was signed for: SQL of a row of `request`.
inline constexpr const char* unsealed_in_work =
    "kind <> 'share' and lane in (1, 2) and (status = 'queued' or (status = 'processing' and "
    "attempts = 0))";

// What an administrator changed at run time.
struct Setting {
    std::string name;
    std::string value;  // JSON
};

// What the chain took for a transaction; absent: it did not tell. In units of its coin's smallest.
struct Charge {
    std::optional<std::uint64_t> gas{};
    std::optional<std::uint64_t> gas_price{};

    bool operator==(const Charge&) const = default;
};

// A sealed transaction as stored.
struct Attempt {
    std::uint64_t nonce = 0;
    domain::Bytes32 hash{};
    domain::Bytes sealed;
    domain::Timestamp at{};
    std::optional<std::uint64_t> block{};  // that has it, as far as is known
    Charge charge{};
    std::string account{};  // whose nonce it is; empty: the one there was, or nobody keeps account
};

// What a request went through: a status, what an operator did, or `trouble` on the way.
struct HistoryEntry {
    std::string stage;
    domain::Timestamp at{};
    std::string cause;
    std::string note{};
    std::uint64_t times = 1;  // how many it stands for
};

// A transaction of our own, for no request: it fills a gap between nonces, or lets a contract take
// fees. While fees rise there are several of one nonce.
struct OwnTransaction {
    enum class Purpose { filler, approval };

    std::string account;  // whose nonce it is
    std::uint64_t nonce = 0;
    domain::Bytes32 hash{};
    Purpose purpose = Purpose::filler;
    domain::Bytes sealed;
    domain::Timestamp at{};  // wall time; set when it is stored
};

// What became of one, once its nonce is used.
enum class OwnFate { included, reverted, replaced };

[[nodiscard]] const char* name_of(OwnTransaction::Purpose purpose);
[[nodiscard]] const char* name_of(OwnFate fate);

// An answer that waits for its request or for its siblings.
struct HeldAnswer {
    std::uint32_t slot = 0;
    domain::Bytes body;
    // Where it was read; nothing: in a block that can not change.
    std::optional<domain::Block> block{};
};

// Where the chain has the transaction of a request, while that may still change.
struct Inclusion {
    std::int64_t sequence = 0;
    domain::Bytes32 hash{};  // of the transaction
    // Nothing: its block was replaced, and it is on its way again.
    std::optional<domain::Block> block{};
    // The id the chain gave the request there.
    std::optional<domain::Bytes32> reference{};
    // Nobody looks whether it is still there.
    bool buried = false;

    bool operator==(const Inclusion&) const = default;
};

// A nonce that a block has which may still be replaced.
struct UsedNonce {
    std::uint64_t nonce = 0;
    domain::Block block;
    std::string account{};   // as in Attempt
    domain::Bytes sealed{};  // the transaction, where there is no account
};

// A share that ended elsewhere: nothing of it is left but what a resend is compared with.
struct EndedShare {
    domain::RequestId id;
    std::int64_t round = 0;
    domain::Timestamp since{};  // the status last changed
    std::uint32_t attempts = 0;
    domain::Bytes32 key{};  // domain::Identity::key
    // Nothing: not known any more; then every share with this key is the same as this one.
    std::optional<domain::Bytes32> content;
    // Why it failed; nothing: it was revealed.
    std::optional<domain::Failure> failure;
};

struct RoundRow {
    std::int64_t id = 0;
    domain::Bytes32 round_id{};
    domain::Timestamp vote_end{};
    std::uint64_t total = 0;
    std::uint64_t submitted = 0;
    std::uint64_t failed = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t unconfirmed = 0;  // of the submitted; known of alerts alone

    bool operator==(const RoundRow&) const = default;
};

// What became of the alert of a round, and of the shares that came after it.
struct AlertRow {
    std::uint64_t late = 0;  // were dropped since the round closed
    // How many of these were told; nothing: not even the alert of the end.
    std::optional<std::uint64_t> taken;
    std::optional<std::uint64_t> logged;

    bool operator==(const AlertRow&) const = default;
};

}  // namespace store
