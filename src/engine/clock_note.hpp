#pragma once

#include "engine/filtered_clock.hpp"
#include "ports/clock.hpp"
#include "store/store.hpp"

// What the wall clock was believed to say, kept over restarts: a clock that leaps while the program
// is down is held as one that leaps under it. Where the machine was started anew as well there is
// nothing to compare with, and its clock is believed.
namespace engine::clock_note {

// Before the first look at `filtered`, which reads `clock`.
void go_on(store::Store& store, const ports::Clock& clock, FilteredClock& filtered);

// In a transaction. Writes only what has moved.
void keep(store::Store& store, const ports::Clock& clock, const FilteredClock& filtered);

}  // namespace engine::clock_note
