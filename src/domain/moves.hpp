#pragma once

#include <array>

#include "domain/kind.hpp"
#include "domain/status.hpp"

namespace domain {

// Why a status changes.
enum class Cause {
    claimed,      // a gate let the request through
    sealed,       // transaction bytes are stored and about to leave
    receipt,      // the chain included the transaction
    answered,     // the chain delivered the answer
    rejected,     // the chain answered that the proof is wrong
    expired,      // a deadline passed
    refused,      // readiness said no
    transaction,  // the transaction can not succeed
    internal,     // we can not go on with this request
    recovered,    // the process died while it was in work
    retried,      // a failed attempt with attempts left
    lost,         // the chain took it and does not have it
    reorganised,  // the block with the transaction was replaced
};

[[nodiscard]] constexpr std::string_view to_string(Cause cause) {
    switch (cause) {
        case Cause::claimed:
            return "claimed";
        case Cause::sealed:
            return "sealed";
        case Cause::receipt:
            return "receipt";
        case Cause::answered:
            return "answered";
        case Cause::rejected:
            return "rejected";
        case Cause::expired:
            return "expired";
        case Cause::refused:
            return "refused";
        case Cause::transaction:
            return "transaction";
        case Cause::internal:
            return "internal";
        case Cause::recovered:
            return "recovered";
        case Cause::retried:
            return "retried";
        case Cause::lost:
            return "lost";
        case Cause::reorganised:
            return "reorganised";
    }
    return "";
}

struct Move {
    Status from;
    Status to;
    Cause cause;
    bool input_proof;
    bool decrypt;
    bool share;
};

// clang-format off
// The law: every legal status change, once (relayer-api 3.2, share-helper 9).
inline constexpr std::array moves{
    //   from                      to                        cause               proof  decr.  share
    Move{Status::queued,           Status::processing,       Cause::claimed,     false, true,  true },
    Move{Status::processing,       Status::tx_in_flight,     Cause::sealed,      true,  true,  true },
    Move{Status::tx_in_flight,     Status::receipt_received, Cause::receipt,     true,  true,  true },
    Move{Status::receipt_received, Status::completed,        Cause::answered,    true,  true,  true },
    Move{Status::queued,           Status::timed_out,        Cause::expired,     false, true,  true },
    Move{Status::receipt_received, Status::timed_out,        Cause::expired,     true,  true,  true },
    Move{Status::processing,       Status::failure,          Cause::transaction, true,  true,  true },
    Move{Status::tx_in_flight,     Status::failure,          Cause::transaction, true,  true,  true },
    Move{Status::queued,           Status::failure,          Cause::refused,     false, true,  false},
    Move{Status::receipt_received, Status::failure,          Cause::rejected,    true,  false, false},
    Move{Status::queued,           Status::failure,          Cause::internal,    true,  true,  true },
    Move{Status::processing,       Status::failure,          Cause::internal,    true,  true,  true },
    Move{Status::tx_in_flight,     Status::failure,          Cause::internal,    true,  true,  true },
    Move{Status::receipt_received, Status::failure,          Cause::internal,    true,  true,  true },
    Move{Status::tx_in_flight,     Status::processing,       Cause::recovered,   true,  true,  false},
    Move{Status::processing,       Status::queued,           Cause::recovered,   false, false, true },
    Move{Status::tx_in_flight,     Status::queued,           Cause::recovered,   false, false, true },
    Move{Status::processing,       Status::queued,           Cause::retried,     false, false, true },
    Move{Status::tx_in_flight,     Status::queued,           Cause::retried,     false, false, true },
    Move{Status::receipt_received, Status::queued,           Cause::lost,        false, false, true },
    Move{Status::receipt_received, Status::tx_in_flight,     Cause::reorganised, true,  true,  false},
};
// clang-format on

[[nodiscard]] constexpr bool covers(const Move& move, Kind kind) {
    if (kind == Kind::input_proof) return move.input_proof;
    return kind == Kind::share ? move.share : move.decrypt;
}

// Whether `kind` may go from `from` to `to` because of `cause`.
[[nodiscard]] constexpr bool is_legal(Kind kind, Status from, Status to, Cause cause) {
    for (const Move& move : moves) {
        if (move.from == from && move.to == to && move.cause == cause && covers(move, kind)) {
            return true;
        }
    }
    return false;
}

// Whether `kind` may go from `from` to `to` for any reason.
[[nodiscard]] constexpr bool is_legal(Kind kind, Status from, Status to) {
    for (const Move& move : moves) {
        if (move.from == from && move.to == to && covers(move, kind)) return true;
    }
    return false;
}

// The status a request of this kind is inserted with.
[[nodiscard]] constexpr Status first_status(Kind kind) {
    return kind == Kind::input_proof ? Status::processing : Status::queued;
}

namespace detail {
constexpr bool terminals_have_no_exit() {
    for (const Move& move : moves) {
        if (is_terminal(move.from)) return false;
    }
    return true;
}
}  // namespace detail

static_assert(detail::terminals_have_no_exit());

}  // namespace domain
