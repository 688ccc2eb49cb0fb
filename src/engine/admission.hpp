#pragma once

#include "engine/context.hpp"
#include "engine/inbox.hpp"
#include "engine/request_ids.hpp"

namespace engine {

// Writes new requests down, or finds that they are here already (relayer-api 2.3,
// share-helper 2.3).
class Admission {
public:
    explicit Admission(RequestIds ids) : ids_(std::move(ids)) {}

    [[nodiscard]] AcceptOutcome admit(Context& context, const Submission& submission);

private:
    RequestIds ids_;
};

}  // namespace engine
