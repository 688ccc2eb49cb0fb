#include "chains/evm/account.hpp"

#include <string>

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

}  // namespace

Account::Account(const Options& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
                 const Signer& signer, const ports::Clock& clock, ports::Logger& logger)
    : options_(options),
      write_(write),
      nonces_(nonces),
      fees_(fees),
      signer_(signer),
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
    const auto answer =
        write_.call({"eth_getTransactionCount", {jsonrpc::hex(signer_.address()), "latest"}});
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

// Nothing is lost if the program ends before a filler is on chain: then its hole is found again.
void Account::fill_holes(std::uint64_t count) {
    const std::unique_lock one_at_a_time{filling_, std::try_to_lock};
    if (!one_at_a_time) return;
    const Nonces::Holes holes = nonces_.take_holes(count, fillers_max, clock_.monotonic());
    std::size_t filled = 0;
    bool accepted = true;
    for (const std::uint64_t hole : holes.nonces) {
        if (accepted) accepted = fill(hole);
        if (accepted) {
            ++filled;
        } else {
            nonces_.give_hole_back(hole);
        }
    }
    const bool was_refused = refused_filler_.exchange(!accepted);
    if (holes.nonces.empty() || (!accepted && was_refused)) return;
    logger_.write(ports::LogLevel::warning,
                  "nonce_hole_filled nonce=" + std::to_string(holes.nonces.front()) + " accepted=" +
                      (accepted ? "true" : "false") + " count=" + std::to_string(filled) +
                      " left=" + std::to_string(holes.left + holes.nonces.size() - filled));
}

// False: no node took it.
bool Account::fill(std::uint64_t hole) {
    const FeeAnswer fees = fees_.current();
    const auto* quote = std::get_if<FeeQuote>(&fees);
    if (quote == nullptr) return false;
    Transaction filler;
    filler.chain_id = options_.chain_id;
    filler.nonce = hole;
    filler.legacy = quote->legacy;
    filler.priority_fee = quote->priority_fee;
    filler.max_fee = quote->max_fee;
    filler = no_op_like(filler, signer_.address());
    const auto answer = write_.call(
        {"eth_sendRawTransaction", jsonrpc::Json::array({jsonrpc::hex(sign(filler, signer_))})});
    const SendVerdict verdict = verdict_on(answer);
    return verdict == SendVerdict::pending || verdict == SendVerdict::receipt ||
           verdict == SendVerdict::nonce_used || verdict == SendVerdict::unknown;
}

void Account::refresh() {
    if (const auto on_chain = count()) fill_holes(*on_chain);
}

}  // namespace chains::evm
