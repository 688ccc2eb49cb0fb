#include "api/access/secret_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <variant>

#include <doctest/doctest.h>

#include "support/contains.hpp"
#include "support/no_descriptors.hpp"
#include "support/temp_directory.hpp"

namespace {

using api::access::FileProblem;
using api::access::read_secret_file;

class ScratchFile {
public:
    std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
        const std::string path = this->path(name);
        std::ofstream(path, std::ios::binary) << text;
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        return path;
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (directory_.path() / name).string();
    }
    [[nodiscard]] std::string directory() const { return directory_.path().string(); }

private:
    support::TempDirectory directory_;
};

std::string problem_with_file(const std::string& path, const std::string& credentials = {}) {
    const auto read = read_secret_file(path, credentials);
    const auto* problem = std::get_if<FileProblem>(&read);
    return problem == nullptr ? "" : problem->text;
}

TEST_CASE("a file that is its owner's and group's alone is read as it is") {
    const ScratchFile scratch;
    const std::string text("one\r\ntwo\0three", 14);
    for (const mode_t mode : {0600U, 0400U, 0640U, 0660U, 0700U}) {
        CAPTURE(mode);
        CHECK(std::get<std::string>(read_secret_file(scratch.write("keys", text, mode), {})) ==
              text);
        std::filesystem::remove(scratch.path("keys"));
    }
    CHECK(std::get<std::string>(read_secret_file(scratch.write("empty", ""), {})).empty());
}

TEST_CASE("a file others may use in any way is refused with the command that helps") {
    const ScratchFile scratch;
    const std::string path = scratch.write("keys", "web the-secret-key-of-web", 0600);
    for (const mode_t mode : {0604U, 0602U, 0601U, 0644U, 0666U, 0777U}) {
        CAPTURE(mode);
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        const std::string problem = problem_with_file(path);
        CHECK(problem.starts_with(path + ": has mode 0"));
        CHECK(problem.ends_with("; run chmod o= " + path));
        CHECK_FALSE(support::contains(problem, "secret-key"));
    }
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    CHECK(support::contains(problem_with_file(path), "has mode 0644, "));
}

TEST_CASE("what is no regular file is refused, and nothing waits for a writer") {
    const ScratchFile scratch;
    const std::string pipe = scratch.path("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(support::contains(problem_with_file(pipe), pipe + ": is no regular file"));
    CHECK(support::contains(problem_with_file(scratch.directory()), "is no regular file"));
    CHECK(support::contains(problem_with_file("/dev/null"), "is no regular file"));
    CHECK(support::contains(problem_with_file(scratch.path("nowhere")),
                            "nowhere: is not there; create it"));
    CHECK(support::contains(problem_with_file(""), "is not there"));
    const std::string file = scratch.write("file", "x");
    CHECK(problem_with_file(file + "/x").starts_with(file + "/x: "));

    std::filesystem::create_symlink(file, scratch.path("link"));
    CHECK(std::get<std::string>(read_secret_file(scratch.path("link"), {})) == "x");
}

TEST_CASE("a secret that stands in place of its file's name is not shown") {
    for (const std::string& secret :
         {"0x" + std::string(64, 'a'), std::string(300, 'b'), std::string("s3cretTokens3cretToken"),
          std::string("web 4c3f6fabcdef"), std::string("dG9r/ZW4+b2Y=")}) {
        CAPTURE(secret);
        const std::string problem = problem_with_file(secret);
        CHECK(problem.starts_with("the file (its name is not shown, since it may be the secret"));
        CHECK_FALSE(support::contains(problem, secret));
        const support::NoDescriptors shortage;
        try {
            static_cast<void>(read_secret_file(secret, {}));
            FAIL("read");
        } catch (const std::system_error& error) {
            CHECK_FALSE(support::contains(error.what(), secret));
        }
    }
    for (const std::string path : {"/nowhere", "./nowhere", "../nowhere/keys"}) {
        CAPTURE(path);
        CHECK(problem_with_file(path).starts_with(path + ": is not there"));
    }
}

TEST_CASE("a shortage of descriptors says nothing about the file") {
    const ScratchFile scratch;
    const std::string file = scratch.write("file", "x");
    const support::NoDescriptors shortage;
    CHECK_THROWS_AS(static_cast<void>(read_secret_file(file, {})), std::system_error);
}

TEST_CASE("a file may have 1 MiB") {
    const ScratchFile scratch;
    const std::string largest(api::access::secret_file_bytes_max, 'x');
    CHECK(std::get<std::string>(read_secret_file(scratch.write("keys", largest), {})) == largest);
    CHECK(support::contains(problem_with_file(scratch.write("more", largest + "x")),
                            "more: is too large; allowed: 1048576 bytes"));
}

TEST_CASE("a credential is looked up where the service manager put it") {
    const ScratchFile scratch;
    scratch.write("client_keys", "text");
    const auto read = read_secret_file("credential:client_keys", scratch.directory());
    CHECK(std::get<std::string>(read) == "text");

    CHECK(support::contains(problem_with_file("credential:client_keys"),
                            "LoadCredential=client_keys:"));
    CHECK(support::contains(problem_with_file("credential:other", scratch.directory()),
                            "other: is not there"));
    for (const char* name : {"", ".", "..", "../x", "a/b", "/etc/passwd"}) {
        CAPTURE(name);
        CHECK(support::contains(
            problem_with_file(std::string("credential:") + name, scratch.directory()),
            "is no name of a credential"));
    }
}

TEST_CASE("a wiped text leaves nothing in its memory") {
    std::string text = "a text that is too long for the place inside the string object";
    const char* bytes = text.data();
    const std::size_t size = text.size();
    api::access::wipe(text);
    CHECK(text.empty());
    REQUIRE(text.data() == bytes);
    for (std::size_t i = 0; i < size && i < text.capacity(); ++i) CHECK(text.data()[i] == '\0');
}

}  // namespace
