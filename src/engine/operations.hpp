#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/admission.hpp"
#include "engine/context.hpp"
#include "engine/holds.hpp"
#include "engine/instructions.hpp"

// Operators steer single requests, and what begins at all.
namespace engine::operations {

// Inside the step. What is under way for a request that is cancelled comes back as stale. `begun`:
// how far steps before came with it. Nothing: there is more to do, in the next step.
[[nodiscard]] std::optional<InstructionOutcome> apply(Context& context, Admission& admission,
                                                      const Instruction& instruction,
                                                      holds::BegunRelease& begun);
// At the start: the ends of pauses that a process before this one had only begun.
void finish_pauses(Context& context);

// Nothing is signed for it, so that a pause of its family holds it.
[[nodiscard]] bool waits_for_gates(const store::Row& row);
// A timer row that may not go on while its family is paused, nothing being signed for it.
[[nodiscard]] bool is_paused(const Context& context, const store::Row& row);
// It waits in its queue, whatever its timer was for.
void keep_queued(Context& context, const store::Row& row);

// Under which name a pause is remembered, with the Unix milliseconds of its beginning.
[[nodiscard]] std::string pause_setting(domain::Family family);
// What earlier lives left; processor thread, before the first step.
void restore_pauses(const std::vector<store::Setting>& settings, Gates& gates);

}  // namespace engine::operations
