#pragma once

#include <cstdint>

#include "domain/request_id.hpp"
#include "domain/time.hpp"
#include "ports/random.hpp"

namespace engine {

// Makes ids that rise strictly, also within a millisecond, over clock steps and over restarts. One
// thread.
class RequestIds {
public:
    // `last`: the highest sequence ever given out.
    RequestIds(ports::Random& random, std::int64_t last) : random_(random), last_(last) {}

    [[nodiscard]] domain::RequestId next(domain::Timestamp now);

    // About when: ids run ahead of a wall clock that was set back.
    [[nodiscard]] static domain::Timestamp given_out(const domain::RequestId& id);

private:
    ports::Random& random_;
    std::int64_t last_;
};

}  // namespace engine
