#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "simulation/world.hpp"

// simulate SEED [COUNT]: runs COUNT seeds from SEED on; prints what they did, or the first that broke.
int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::cerr << "usage: simulate SEED [COUNT]\n";
        return 2;
    }
    try {
        const std::uint64_t first = std::stoull(argv[1]);
        const std::uint64_t count = argc == 3 ? std::stoull(argv[2]) : 1;
        simulation::Tally sum;
        for (std::uint64_t seed = first; seed < first + count; ++seed) {
            sum += simulation::run(seed);
            if ((seed - first + 1) % 1'000 == 0) {
                std::cout << (seed - first + 1) << " seeds " << to_string(sum) << std::endl;
            }
        }
        std::cout << "seeds " << first << " to " << first + count - 1 << " passed: "
                  << to_string(sum) << "\n";
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return EXIT_FAILURE;
    }
}
