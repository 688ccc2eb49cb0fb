#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "chains/votes/options.hpp"
#include "chains/votes/prover/prover.hpp"
#include "chains/votes/prover/prover_secret.hpp"

// What provers and we say to each other, version 1 (docs/prover.md).
namespace chains::votes::prover {

inline constexpr std::size_t answer_bytes_max = 65'536;
inline constexpr std::size_t binary_length_bytes = 4;
inline constexpr std::size_t binary_witness_begin = 5;  // behind length and version

// One JSON object with the line's end.
[[nodiscard]] Secret json_request(const Witness& witness);
// Length, version, witness.
[[nodiscard]] Secret binary_request(const Witness& witness);
[[nodiscard]] Secret request(const Witness& witness, ProverFormat format);

// The prover understood the request and refused; the message is as it came.
struct ProverError {
    std::int64_t code = 0;
    std::string message;
};

// No answer that the protocol knows.
struct Malformed {
    std::string why;  // our words
};

using ProverAnswer = std::variant<Proof, ProverError, Malformed>;

[[nodiscard]] ProverAnswer read_json_answer(std::string_view text);
// With its length; nothing may follow.
[[nodiscard]] ProverAnswer read_binary_answer(std::string_view frame);
[[nodiscard]] ProverAnswer read_answer(std::string_view bytes, ProverFormat format);

// Whether nothing belongs to the answer that is not there yet.
[[nodiscard]] bool is_whole(std::string_view bytes, ProverFormat format);

// One line without witness data and `secrets` (base/sanitize.hpp).
[[nodiscard]] std::string describe(const ProverError& error,
                                   std::span<const std::string> secrets = {});
[[nodiscard]] std::string describe(const Malformed& answer);

// Malformed when its size is none of a proof.
[[nodiscard]] ProverAnswer checked(Proof proof);

}  // namespace chains::votes::prover
