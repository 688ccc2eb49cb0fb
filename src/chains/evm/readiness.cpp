#include "chains/evm/readiness.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <variant>

#include "chains/evm/calls.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/readiness_outcomes.hpp"
#include "domain/access_list.hpp"
#include "domain/handle.hpp"

namespace chains::evm {

struct Readiness::Check {
    Check(engine::CheckOrder of, engine::GatewayEvents& to)
        : order(std::move(of)),
          events(to),
          chains(domain::host_chains_of(*order.request)),
          questions(domain::acl_questions(*order.request)) {}

    const engine::CheckOrder order;
    engine::GatewayEvents& events;

    const std::vector<std::uint64_t> chains;
    std::size_t asked = 0;    // so many of them are done with
    std::uint32_t tries = 0;  // refusals to answer by the node of the present one

    const std::vector<domain::AclQuestion> questions;
    std::vector<std::size_t> refused;              // of the questions
    std::optional<engine::CheckOutcome> failed{};  // what a chain without an answer leads to

    [[nodiscard]] std::vector<std::size_t> questions_of(std::uint64_t chain_id) const {
        std::vector<std::size_t> found;
        for (std::size_t at = 0; at < questions.size(); ++at) {
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
        } else if (!check->refused.empty()) {
            std::ranges::sort(check->refused);  // as the request has them, chains mixed
            outcomes.add(check->events, check->order.id,
                         engine::Rejected{access_refused(check->questions, check->refused)});
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

void Readiness::ask_access_list(Host& host, Checks checks) {
    std::vector<jsonrpc::Call> calls;
    calls.reserve(checks.size());
    for (const CheckPtr& check : checks) {
        calls.push_back(
            eth_call(host.acl, multicall(acl_calls(*check->order.request, host.chain_id)), latest));
    }
    const std::vector<jsonrpc::Answer> answers = host.node.call_all(calls);
    assert(answers.size() == checks.size());

    Checks done;
    Checks again;
    for (std::size_t at = 0; at < checks.size(); ++at) {
        const bool settled = settle_chain(*checks[at], host, with_passing_as_trouble(answers[at]));
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
        check.fail(engine::Rejected{access_list_failed(host.chain_id, text_of(*error))});
    } else if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        const std::string text = text_of(*problem);
        check.fail(engine::Unreachable{"host chain " + std::to_string(host.chain_id) + ": " + text,
                                       access_list_failed(host.chain_id, text), 0, problem->wait,
                                       true});
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
                  "access_list_refused request=" + to_string(check.order.id) +
                      " chain=" + std::to_string(host.chain_id) +
                      " try=" + std::to_string(check.tries) + " error=" + text_of(error));
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
