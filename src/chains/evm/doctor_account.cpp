#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/fixed_point.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/doctor_checks.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm::doctor {

using domain::Address;
using domain::Bytes32;
using jsonrpc::Json;

namespace {

// In units of 10^18.
std::string coins(jsonrpc::Wei wei) {
    return base::fixed_point(wei, 18);
}

// Allowances without an end are 2^256 - 1.
std::string coins(const Bytes32& word) {
    jsonrpc::Wei low = 0;
    for (std::size_t i = 16; i < 32; ++i) low = (low << 8U) | word[i];
    const bool large = std::any_of(word.begin(), word.begin() + 16, [](auto b) { return b != 0; });
    return large ? "more than 10^20" : coins(low);
}

std::variant<Bytes32, Problem> ask_word(jsonrpc::Node& node, const Address& contract,
                                        const domain::Bytes& data) {
    const auto answer = ask_contract(node, contract, data);
    if (const auto* problem = std::get_if<Problem>(&answer)) return *problem;
    const auto word = decode_word(std::get<domain::Bytes>(answer), 0);
    if (!word) return Problem{"it does not answer as expected", true};
    return *word;
}

std::variant<Bytes32, Problem> largest_price(jsonrpc::Node& node, const Address& payment) {
    Bytes32 largest{};
    for (const Getter which : {Getter::input_verification_price, Getter::public_decryption_price,
                               Getter::user_decryption_price}) {
        const auto price = ask_word(node, payment, getter(which));
        if (const auto* problem = std::get_if<Problem>(&price)) return *problem;
        largest = std::max(largest, std::get<Bytes32>(price));
    }
    return largest;
}

// `whose`: said when there is enough.
diagnosis::Finding enough(const std::string& subject, const std::variant<Bytes32, Problem>& answer,
                          const Bytes32& price, const std::string& whose,
                          const std::string& remedy) {
    if (const auto* problem = std::get_if<Problem>(&answer)) {
        return failed(subject, problem->text + ": check the address of the fee token");
    }
    const auto& amount = std::get<Bytes32>(answer);
    const std::string text = coins(amount) + ", the dearest request costs " + coins(price);
    return amount < price ? failed(subject, text + ": " + remedy)
                          : ok(subject, text + "; " + whose);
}

}  // namespace

diagnosis::Finding check_balance(jsonrpc::Node& write, const Address& signer,
                                 jsonrpc::Wei low_balance) {
    const std::string subject = "signer";
    const std::string address = jsonrpc::hex(signer);
    const auto answer = ask(write, {"eth_getBalance", Json::array({address, "latest"})});
    if (const auto* problem = std::get_if<Problem>(&answer)) return failed(subject, problem->text);
    const auto balance = jsonrpc::wei(std::get<Json>(answer));
    if (!balance) return failed(subject, "eth_getBalance has a malformed answer");
    if (*balance == 0) {
        return failed(subject, address + " has no coins for gas: send it some");
    }
    const std::string text = address + " has " + coins(*balance) + " for gas";
    if (*balance < low_balance) {
        return warning(subject, text + ", less than " + coins(low_balance) + ": send it more soon");
    }
    return ok(subject, text);
}

diagnosis::Finding check_nonce(jsonrpc::Node& write, const Address& signer) {
    const std::string subject = "signer nonce";
    const auto count = [&](const char* block) {
        return ask_number(write,
                          {"eth_getTransactionCount", Json::array({jsonrpc::hex(signer), block})});
    };
    const auto latest = count("latest");
    const auto pending = count("pending");
    for (const auto* answer : {&latest, &pending}) {
        if (const auto* problem = std::get_if<Problem>(answer)) {
            return failed(subject, problem->text);
        }
    }
    const std::uint64_t mined = std::get<std::uint64_t>(latest);
    const std::uint64_t known = std::get<std::uint64_t>(pending);
    if (known <= mined) return ok(subject, std::to_string(mined) + ", nothing waits");
    return warning(subject,
                   std::to_string(known - mined) + " of its transactions wait behind " +
                       std::to_string(mined) +
                       ": of the running service, left from before, or of somebody else with "
                       "this key");
}

std::vector<diagnosis::Finding> check_fees(jsonrpc::Node& read, const Address& signer,
                                           const Options& options) {
    const std::string subject = "fee token";
    if (!options.protocol_payment || !options.fee_token) {
        return {warning(subject,
                        "not checked: set gateway.contracts.protocol_payment_address and "
                        "fee_token_address")};
    }
    const Address& payment = *options.protocol_payment;
    std::vector<diagnosis::Finding> findings{
        check_contract("ProtocolPayment contract", read, payment, ContractKind::protocol_payment)};
    if (findings[0].verdict == diagnosis::Finding::Verdict::failed) return findings;
    if (auto code = check_code(subject, read, *options.fee_token);
        code.verdict != diagnosis::Finding::Verdict::ok) {
        findings.push_back(std::move(code));
        return findings;
    }
    const auto price = largest_price(read, payment);
    if (const auto* problem = std::get_if<Problem>(&price)) {
        findings.push_back(
            failed("prices", problem->text + ": check the address of ProtocolPayment"));
        return findings;
    }
    const Bytes32& dearest = std::get<Bytes32>(price);
    const std::string token = jsonrpc::hex(*options.fee_token);
    findings.push_back(
        enough("fee token balance", ask_word(read, *options.fee_token, balance_of(signer)), dearest,
               "token " + token, "send tokens of " + token + " to " + jsonrpc::hex(signer)));
    findings.push_back(enough(
        "fee token allowance", ask_word(read, *options.fee_token, allowance(signer, payment)),
        dearest, "token " + token + ", spender " + jsonrpc::hex(payment),
        "approve " + jsonrpc::hex(payment) + " as a spender of token " + token +
            ", for as much as the requests of some time cost, from " + jsonrpc::hex(signer) +
            ": posthouse approve --amount N, while the service runs"));
    return findings;
}

}  // namespace chains::evm::doctor
