#include "chains/evm/retired_accounts.hpp"

#include <algorithm>
#include <cassert>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "chains/evm/account.hpp"
#include "domain/bytes.hpp"

namespace chains::evm {

RetiredAccounts::RetiredAccounts(const Options& options, jsonrpc::Node& write, jsonrpc::Node& read,
                                 engine::TaskGroup& reads, ports::Logger& logger)
    : options_(options), write_(write), read_(read), reads_(reads), logger_(logger) {}

void RetiredAccounts::start(engine::GatewayEvents& events, const engine::Resume& resume) {
    assert(events_ == nullptr);
    events_ = &events;
    resume_ = resume;
    are_found_ = resume.nonces.empty();
}

void RetiredAccounts::find(const std::set<std::string>& configured) {
    const std::lock_guard lock{mutex_};
    if (are_found_) return;
    for (const auto& [account, nonce] : resume_.nonces) {
        if (configured.contains(account)) continue;
        const auto is_of_it = [&](const auto& one) { return one.account == account; };
        const bool is_settled = std::ranges::none_of(resume_.in_flight, is_of_it) &&
                                std::ranges::none_of(resume_.used, is_of_it);
        engine::Resume part;
        part.cursors = resume_.cursors;
        part.nonces = {{account, nonce}};
        auto check = std::make_unique<AccountCheck>(options_, read_, reads_, logger_);
        check->start(*events_, part, is_settled);
        checks_.emplace(account, std::move(check));
    }
    are_found_ = true;
}

void RetiredAccounts::refresh(const std::set<std::string>& configured) {
    find(configured);
    std::map<std::string, AccountCheck*> unsettled;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [account, check] : checks_) {
            if (check->unready()) unsettled.emplace(account, check.get());
        }
    }
    for (const auto& [account, check] : unsettled) {
        domain::Address address{};
        if (!domain::from_hex(std::string_view(account).substr(2), address)) continue;
        const auto answer = transaction_count(write_, address);
        const auto* count = std::get_if<std::uint64_t>(&answer);
        if (count != nullptr) check->found(address, *count);
    }
}

std::optional<engine::Unreachable> RetiredAccounts::unsettled() const {
    const std::lock_guard lock{mutex_};
    if (!are_found_) return engine::unreached("no node has told the count of the account yet");
    for (const auto& [account, check] : checks_) {
        if (auto unready = check->unready()) return unready;
    }
    return std::nullopt;
}

}  // namespace chains::evm
