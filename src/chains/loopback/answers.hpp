#pragma once

#include <vector>

#include "chains/loopback/ledger.hpp"
#include "chains/loopback/options.hpp"
#include "chains/loopback/seeded_random.hpp"
#include "engine/gateway.hpp"

namespace chains::loopback {

// What the coprocessors and KMS nodes behind the chain answer. Follows from the transaction and the
// options alone, so an answer can be made again after a restart. Any thread.
class Answers {
public:
    Answers(const Options& options, const SeededRandom& random);

    // All the pieces the answer to a kind has: one, for user decryptions one per living KMS node.
    [[nodiscard]] std::vector<Pieces> pieces_of(domain::Kind kind) const;

    // Appends the pieces of one answer in ascending order.
    void make(const PlacedAnswer& placed, std::vector<engine::Answer>& out) const;

private:
    [[nodiscard]] engine::AnswerBody body(const Draft& draft) const;
    [[nodiscard]] domain::ProofAccepted accepted_proof(const Draft& draft) const;
    [[nodiscard]] domain::PublicDecrypted public_value(const Draft& draft) const;
    [[nodiscard]] domain::KmsShare kms_share(const Draft& draft, std::uint32_t index) const;
    [[nodiscard]] std::vector<domain::Bytes> signatures(const Draft& draft) const;

    const Options options_;
    const SeededRandom& random_;
    const Pieces living_nodes_;
};

}  // namespace chains::loopback
