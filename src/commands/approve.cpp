#include "commands/approve.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/admin/approval_route.hpp"
#include "api/admin/screens.hpp"
#include "chains/evm/token_amount.hpp"
#include "commands/admin_client.hpp"
#include "commands/consent.hpp"
#include "domain/bytes.hpp"

namespace commands {

namespace {

using api::admin::approval_target;
using engine::ApprovalTerms;

constexpr std::chrono::milliseconds between_polls{500};
constexpr std::chrono::minutes inclusion_patience{2};

// It becomes a part of a query.
void require_address(const std::string& signer) {
    domain::Address address{};
    if (signer.starts_with("0x") && domain::from_hex(std::string_view{signer}.substr(2), address))
        return;
    throw std::runtime_error("nothing is approved: --signer is no address; write 0x and 40 digits");
}

ApprovalTerms ask_terms(AdminClient& client, const std::string& signer) {
    const net::ClientResponse response = client.get(approval_target(signer));
    if (response.status != 200) {
        throw std::runtime_error("nothing is approved: " + api::admin::error_screen(response.body));
    }
    if (auto terms = api::admin::read_approval_terms(response.body)) return *std::move(terms);
    throw std::runtime_error("nothing is approved: the answer of the process can not be read");
}

void confirm(const config::Approve& command, const ApprovalTerms& terms, const Operator& person) {
    const auto amount = chains::evm::read_token_amount(command.amount, terms.decimals);
    if (const auto* why = std::get_if<std::string>(&amount)) {
        throw std::runtime_error("nothing is approved: amount: " + *why);
    }
    if (command.yes) return;
    if (!person.is_there) {
        throw std::runtime_error(
            "nothing is approved: there is nobody to confirm it; look at the terms above and say "
            "--yes");
    }
    const std::string question = "Let the spender take " + command.amount + " " + terms.symbol +
                                 (terms.symbol.empty() ? "" : " ") +
                                 "in all from now on, in the place of its present allowance?";
    if (is_agreed(person.in, person.errors, question)) return;
    throw std::runtime_error("nothing is approved: it was not confirmed");
}

engine::Approved send(AdminClient& client, const config::Approve& command,
                      const ApprovalTerms& terms) {
    const std::string body =
        api::admin::approval_body({command.amount, terms.signer, terms.token, terms.spender});
    net::ClientResponse response;
    try {
        response = client.post("/admin/approval", body);
    } catch (const NotAsked& error) {
        throw std::runtime_error(std::string("nothing is approved: ") + error.what());
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(std::string(error.what()) +
                                 "; it may have been signed all the same, and then goes on by "
                                 "itself: look for own_transaction_signed in the log of the "
                                 "process before you approve again");
    }
    if (response.status != 200) {
        throw std::runtime_error("nothing is approved: " + api::admin::error_screen(response.body));
    }
    if (auto approved = api::admin::read_approved(response.body)) return *std::move(approved);
    throw std::runtime_error("the answer of the process can not be read; see its log");
}

// Others may have been sent since. Null: the process knows it no more.
const ApprovalTerms::Sent* find_sent(const ApprovalTerms& terms, std::uint64_t nonce) {
    const auto found = std::ranges::find(terms.sent, nonce, &ApprovalTerms::Sent::nonce);
    return found == terms.sent.end() ? nullptr : &*found;
}

// The terms once a block has it, or what was known of it last. A process that restarts meanwhile is
// waited for.
ApprovalTerms wait_for(AdminClient& client, ApprovalTerms terms, std::uint64_t nonce) {
    const auto end = std::chrono::steady_clock::now() + inclusion_patience;
    while (std::chrono::steady_clock::now() < end) {
        try {
            terms = ask_terms(client, terms.signer);
            const auto* sent = find_sent(terms, nonce);
            if (sent != nullptr && sent->state != "sent") break;
        } catch (const std::runtime_error&) {
            terms.sent.clear();
        }
        std::this_thread::sleep_for(between_polls);
    }
    return terms;
}

int tell(const config::Approve& command, const engine::Approved& approved,
         const ApprovalTerms& terms, const Operator& person) {
    const auto* sent = find_sent(terms, approved.nonce);
    const std::string state = sent != nullptr ? sent->state : "sent";
    // Not the one that was signed first, when fees had to be raised.
    const std::string hash = sent != nullptr ? sent->hash : approved.hash;
    const bool has_block = sent != nullptr && sent->block;
    const std::string block = has_block ? std::to_string(*sent->block) : "";
    if (command.json) {
        nlohmann::ordered_json body{
            {"nonce", approved.nonce}, {"hash", hash},         {"amount", approved.amount},
            {"signer", terms.signer},  {"token", terms.token}, {"spender", terms.spender},
            {"state", state}};
        if (has_block) body["block"] = *sent->block;
        if (state == "included") body["allowance"] = terms.allowance;
        person.out << body.dump() << "\n";
    } else if (state == "included") {
        person.out << "included in block " << block
                   << (hash == approved.hash ? "" : ", after its fees were raised as " + hash)
                   << "; the allowance is " << terms.allowance << " now\n";
    } else if (state == "reverted") {
        person.out << "reverted in block " << block << ": the token refused it\n";
    } else if (state == "replaced") {
        person.out << "replaced: another transaction has its nonce, see the log of the process\n";
    } else {
        person.out << "in no block yet: it goes on by itself, also after a restart; posthouse "
                      "doctor shows the allowance\n";
    }
    return state == "included" ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int approve(const config::Settings& settings, const config::Approve& command,
            const Operator& person) {
    if (command.signer) require_address(*command.signer);
    AdminClient client(settings.store);
    client.require_process("approve");
    const ApprovalTerms terms = ask_terms(client, command.signer.value_or(""));
    (command.json ? person.errors : person.out) << api::admin::terms_screen(terms) << std::flush;
    confirm(command, terms, person);
    const engine::Approved approved = send(client, command, terms);
    if (!command.json) {
        person.out << "approved   " << approved.amount << ", nonce " << approved.nonce << ", hash "
                   << approved.hash << "\n"
                   << std::flush;
    }
    return tell(command, approved, wait_for(client, terms, approved.nonce), person);
}

}  // namespace commands
