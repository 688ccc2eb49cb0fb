#include "chains/evm/monitor.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

using domain::Milliseconds;
using jsonrpc::Answer;
using jsonrpc::Json;

namespace {

constexpr Milliseconds interval{15'000};
// Until it is over: whoever watches our health waits for that.
constexpr Milliseconds interval_in_trouble{5'000};
constexpr Milliseconds chain_id_interval{std::chrono::minutes{5}};

const Json* json_in(const Answer& answer) {
    return std::get_if<Json>(&answer);
}

std::optional<std::string> problem_in(const std::vector<Answer>& answers) {
    for (const Answer& answer : answers) {
        if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer))
            return problem->text;
        if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) {
            return "the node refuses: " + error->message + " (" + std::to_string(error->code) + ")";
        }
    }
    return std::nullopt;
}

}  // namespace

Monitor::Monitor(const Options& options, std::vector<const Signer*> signers, jsonrpc::Node& write,
                 ports::Executor& executor, const ports::Clock& clock, ports::Logger& logger)
    : options_(options), write_(write), clock_(clock), logger_(logger), task_group_(executor) {
    const auto keys = options_.keys();
    assert(keys.size() == signers.size());
    for (std::size_t i = 0; i < signers.size(); ++i) {
        accounts_.push_back({signers[i], keys[i].low_balance});
    }
}

Monitor::~Monitor() {
    stop();
}

void Monitor::start() {
    task_group_.run_after(Milliseconds{0}, [this] { look(); });
}

void Monitor::stop() {
    task_group_.stop();
}

std::optional<jsonrpc::Wei> Monitor::balance(std::size_t signer) const {
    const std::lock_guard lock{mutex_};
    return accounts_.at(signer).balance;
}

std::optional<double> Monitor::balance_in_coins(std::size_t signer) const {
    const auto wei = balance(signer);
    if (!wei) return std::nullopt;
    return static_cast<double>(*wei) / 1e18;
}

std::optional<std::uint64_t> Monitor::head() const {
    const std::lock_guard lock{mutex_};
    return head_;
}

std::optional<std::uint64_t> Monitor::nonce(std::size_t signer) const {
    const std::lock_guard lock{mutex_};
    return accounts_.at(signer).nonce;
}

bool Monitor::on_wrong_chain() const {
    const std::lock_guard lock{mutex_};
    return chain_id_ && *chain_id_ != options_.chain_id;
}

bool Monitor::on_right_chain() const {
    const std::lock_guard lock{mutex_};
    return chain_id_ == options_.chain_id;
}

std::optional<std::string> Monitor::problem() const {
    const std::lock_guard lock{mutex_};
    if (chain_id_ && *chain_id_ != options_.chain_id) {
        return "chain id is " + std::to_string(*chain_id_) + ", the configuration says " +
               std::to_string(options_.chain_id);
    }
    return problem_;
}

void Monitor::look() {
    if (const auto pause = read()) task_group_.run_after(*pause, [this] { look(); });
}

// How long until the next look; nothing when the node was stopped.
std::optional<Milliseconds> Monitor::read() {
    std::vector<jsonrpc::Call> calls;
    std::vector<Account*> accounts;
    for (Account& account : accounts_) {
        const auto address = account.signer->known_address();
        if (!address) continue;
        const std::string hex = jsonrpc::hex(*address);
        calls.push_back({"eth_getBalance", Json::array({hex, "latest"})});
        calls.push_back({"eth_getTransactionCount", Json::array({hex, "latest"})});
        accounts.push_back(&account);
    }
    calls.push_back({"eth_blockNumber", Json::array()});
    {
        const std::lock_guard lock{mutex_};
        if (!chain_id_at_ || chain_id_ != options_.chain_id ||
            clock_.monotonic() - *chain_id_at_ >= chain_id_interval) {
            calls.push_back({"eth_chainId", Json::array()});
        }
    }
    const std::vector<Answer> answers = write_.call_all(calls);
    if (const auto remark = write_.remark(); remark && !std::exchange(told_of_remark_, true)) {
        logger_.write(ports::LogLevel::info,
                      "node_replies_oddly remark=" + base::log_value(*remark) +
                          " action=\"they are taken all the same\"");
    }
    Milliseconds pause{0};
    for (const Answer& answer : answers) {
        const auto* problem = std::get_if<jsonrpc::TransportError>(&answer);
        if (problem == nullptr) continue;
        if (problem->kind == jsonrpc::TransportError::Kind::stopped) return std::nullopt;
        pause = std::max(pause, problem->wait);
    }
    const std::lock_guard lock{mutex_};
    note_locked(calls, answers, accounts);
    return std::max(pause, problem_ ? interval_in_trouble : interval);
}

