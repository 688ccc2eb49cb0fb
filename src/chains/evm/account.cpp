#include "chains/evm/account.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/plan.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/evm/unreachable.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

namespace {

// One that is larger is no count but a lie, and would not fit the database.
constexpr std::uint64_t nonce_max = 1ULL << 62U;
// At once; the next ones follow when these are on chain. Pools keep so many of one account.
constexpr std::size_t fillers_max = 64;
// Shorter than the time after which a hole is given out again.
constexpr domain::Milliseconds signing_patience{20'000};

}  // namespace

Account::Account(const Options& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
                 Signer& signer, OwnTransactions& own, ports::Executor& executor,
                 const ports::Clock& clock, ports::Logger& logger)
    : options_(options),
      write_(write),
      nonces_(nonces),
      fees_(fees),
      signer_(signer),
      own_(own),
      executor_(executor),
      clock_(clock),
      logger_(logger) {}

std::variant<std::uint64_t, engine::Unreachable> Account::ask_count() {
    auto count = read_count();
    const auto* said = std::get_if<std::uint64_t>(&count);
    if (said != nullptr && !nonces_.known()) {
        // The smaller one: that it was too small is found out, a gap has to be paid for.
        auto again = read_count();
        const auto* other = std::get_if<std::uint64_t>(&again);
        if (other == nullptr || *other < *said) count = std::move(again);
        said = std::get_if<std::uint64_t>(&count);
    }
    if (said != nullptr && nonces_.observe(*said, clock_.monotonic())) {
        logger_.write(ports::LogLevel::warning, "nonces_rewound count=" + std::to_string(*said) +
                                                    " hint=\"the chain was reset or lost blocks\"");
    }
    return count;
}

std::variant<std::uint64_t, engine::Unreachable> Account::read_count() {
    const auto self = signer_.known_address();
    if (!self) return engine::unreached("the address of the signer is not known yet");
    return transaction_count(write_, *self);
}

std::variant<std::uint64_t, engine::Unreachable> transaction_count(jsonrpc::Node& node,
                                                                   const domain::Address& account) {
    const auto answer = node.call({"eth_getTransactionCount", {jsonrpc::hex(account), "latest"}});
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return unreachable(*problem, "asking for the nonce");
    }
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto count = result != nullptr ? jsonrpc::quantity(*result) : std::nullopt;
    if (!count || *count > nonce_max) {
        return engine::Unreachable{"the node does not tell the nonce of the account"};
    }
    return *count;
}

std::optional<std::uint64_t> Account::count() {
    const auto answer = ask_count();
    const auto* count = std::get_if<std::uint64_t>(&answer);
    return count != nullptr ? std::optional{*count} : std::nullopt;
}

// Holes of one look, and what fills them.
struct Account::Filling {
    Nonces::Holes holes;
    std::vector<Transaction> transactions;  // none: no node says what they would cost
    domain::Monotonic begun{};

    std::mutex mutex;  // for what follows
    std::vector<SignResult> results;
    std::size_t left = 0;  // not signed yet
};

// Nothing is lost if the program ends before a filler is stored: then its hole is found again.
void Account::fill_holes(std::uint64_t count) {
    if (fills_.exchange(true)) return;
    // One on its way may wait for a smaller nonce that was given back since it was signed.
    const Nonces::Holes holes = nonces_.take_holes(count, fillers_max, clock_.monotonic(),
                                                   own_.smallest_filler_on_its_way());
    if (holes.nonces.empty()) {
        unsigned_filler_ = false;
        fills_ = false;
        return;
    }
    sign_all(filling_of(holes));
}

Account::FillingPtr Account::filling_of(const Nonces::Holes& holes) {
    auto filling = std::make_shared<Filling>();
    filling->holes = holes;
    filling->begun = clock_.monotonic();
    const FeeAnswer fees = fees_.current();
    const auto* quote = std::get_if<FeeQuote>(&fees);
    const auto self = signer_.known_address();
    if (quote == nullptr || !self) return filling;
    for (const std::uint64_t hole : holes.nonces) {
        Transaction filler;
        filler.chain_id = options_.chain_id;
        filler.nonce = hole;
        set_fees(filler, *quote);
        filling->transactions.push_back(no_op_like(filler, *self));
    }
    filling->results.assign(holes.nonces.size(), SignProblem{});
    filling->left = holes.nonces.size();
    return filling;
}

// All at once; who signs elsewhere answers from a thread that must not wait.
void Account::sign_all(const FillingPtr& filling) {
    if (filling->transactions.empty()) {
        hand_over(*filling);
        return;
    }
    const bool local = signer_.local() != nullptr;
    for (std::size_t i = 0; i < filling->transactions.size(); ++i) {
        signer_.fetch(filling->transactions[i], [this, filling, i, local](SignResult result) {
            {
                const std::lock_guard lock{filling->mutex};
                filling->results[i] = std::move(result);
                if (--filling->left > 0) return;
            }
            if (local) {
                hand_over(*filling);
            } else {
                executor_.run([this, filling] { hand_over(*filling); });
            }
        });
    }
}

// Up to the first one that nobody signed.
void Account::hand_over(Filling& filling) {
    const std::vector<std::uint64_t>& holes = filling.holes.nonces;
    // After that the holes may be given out again, or be somebody's.
    const bool in_time = clock_.monotonic() - filling.begun < signing_patience;
    std::vector<std::uint64_t> filled;
    for (std::size_t i = 0; i < holes.size(); ++i) {
        const bool is_signed = in_time && filled.size() == i && i < filling.results.size() &&
                               std::holds_alternative<domain::Bytes>(filling.results[i]);
        if (is_signed && nonces_.hold_hole(holes[i])) {
            filled.push_back(holes[i]);
        } else {
            nonces_.give_hole_back(holes[i]);
        }
    }
    const std::uint64_t left = filling.holes.left + holes.size() - filled.size();
    if (!filled.empty()) own_.expect_fillers(filled, left);
    for (std::size_t i = 0; i < filled.size(); ++i) {
        own_.hand_over(store::OwnTransaction::Purpose::filler, filled[i],
                       std::get<domain::Bytes>(std::move(filling.results[i])));
    }
    const bool was_unsigned = unsigned_filler_.exchange(filled.empty());
    fills_ = false;
    if (!filled.empty() || was_unsigned) return;
    logger_.write(ports::LogLevel::warning,
                  "nonce_hole_filled nonce=" + std::to_string(holes.front()) +
                      " accepted=false count=0 left=" + std::to_string(left));
}

std::optional<std::uint64_t> Account::refresh() {
    const auto on_chain = count();
    if (on_chain) fill_holes(*on_chain);
    return on_chain;
}

}  // namespace chains::evm
