#include "store/scrubbed_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "store/errors.hpp"
#include "support/temp_directory.hpp"

namespace {

// Also reached by another name, so that what is left of its bytes can be looked at.
void write_linked(const std::filesystem::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
    std::filesystem::create_hard_link(file, file.string() + ".link");
}

bool is_wiped(const std::filesystem::path& file, std::size_t bytes) {
    std::ifstream in(file.string() + ".link", std::ios::binary);
    const std::string left{std::istreambuf_iterator<char>(in), {}};
    return !std::filesystem::exists(file) && left == std::string(bytes, '\0');
}

// It takes one look to overwrite it.
void write_large(const std::filesystem::path& file) {
    std::ofstream(file) << "secret";
    std::filesystem::resize_file(file, (std::uintmax_t{64} << 20U) + 1);
}

struct Interrupted {};

}  // namespace

TEST_CASE("a file that is needed for a while leaves nothing behind") {
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.path() / "copy";
    const std::filesystem::path unfinished = directory.path() / "copy.unfinished";
    const std::size_t bytes = (std::size_t{5} << 19U) + 3;
    {
        const store::ScrubbedFile scrubbed(file);
        CHECK(scrubbed.path() == file);
        write_linked(file, std::string(bytes, 's'));
        write_linked(unfinished, "secret");
    }
    CHECK(is_wiped(file, bytes));
    CHECK(is_wiped(unfinished, 6));
}

TEST_CASE("what a killed process left goes before the place is used") {
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.path() / "copy";
    write_linked(file, "secret");
    write_linked(directory.path() / "copy.unfinished", "secret");
    const store::ScrubbedFile scrubbed(file);
    CHECK(is_wiped(file, 6));
    CHECK(is_wiped(directory.path() / "copy.unfinished", 6));
}

TEST_CASE("what is no file of ours stays where it is") {
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.path() / "copy";
    const std::filesystem::path other = directory.path() / "other";
    std::ofstream(other) << "kept";
    std::filesystem::create_symlink(other, file);
    CHECK_THROWS_AS(store::ScrubbedFile{file}, store::StorageError);
    std::ifstream in(other);
    CHECK(std::string{std::istreambuf_iterator<char>(in), {}} == "kept");
}

TEST_CASE("somebody looks in between while a large file is overwritten, and may end it") {
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.path() / "copy";
    write_large(file);
    int looks = 0;
    store::scrub(file, [&looks] { ++looks; });
    CHECK(looks == 1);
    CHECK_FALSE(std::filesystem::exists(file));

    write_large(file);
    CHECK_THROWS_AS(store::scrub(file, [] { throw Interrupted(); }), Interrupted);
    CHECK(std::filesystem::exists(file));
    CHECK_THROWS_AS(store::ScrubbedFile(file, [] { throw Interrupted(); }), Interrupted);
    CHECK(std::filesystem::exists(file));
    store::scrub(file);
    {
        const store::ScrubbedFile scrubbed(file, [] { throw Interrupted(); });
        write_large(file);
    }
    CHECK(std::filesystem::exists(file));  // for the next one
    const store::ScrubbedFile scrubbed(file);
    CHECK_FALSE(std::filesystem::exists(file));
}
