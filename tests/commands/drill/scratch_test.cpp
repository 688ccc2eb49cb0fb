#include "commands/drill/scratch.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "support/temp_directory.hpp"

using commands::drill::Scratch;

TEST_CASE("a scratch directory lies where the data lie or would lie, and goes away") {
    const support::TempDirectory home;
    std::ofstream(home.file("file")) << "data";
    for (const char* const name : {"", "data", "data/below", "file"}) {
        CAPTURE(name);
        std::filesystem::path path;
        {
            const Scratch scratch(home.path() / name, 0);
            path = scratch.path();
            CHECK(path.parent_path() == home.path());
            CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all);
            std::filesystem::create_directories(path / "a/b");
            std::ofstream(path / "a/b/c") << "more";
        }
        CHECK_FALSE(std::filesystem::exists(path));
    }
    CHECK(std::distance(std::filesystem::directory_iterator(home.path()), {}) == 1);
    const std::filesystem::path inside = home.path() / "there";
    std::filesystem::create_directory(inside);
    CHECK(Scratch(inside, 0).path().parent_path() == inside);
}

TEST_CASE("without room there is no drill") {
    const support::TempDirectory home;
    constexpr auto too_much = std::numeric_limits<std::uint64_t>::max();
    CHECK_THROWS_AS(Scratch(home.path(), too_much), std::runtime_error);
    CHECK(std::filesystem::is_empty(home.path()));
}
