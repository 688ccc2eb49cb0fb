#include "commands/drill/pace.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>

namespace commands::drill {

using namespace std::chrono_literals;

void Pace::begin(std::string what, double seconds) {
    what_ = std::move(what);
    part_began_ = Stopwatch::now();
    part_seconds_ = seconds;
    seconds_left_ -= seconds;
    show();
}

void Pace::wait(std::chrono::milliseconds time) {
    const auto end = Stopwatch::now() + time;
    do {
        show();
        std::this_thread::sleep_until(std::min(end, Stopwatch::now() + 20ms));
    } while (Stopwatch::now() < end);
}

// In milliseconds, as planned.
void Pace::show() {
    const auto since = [](Stopwatch::time_point begin) {
        return std::chrono::duration<double, std::milli>(Stopwatch::now() - begin).count();
    };
    const double spent = since(began_);
    const double left_of_part = 1'000 * part_seconds_ - since(part_began_);
    const double left = 1'000 * seconds_left_ + std::max(left_of_part, 0.0);
    const auto accepted = notebook_.promises();
    const auto rate = static_cast<std::uint64_t>(1'000 * static_cast<double>(accepted) / spent);
    const std::string note =
        what_ + ", " + std::to_string(accepted) + " accepted, " + std::to_string(rate) + "/s";
    progress_({"drill", static_cast<std::uint64_t>(spent), static_cast<std::uint64_t>(spent + left),
               note});
}

}  // namespace commands::drill
