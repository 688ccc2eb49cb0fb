#include "engine/clock_note.hpp"

#include <optional>
#include <sstream>
#include <string>

namespace engine::clock_note {

using domain::Nanoseconds;

namespace {

const std::string note_name = "clock";
// How far the offset drifts before it is written again.
constexpr Nanoseconds drift_max = std::chrono::seconds{1};

// From 1970 to 2116: nothing that is reckoned with it overflows.
bool is_plausible(Nanoseconds offset) {
    return offset >= Nanoseconds::zero() && offset <= Nanoseconds::max() / 2;
}

// What was noted in this boot; a damaged note is none.
std::optional<Nanoseconds> read(store::Store& store, const std::string& boot) {
    std::istringstream words(store.note(note_name).value_or(""));
    std::string noted_boot;
    Nanoseconds::rep offset = 0;
    const bool is_whole = words >> noted_boot >> offset && words.eof();
    if (!is_whole || noted_boot != boot || !is_plausible(Nanoseconds{offset})) return std::nullopt;
    return Nanoseconds{offset};
}

}  // namespace

void go_on(store::Store& store, const ports::Clock& clock, FilteredClock& filtered) {
    if (const auto furthest = read(store, clock.boot())) filtered.go_on_from(*furthest);
}

void keep(store::Store& store, const ports::Clock& clock, const FilteredClock& filtered) {
    const std::string boot = clock.boot();
    if (boot.empty()) return;
    const auto noted = read(store, boot);
    if (noted && std::chrono::abs(*noted - filtered.furthest()) <= drift_max) return;
    store.keep_note(note_name, boot + " " + std::to_string(filtered.furthest().count()));
}

}  // namespace engine::clock_note
