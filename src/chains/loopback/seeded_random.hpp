#pragma once

#include <atomic>
#include <cstdint>

#include "chains/loopback/options.hpp"
#include "domain/bytes.hpp"

namespace chains::loopback {

// What a number is for: equal subjects get independent numbers for different purposes.
enum class Purpose : std::uint64_t {
    latency,
    check_unreachable,
    acl_refusal,
    acl_question,
    late_readiness,
    prepare_unreachable,
    estimation_revert,
    estimation_selector,
    proof_failure,
    send_unreachable,
    lost_reply,
    revert,
    revert_selector,
    already_revealed,
    proof_rejection,
    missing_node,
    early_answer,
    duplicate_answer,
    foreign_answer,
    salt,
    filler,
};

// Chance that can be replayed. Any thread.
class SeededRandom {
public:
    // `run` sets the sequence of one process run apart from that of the next.
    SeededRandom(std::uint64_t seed, std::uint64_t run);

    // The same number for the same subject, in every run.
    [[nodiscard]] std::uint64_t number(Purpose purpose, domain::ByteView about) const;

    // Whether the subject is among the share; the same answer in every run.
    [[nodiscard]] bool is_among(Purpose purpose, domain::ByteView about, Permille share) const;

    // The next number of the sequence of this run.
    [[nodiscard]] std::uint64_t next_number(Purpose purpose);

    // Rolled anew at each call; does not use up a number when the share leaves no doubt.
    [[nodiscard]] bool chance(Purpose purpose, Permille share);

    // Does not use up a number when both ends are equal.
    [[nodiscard]] domain::Milliseconds draw(const Latency& latency);

private:
    const std::uint64_t seed_;
    const std::uint64_t run_;
    std::atomic<std::uint64_t> given_{0};
};

// Bytes that look random and follow from the subject.
[[nodiscard]] domain::Bytes filler(domain::ByteView about, std::uint64_t label, std::size_t size);

}  // namespace chains::loopback
