#pragma once

#include "engine/admission.hpp"
#include "engine/context.hpp"
#include "engine/instructions.hpp"

// Operators steer single requests.
namespace engine::operations {

// Inside the step. What is under way for a request that is cancelled comes back as stale.
[[nodiscard]] InstructionOutcome apply(Context& context, Admission& admission,
                                       const Instruction& instruction);

}  // namespace engine::operations
