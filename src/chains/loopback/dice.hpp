#pragma once

#include <atomic>
#include <cstdint>

#include "chains/loopback/options.hpp"
#include "domain/bytes.hpp"

namespace chains::loopback {

// What is rolled for: equal subjects meet independent fates in different matters.
enum class Matter : std::uint64_t {
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
class Dice {
public:
    // `run` sets the sequence of one process run apart from that of the next.
    Dice(std::uint64_t seed, std::uint64_t run);

    // The same number for the same subject, in every run.
    [[nodiscard]] std::uint64_t number(Matter matter, domain::ByteView about) const;

    // Whether the subject is among the share; the same answer in every run.
    [[nodiscard]] bool fate(Matter matter, domain::ByteView about, Permille share) const;

    // The next number of the sequence of this run.
    [[nodiscard]] std::uint64_t roll(Matter matter);

    // Rolled anew at each call; does not use up a number when the share leaves no doubt.
    [[nodiscard]] bool chance(Matter matter, Permille share);

    // Does not use up a number when both ends are equal.
    [[nodiscard]] domain::Milliseconds draw(const Latency& latency);

private:
    const std::uint64_t seed_;
    const std::uint64_t run_;
    std::atomic<std::uint64_t> rolls_{0};
};

// Bytes that look random and follow from the subject.
[[nodiscard]] domain::Bytes filler(domain::ByteView about, std::uint64_t label, std::size_t size);

}  // namespace chains::loopback
