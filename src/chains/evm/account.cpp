#include "chains/evm/account.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/plan.hpp"
#include "chains/evm/send_verdict.hpp"
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
                 Signer& signer, ports::Executor& executor, const ports::Clock& clock,
                 ports::Logger& logger)
    : options_(options),
      write_(write),
      nonces_(nonces),
      fees_(fees),
      signer_(signer),
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
    const auto answer = write_.call({"eth_getTransactionCount", {jsonrpc::hex(*self), "latest"}});
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

// Nothing is lost if the program ends before a filler is on chain: then its hole is found again.
void Account::fill_holes(std::uint64_t count) {
    if (fills_.exchange(true)) return;
    const Nonces::Holes holes = nonces_.take_holes(count, fillers_max, clock_.monotonic());
    if (holes.nonces.empty()) {
        refused_filler_ = false;
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
        filler.legacy = quote->legacy;
        filler.priority_fee = quote->priority_fee;
        filler.max_fee = quote->max_fee;
        filling->transactions.push_back(no_op_like(filler, *self));
    }
    filling->results.assign(holes.nonces.size(), SignProblem{});
    filling->left = holes.nonces.size();
    return filling;
}

// All at once; who signs elsewhere answers from a thread that must not wait.
void Account::sign_all(const FillingPtr& filling) {
    if (filling->transactions.empty()) {
        send_all(*filling);
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
                send_all(*filling);
            } else {
                executor_.run([this, filling] { send_all(*filling); });
            }
        });
    }
}

void Account::send_all(const Filling& filling) {
    const Nonces::Holes& holes = filling.holes;
    std::size_t filled = 0;
    // After that the holes may be given out again, or be somebody's.
    bool accepted =
        !filling.transactions.empty() && clock_.monotonic() - filling.begun < signing_patience;
    for (std::size_t i = 0; i < holes.nonces.size(); ++i) {
        if (accepted) accepted = send(holes.nonces[i], filling.results[i]);
        if (accepted) {
            ++filled;
            nonces_.note_filled(holes.nonces[i]);
        } else {
            nonces_.give_hole_back(holes.nonces[i]);
        }
    }
    const bool was_refused = refused_filler_.exchange(!accepted);
    fills_ = false;
    if (!accepted && was_refused) return;
    logger_.write(ports::LogLevel::warning,
                  "nonce_hole_filled nonce=" + std::to_string(holes.nonces.front()) + " accepted=" +
                      (accepted ? "true" : "false") + " count=" + std::to_string(filled) +
                      " left=" + std::to_string(holes.left + holes.nonces.size() - filled));
}

// False: nobody signed it, or no node took it.
bool Account::send(std::uint64_t hole, const SignResult& result) {
    const auto* bytes = std::get_if<domain::Bytes>(&result);
    if (bytes == nullptr || !nonces_.is_filling(hole)) return false;
    const auto answer =
        write_.call({"eth_sendRawTransaction", jsonrpc::Json::array({jsonrpc::hex(*bytes)})});
    const SendVerdict verdict = verdict_on(answer);
    return verdict == SendVerdict::pending || verdict == SendVerdict::receipt ||
           verdict == SendVerdict::nonce_used || verdict == SendVerdict::unknown;
}

std::optional<std::uint64_t> Account::refresh() {
    const auto on_chain = count();
    if (on_chain) fill_holes(*on_chain);
    return on_chain;
}

}  // namespace chains::evm
