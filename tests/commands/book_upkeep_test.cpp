// Copies of the book that nobody needs any more.

#include "commands/book_upkeep.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temp_directory.hpp"

namespace {

struct Directory {
    Directory() {
        options.directory = temporary.path();
        for (const char* folder : {"snapshot", "incoming", "links"}) {
            std::filesystem::create_directory(file(folder));
        }
    }

    [[nodiscard]] std::filesystem::path file(const std::string& name) const {
        return options.directory / name;
    }
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream in(file(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    // Also reached by another name, so that what is left of its bytes can be looked at.
    void write(const std::string& name) const {
        std::ofstream(file(name), std::ios::binary) << "secret";
        std::filesystem::create_hard_link(file(name), link_to(name));
    }
    [[nodiscard]] bool is_wiped(const std::string& name) const {
        std::ifstream in(link_to(name), std::ios::binary);
        const std::string left{std::istreambuf_iterator<char>(in), {}};
        return left == std::string(6, '\0');
    }

    const support::TempDirectory temporary;
    store::Options options;

private:
    [[nodiscard]] std::filesystem::path link_to(std::string name) const {
        for (char& c : name) c = c == '/' ? '_' : c;
        return file("links") / name;
    }
};

}  // namespace

TEST_CASE("copies that a killed process left are wiped") {
    const Directory directory;
    commands::scrub_leftovers(directory.options);  // there is nothing yet
    const std::string copies[] = {"snapshot/posthouse.db", "snapshot/posthouse.db.unfinished",
                                  "incoming/posthouse.db", "incoming/posthouse.db.unfinished",
                                  "incoming/replaced.db",  "incoming/replaced.db-wal",
                                  "cluster-init.snapshot", "cluster-init.snapshot.unfinished"};
    for (const std::string& copy : copies) directory.write(copy);
    directory.write("posthouse.db");
    commands::scrub_leftovers(directory.options);
    for (const std::string& copy : copies) {
        CAPTURE(copy);
        CHECK(directory.is_wiped(copy));
        CHECK_FALSE(std::filesystem::exists(directory.file(copy)));
    }
    CHECK(directory.content("posthouse.db") == "secret");
}

TEST_CASE("a file that a snapshot replaces is wiped, with its log") {
    const Directory directory;
    for (const char* name : {"posthouse.db", "posthouse.db-wal", "posthouse.db-shm"}) {
        directory.write(name);
    }
    std::ofstream(directory.file("incoming/posthouse.db")) << "new";
    commands::replace_file(directory.options, directory.file("incoming/posthouse.db"));
    CHECK(directory.content("posthouse.db") == "new");
    commands::scrub_leftovers(directory.options);
    CHECK(directory.content("posthouse.db") == "new");
    CHECK_FALSE(std::filesystem::exists(directory.file("posthouse.db-shm")));
    CHECK_FALSE(std::filesystem::exists(directory.file("posthouse.db-wal")));
    CHECK(directory.is_wiped("posthouse.db"));
    CHECK(directory.is_wiped("posthouse.db-wal"));

    // A node that joins has none.
    std::filesystem::remove(directory.file("posthouse.db"));
    std::ofstream(directory.file("incoming/posthouse.db")) << "newer";
    commands::replace_file(directory.options, directory.file("incoming/posthouse.db"));
    CHECK(directory.content("posthouse.db") == "newer");
}
