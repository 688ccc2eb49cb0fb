#include <iostream>

#include "config/example.hpp"

// Prints config.example.toml as the table of keys has it.
int main() {
    std::cout << config::example();
}
