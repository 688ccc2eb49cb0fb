#include "chains/evm/readiness.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/readiness_outcomes.hpp"
#include "chains/evm/revert.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "domain/access_list.hpp"
#include "domain/handle.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

struct Readiness::Check {
    Check(engine::CheckOrder of, engine::GatewayEvents& to)
        : order(std::move(of)),
          events(to),
          chains(domain::host_chains_of(*order.request)),
          questions(domain::acl_questions(*order.request)),
          first_allowance(questions.size()) {
        std::ranges::move(domain::allowance_questions(*order.request),
                          std::back_inserter(questions));
    }

    const engine::CheckOrder order;
    engine::GatewayEvents& events;

    const std::vector<std::uint64_t> chains;
    std::size_t asked = 0;    // so many of them are done with
    std::uint32_t tries = 0;  // refusals to answer by the node of the present one

    std::vector<domain::AclQuestion> questions;
    const std::size_t first_allowance;             // from here on those of the key servers
    std::vector<std::size_t> refused;              // of the questions
    std::vector<std::string> refused_besides;      // what is of no handle
    std::optional<engine::CheckOutcome> failed{};  // what a chain without an answer leads to

    [[nodiscard]] std::vector<std::size_t> questions_of(std::uint64_t chain_id) const {
        return questions_of(chain_id, 0, first_allowance);
    }

    [[nodiscard]] std::vector<std::size_t> questions_of(std::uint64_t chain_id, std::size_t begin,
                                                        std::size_t end) const {
        std::vector<std::size_t> found;
        for (std::size_t at = begin; at < end; ++at) {
            if (domain::host_chain_of(questions[at].handle) == chain_id) found.push_back(at);
        }
        return found;
    }

    void take_answers(std::uint64_t chain_id, const jsonrpc::Json& result) {
        const std::vector<std::size_t> asked_about = questions_of(chain_id);
        const auto allowed = access_list_answers(result, asked_about.size());
        if (!allowed) {
            fail(engine::Rejected{access_list_failed(
                chain_id, result == "0x" ? "no contract at its address" : "malformed answer")});
            return;
        }
        for (std::size_t at = 0; at < asked_about.size(); ++at) {
            if (!(*allowed)[at]) refused.push_back(asked_about[at]);
        }
    }

    // `allowed`: of each handle each contract.
    void take_allowances(std::uint64_t chain_id, const std::vector<bool>& allowed) {
        auto answer = allowed.begin();
        const auto contracts = static_cast<std::ptrdiff_t>(unified()->allowed_contracts.size());
        for (const std::size_t at : questions_of(chain_id, first_allowance, questions.size())) {
            if (std::find(answer, answer + contracts, true) == answer + contracts) {
                refused.push_back(at);
            }
            answer += contracts;
        }
    }

    void take_invalidation(std::uint64_t before) {
        const std::uint64_t start = unified()->start_timestamp;
        if (start >= before) return;
        refused_besides.push_back("user " + domain::checksummed(unified()->user_address) +
                                  " has invalidated signatures before " + std::to_string(before) +
                                  ", the request starts at " + std::to_string(start));
    }

    [[nodiscard]] const domain::UnifiedUserDecrypt* unified() const {
        return std::get_if<domain::UnifiedUserDecrypt>(&*order.request);
    }

    void fail(engine::CheckOutcome outcome) {
        if (!failed || std::holds_alternative<engine::Rejected>(outcome)) {
            failed = std::move(outcome);
        } else if (auto* before = std::get_if<engine::Unreachable>(&*failed)) {
            before->hold = std::max(before->hold, std::get<engine::Unreachable>(outcome).hold);
        }
    }
};

namespace {

constexpr std::size_t exchanges_per_node_max = 2;
constexpr const char* latest = "latest";

// A contract without the function reverts, and says nothing.
bool is_missing_function(const jsonrpc::Answer& answer) {
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    return error != nullptr && is_revert(*error) && (!error->data || error->data->empty());
}

// A moment too far away for 64 bits comes after every start.
std::optional<std::uint64_t> decode_seconds(domain::ByteView result) {
    if (!decode_word(result, 0)) return std::nullopt;
    return decode_number(result, 0).value_or(std::numeric_limits<std::uint64_t>::max());
}

// Checks and their outcomes, handed over in as few events as there are receivers.
class Outcomes {
public:
    void add(engine::GatewayEvents& events, const domain::RequestId& id,
             engine::CheckOutcome outcome) {
        by_receiver_[&events].push_back({id, std::move(outcome)});
    }

