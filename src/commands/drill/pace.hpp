#pragma once

#include <chrono>
#include <string>

#include "commands/drill/notebook.hpp"
#include "ports/progress.hpp"

namespace commands::drill {

// Lets time pass, and tells meanwhile how far a drill is. One thread.
class Pace {
public:
    // `seconds`: what all of it will take, as planned. Both others outlive it.
    Pace(const ports::Progress& progress, const Notebook& notebook, double seconds)
        : progress_(progress), notebook_(notebook), seconds_left_(seconds) {}

    // The next part, and what it will take.
    void begin(std::string what, double seconds);
    // Throws what the progress throws.
    void wait(std::chrono::milliseconds time);

private:
    using Stopwatch = std::chrono::steady_clock;

    void show();

    const ports::Progress& progress_;
    const Notebook& notebook_;
    const Stopwatch::time_point began_ = Stopwatch::now();
    std::string what_;
    Stopwatch::time_point part_began_;
    double part_seconds_ = 0;
    double seconds_left_;
};

}  // namespace commands::drill
