#include "chains/votes/prover/prover_protocol.hpp"

#include <utility>

#include "base/sanitize.hpp"

namespace chains::votes::prover {
namespace {

constexpr std::size_t message_bytes_max = 200;

std::string_view meaning(std::int64_t code) {
    switch (code) {
        case -1:
            return " (invalid inputs)";
        case -3:
            return " (non-canonical field element or bad point)";
        case -5:
            return " (proving failed)";
        default:
            return "";
    }
}

}  // namespace

Secret request(const Witness& witness, ProverFormat format) {
    return format == ProverFormat::json ? json_request(witness) : binary_request(witness);
}

ProverAnswer read_answer(std::string_view bytes, ProverFormat format) {
    return format == ProverFormat::json ? read_json_answer(bytes) : read_binary_answer(bytes);
}

std::string describe(const ProverError& error, std::span<const std::string> secrets) {
    std::string text = "prover error " + std::to_string(error.code);
    text += meaning(error.code);
    const std::string message = base::harmless_text(error.message, message_bytes_max, secrets);
    if (!message.empty()) text += ": " + message;
    return text;
}

std::string describe(const Malformed& answer) {
    return "no usable answer of the prover: " + answer.why;
}

ProverAnswer checked(Proof proof) {
    if (proof.bytes.empty()) return Malformed{"proof is empty"};
    if (proof.bytes.size() > proof_bytes_max) {
        return Malformed{"proof of " + std::to_string(proof.bytes.size()) + " bytes is too long"};
    }
    return proof;
}

}  // namespace chains::votes::prover