    void hand_over() {
        for (auto& [events, checked] : by_receiver_) events->checked(std::move(checked));
        by_receiver_.clear();
    }

private:
    std::map<engine::GatewayEvents*, std::vector<engine::Checked>> by_receiver_;
};

}  // namespace

Readiness::Readiness(const Options& options, jsonrpc::Node& read, const Hosts& hosts,
                     ports::Executor& executor, ports::Logger& logger)
    : options_(options),
      read_(read),
      logger_(logger),
      task_group_(executor),
      gateway_batcher_(task_group_, options.batch_max, exchanges_per_node_max,
                       [this](Checks checks) { ask_gateway(std::move(checks)); }) {
    for (const Options::HostChain& chain : options.host_chains) {
        const auto node = hosts.find(chain.chain_id);
        if (node == hosts.end()) continue;
        hosts_.emplace(chain.chain_id, std::make_unique<Host>(*this, chain, *node->second));
    }
}

Readiness::Host::Host(Readiness& owner, const Options::HostChain& chain, jsonrpc::Node& asked)
    : chain_id(chain.chain_id),
      acl(chain.acl),
      node(asked),
      line(owner.task_group_, owner.options_.batch_max, exchanges_per_node_max,
           [this, &owner](Checks checks) { owner.ask_access_list(*this, std::move(checks)); }) {}

Readiness::~Readiness() {
    stop();
}

void Readiness::stop() {
    task_group_.stop();
}

void Readiness::check(std::vector<engine::CheckOrder> orders, engine::GatewayEvents& events) {
    Checks checks;
    checks.reserve(orders.size());
    for (engine::CheckOrder& order : orders) {
        checks.push_back(std::make_shared<Check>(std::move(order), events));
        Check& check = *checks.back();
        if (auto unknown = unknown_chain(check)) {
            check.failed = std::move(unknown);
            check.asked = check.chains.size();
        } else if (auto refused = domain::refused_by_itself(*check.order.request)) {
            check.refused_besides.push_back(*std::move(refused));
            check.asked = check.chains.size();
        }
    }
    // As a task, since it may hand over answers, of which there are none once stopped.
    task_group_.run_after(domain::Milliseconds{0},
                          [this, checks = std::move(checks)] { proceed(checks); });
}

Readiness::Host* Readiness::host(std::uint64_t chain_id) const {
    const auto found = hosts_.find(chain_id);
    return found == hosts_.end() ? nullptr : found->second.get();
}

std::optional<engine::CheckOutcome> Readiness::unknown_chain(const Check& check) const {
    for (const std::uint64_t chain_id : check.chains) {
        if (host(chain_id) != nullptr) continue;
        return engine::Rejected{no_access_list(chain_id)};
    }
    return std::nullopt;
}

void Readiness::proceed(Checks checks) {
    std::map<std::uint64_t, Checks> for_hosts;
    Checks for_gateway;
    Outcomes outcomes;
    for (CheckPtr& check : checks) {
        if (check->asked < check->chains.size()) {
            for_hosts[check->chains[check->asked]].push_back(std::move(check));
        } else if (!check->refused.empty() || !check->refused_besides.empty()) {
            std::ranges::sort(check->refused);  // as the request has them, chains mixed
            outcomes.add(check->events, check->order.id,
                         engine::Rejected{access_refused(check->questions, check->refused,
                                                         check->refused_besides)});
        } else if (check->failed) {
            outcomes.add(check->events, check->order.id, std::move(*check->failed));
        } else {
            for_gateway.push_back(std::move(check));
        }
    }
    for (auto& [chain_id, waiting] : for_hosts) host(chain_id)->line.add(std::move(waiting));
    if (!for_gateway.empty()) gateway_batcher_.add(std::move(for_gateway));
    outcomes.hand_over();
}

struct Readiness::LookUps {
    std::optional<std::size_t> allowances;
    std::optional<std::size_t> invalidation;
};

