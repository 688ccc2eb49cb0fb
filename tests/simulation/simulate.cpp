#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>

#include "simulation/world.hpp"

// simulate SEED [COUNT]: runs COUNT seeds from SEED on; prints what they did, or the first that
// broke.
namespace {

int usage() {
    std::cerr << "usage: simulate SEED [COUNT]\n";
    return 2;
}

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) return usage();
    const auto first = number(argv[1]);
    const auto count = argc == 3 ? number(argv[2]) : 1;
    if (!first || !count || *count == 0) return usage();
    try {
        simulation::Tally sum;
        for (std::uint64_t seed = *first; seed < *first + *count; ++seed) {
            sum += simulation::run(seed);
            if ((seed - *first + 1) % 1'000 == 0) {
                std::cout << (seed - *first + 1) << " seeds " << to_string(sum) << std::endl;
            }
        }
        std::cout << "seeds " << *first << " to " << *first + *count - 1
                  << " passed: " << to_string(sum) << "\n";
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return EXIT_FAILURE;
    }
}
