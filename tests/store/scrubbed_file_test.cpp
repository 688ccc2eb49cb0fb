#include "store/scrubbed_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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