Readiness::LookUps Readiness::look_ups(const Check& check, const Host& host,
                                       std::vector<jsonrpc::Call>& calls) {
    const domain::UnifiedUserDecrypt* request = check.unified();
    if (request == nullptr) return {};
    LookUps places;
    if (!request->allowed_contracts.empty()) {
        places.allowances = calls.size();
        calls.push_back(
            eth_call(host.acl, multicall(allowance_calls(*request, host.chain_id)), latest));
    }
    if (!host.lacks_invalidation) {
        places.invalidation = calls.size();
        calls.push_back(
            eth_call(host.acl, signatures_invalidated_before(request->user_address), latest));
    }
    return places;
}

void Readiness::take_look_ups(Check& check, Host& host, const LookUps& look_ups,
                              const std::vector<jsonrpc::Answer>& answers) {
    if (look_ups.allowances) {
        const auto* result = std::get_if<jsonrpc::Json>(&answers[*look_ups.allowances]);
        const std::size_t asked = allowance_calls(*check.unified(), host.chain_id).size();
        const auto allowed = result != nullptr ? access_list_answers(*result, asked) : std::nullopt;
        if (allowed) check.take_allowances(host.chain_id, *allowed);
    }
    if (look_ups.invalidation) {
        const jsonrpc::Answer& answer = answers[*look_ups.invalidation];
        if (is_missing_function(answer)) host.lacks_invalidation = true;
        const auto read = read_eth_call(answer);
        const auto* bytes = std::get_if<domain::Bytes>(&read);
        const auto before = bytes != nullptr ? decode_seconds(*bytes) : std::nullopt;
        if (before) check.take_invalidation(*before);
    }
}

void Readiness::ask_access_list(Host& host, Checks checks) {
    std::vector<jsonrpc::Call> calls;
    calls.reserve(checks.size());
    for (const CheckPtr& check : checks) {
        calls.push_back(
            eth_call(host.acl, multicall(acl_calls(*check->order.request, host.chain_id)), latest));
    }
    std::vector<LookUps> places;
    for (const CheckPtr& check : checks) places.push_back(look_ups(*check, host, calls));
    const std::vector<jsonrpc::Answer> answers = host.node.call_all(calls);
    assert(answers.size() == calls.size());

    Checks done;
    Checks again;
    for (std::size_t at = 0; at < checks.size(); ++at) {
        const bool settled = settle_chain(*checks[at], host, with_passing_as_trouble(answers[at]));
        if (settled) take_look_ups(*checks[at], host, places[at], answers);
        (settled ? done : again).push_back(std::move(checks[at]));
    }
    if (!again.empty()) {
        task_group_.run_after(options_.acl_retry.pause,
                              [&host, again = std::move(again)] { host.line.add(again); });
    }
    proceed(std::move(done));
}

bool Readiness::settle_chain(Check& check, const Host& host, const jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) {
        if (++check.tries < options_.acl_retry.attempts_max) {
            note_try(check, host, *error);
            return false;
        }
        const std::string text = text_of(*error);
        if (jsonrpc::is_internal_error(*error)) {
            check.fail(access_list_unreachable(host.chain_id, text));
        } else {
            check.fail(engine::Rejected{access_list_failed(host.chain_id, text)});
        }
    } else if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        check.fail(access_list_unreachable(host.chain_id, text_of(*problem), problem->wait));
    } else {
        check.take_answers(host.chain_id, std::get<jsonrpc::Json>(answer));
    }
    ++check.asked;
    check.tries = 0;
    return true;
}

void Readiness::note_try(const Check& check, const Host& host, const jsonrpc::NodeError& error) {
    if (!logger_.wants(ports::LogLevel::debug)) return;
    logger_.write(ports::LogLevel::debug,
                  "access_list_refused request=" + to_string(check.order.id) + " chain=" +
                      std::to_string(host.chain_id) + " try=" + std::to_string(check.tries) +
                      " error=" + base::log_value(text_of(error)));
}

void Readiness::ask_gateway(Checks checks) {
    std::vector<jsonrpc::Call> calls;
    calls.reserve(checks.size());
    for (const CheckPtr& check : checks) {
        calls.push_back(
            eth_call(options_.decryption, readiness_call(*check->order.request), latest));
    }
    const std::vector<jsonrpc::Answer> answers = read_.call_all(calls);
    assert(answers.size() == checks.size());

    Outcomes outcomes;
    for (std::size_t at = 0; at < checks.size(); ++at) {
        outcomes.add(checks[at]->events, checks[at]->order.id, gateway_outcome(answers[at]));
    }
    outcomes.hand_over();
}

}  // namespace chains::evm
