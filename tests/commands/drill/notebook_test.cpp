#include "commands/drill/notebook.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

using namespace commands::drill;

TEST_CASE("a notebook keeps all that many clients were promised") {
    Notebook notebook;
    CHECK_FALSE(notebook.any(5));
    constexpr std::uint64_t clients = 4;
    constexpr std::uint64_t each = 250;
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t client = 0; client < clients; ++client) {
            threads.emplace_back([&notebook, client] {
                for (std::uint64_t i = 0; i < each; ++i) {
                    const auto number = client * each + i;
                    notebook.promise({{.number = number}, {static_cast<std::int64_t>(number), 0}});
                    notebook.later();
                    notebook.unanswered();
                }
            });
        }
    }
    notebook.repeat({3, {7, 8}});
    notebook.violation("odd");
    const Notes notes = notebook.notes();
    CHECK(notes.promises.size() == clients * each);
    CHECK(notebook.promises() == clients * each);
    std::vector<bool> seen(clients * each);
    for (const Promise& promise : notes.promises) seen.at(promise.wish.number) = true;
    CHECK(std::vector<bool>(clients * each, true) == seen);
    CHECK(notes.later == clients * each);
    CHECK(notes.unanswered == clients * each);
    CHECK(notes.repeats.size() == 1);
    CHECK(notes.violations == std::vector<std::string>{"odd"});
    const auto picked = notebook.any(clients * each + 2);
    REQUIRE(picked);
    CHECK(picked->first == 2);
    CHECK(picked->second.wish.number == notes.promises[2].wish.number);
}