void Monitor::note_locked(const std::vector<jsonrpc::Call>& calls,
                          const std::vector<Answer>& answers,
                          const std::vector<Account*>& accounts) {
    std::optional<std::string> problem = problem_in(answers);
    for (std::size_t i = 0; i < calls.size() && i < answers.size(); ++i) {
        const Json* said = json_in(answers[i]);
        Account* account = i / 2 < accounts.size() ? accounts[i / 2] : nullptr;
        const char* garbled =
            said != nullptr ? note_answer_locked(calls[i].method, *said, account) : nullptr;
        if (garbled != nullptr && !problem) problem = std::string{"malformed "} + garbled;
    }
    note_problem_locked(std::move(problem));
}

// What can not be read of it, if so.
const char* Monitor::note_answer_locked(std::string_view method, const Json& said,
                                        Account* account) {
    if (method == "eth_getBalance") {
        const auto balance = jsonrpc::wei(said);
        if (balance) note_balance_locked(*balance, *account);
        return balance ? nullptr : "balance";
    }
    const auto number = jsonrpc::quantity(said);
    if (method == "eth_getTransactionCount") {
        if (number) account->nonce = std::max(account->nonce.value_or(0), *number);
        return number ? nullptr : "nonce";
    }
    if (method == "eth_blockNumber") {
        if (number) head_ = number;
        return number ? nullptr : "block number";
    }
    if (number) note_chain_id_locked(*number);
    return number ? nullptr : "chain id";
}

void Monitor::note_chain_id_locked(std::uint64_t chain_id) {
    const bool changed = chain_id_ != chain_id;
    chain_id_ = chain_id;
    chain_id_at_ = clock_.monotonic();
    if (!changed || chain_id == options_.chain_id) return;
    logger_.write(ports::LogLevel::error, "wrong_chain chain_id=" + std::to_string(chain_id) +
                                              " configured=" + std::to_string(options_.chain_id));
}

void Monitor::note_balance_locked(jsonrpc::Wei balance, Account& account) {
    account.balance = balance;
    const bool low = account.low_balance > 0 && balance < account.low_balance;
    if (low == account.low) return;
    account.low = low;
    const auto coins = [](jsonrpc::Wei wei) {
        return std::to_string(static_cast<double>(wei) / 1e18);
    };
    logger_.write(
        low ? ports::LogLevel::warning : ports::LogLevel::info,
        std::string{low ? "signer_balance_low" : "signer_balance_recovered"} +
            " signer=" + jsonrpc::hex(account.signer->known_address().value_or(domain::Address{})) +
            " balance=" + coins(balance) + " low_balance=" + coins(account.low_balance));
}

void Monitor::note_problem_locked(std::optional<std::string> problem) {
    if (problem && !problem_) {
        logger_.write(ports::LogLevel::warning,
                      "write_node_trouble error=" + base::log_value(*problem));
    } else if (!problem && problem_) {
        logger_.write(ports::LogLevel::info, "write_node_recovered");
    }
    problem_ = std::move(problem);
}

}  // namespace chains::evm
