#pragma once

#include <cstdint>
#include <map>

#include "engine/context.hpp"
#include "engine/inbox.hpp"
#include "engine/request_ids.hpp"

namespace engine {

// Writes new requests down, or finds that they are here already (relayer-api 2.3,
// share-helper 2.3).
class Admission {
public:
    explicit Admission(RequestIds ids) : ids_(ids) {}

    [[nodiscard]] AcceptOutcome admit(Context& context, const Submission& submission);

    // At the end of a step's submissions.
    void finish(Context& context);
    // The step was rolled back: rounds it made are gone.
    void undo();

private:
    [[nodiscard]] AcceptOutcome admit_content(Context& context, const Submission& submission);
    [[nodiscard]] std::int64_t round_of(Context& context, const Submission& submission);

    RequestIds ids_;
    std::map<domain::Bytes32, std::int64_t> rounds_;  // known rows, so that they are looked up once
    std::map<std::int64_t, std::uint64_t> new_in_round_;  // shares of this step
};

}  // namespace engine
