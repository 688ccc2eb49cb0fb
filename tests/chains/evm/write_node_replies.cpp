#include <iostream>

#include "chains/evm/node_replies_page.hpp"

// Prints docs/node-replies.md as the tables have it.
int main() {
    std::cout << support::node_replies_page();
}
