#pragma once

#include "engine/tuning.hpp"

namespace api {

// A tuning with a value of its own for each member that could be taken for another.
[[nodiscard]] engine::Tuning sample_tuning();

}  // namespace api
