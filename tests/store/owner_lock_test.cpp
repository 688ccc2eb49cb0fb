#include "store/owner_lock.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "store/harness.hpp"
#include "support/contains.hpp"

namespace {

// Another process; what it returns can be read until its end, then it stands still until it is
// killed.
class Child {
public:
    explicit Child(const std::function<std::string()>& work) {
        std::array<int, 2> ends{};
        REQUIRE(::pipe(ends.data()) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            ::close(ends[0]);
            const std::string said = work();
            static_cast<void>(!::write(ends[1], said.data(), said.size()));
            ::close(ends[1]);
            while (true) ::pause();
        }
        ::close(ends[1]);
        std::array<char, 512> part{};
        ssize_t length = 0;
        while ((length = ::read(ends[0], part.data(), part.size())) > 0) {
            said_.append(part.data(), static_cast<std::size_t>(length));
        }
        ::close(ends[0]);
    }
    ~Child() { kill(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void kill() {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    [[nodiscard]] const std::string& said() const { return said_; }
    [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

private:
    pid_t pid_ = 0;
    std::string said_;
};

// Holds the store it opens until the process is killed.
std::string open_and_keep(const store::Options& options) {
    static std::optional<store::Store> kept;
    try {
        kept.emplace(options);
        kept->probe();
        return "opened";
    } catch (const store::OpenError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a second process is refused by the pid of the first, whatever way it comes") {
    namespace fs = std::filesystem;
    struct Row {
        std::string label;
        std::function<fs::path(const fs::path& temporary)> way;
    };
    const Row table[] = {
        {"the same path", [](const fs::path& temporary) { return temporary / "data"; }},
        {"a crooked path",
         [](const fs::path& temporary) { return temporary / "data" / ".." / "data" / ""; }},
        {"a link to the directory",
         [](const fs::path& temporary) {
             fs::create_directory_symlink(temporary / "data", temporary / "link");
             return temporary / "link";
         }},
        {"a link to the directory above",
         [](const fs::path& temporary) {
             fs::create_directory_symlink(temporary, temporary / "link");
             return temporary / "link" / "data";
         }},
        {"a link to the file",
         [](const fs::path& temporary) {
             fs::create_directory(temporary / "other");
             fs::create_symlink(temporary / "data" / "posthouse.db",
                                temporary / "other" / "posthouse.db");
             return temporary / "other";
         }},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Harness harness;
        store::Options second = harness.options;
        second.directory = row.way(harness.temporary.path());
        const Child child([&] { return open_and_keep(second); });
        CHECK(support::contains(
            child.said(), "in use by another process (pid " + std::to_string(::getpid()) + ")"));
        CHECK(support::contains(child.said(), "--data-dir"));
        harness.store->probe();
    }
}

TEST_CASE("after the holder was killed its data opens at once") {
    Harness harness;
    harness.close();
    Child holder([&] { return open_and_keep(harness.options); });
    REQUIRE(holder.said() == "opened");
    CHECK_THROWS_WITH_AS(harness.open(), doctest::Contains(("pid " + holder.pid()).c_str()),
                         store::OpenError);
    holder.kill();
    harness.open();
    CHECK(support::contains(harness.contents(), "probe 1 1\n"));
    CHECK(integrity(harness.options) == "ok");
}

TEST_CASE("the lock is given back at the end of the object") {
    const support::TempDirectory temporary;
    for (int i = 0; i < 3; ++i) {
        const store::OwnerLock lock(temporary.path());
        CHECK_THROWS_AS(store::OwnerLock{temporary.path()}, store::OpenError);
    }
}

TEST_CASE("a link in the place of the lock file is not followed") {
    const support::TempDirectory temporary;
    const auto target = temporary.path() / "precious";
    std::ofstream(target) << "content";
    const auto directory = temporary.path() / "data";
    std::filesystem::create_directory(directory);
    for (const auto& to : {target, temporary.path() / "not there"}) {
        CAPTURE(to);
        std::filesystem::create_symlink(to, directory / "posthouse.lock");
        CHECK_THROWS_AS(store::OwnerLock{directory}, store::OpenError);
        std::filesystem::remove(directory / "posthouse.lock");
    }
    CHECK(std::filesystem::file_size(target) == 7);
    CHECK_FALSE(std::filesystem::exists(temporary.path() / "not there"));
}

TEST_CASE("the lock file belongs to the owner of the directory") {
    if (::geteuid() != 0) return;
    const support::TempDirectory temporary;
    REQUIRE(::chown(temporary.path().c_str(), 4'711, 4'712) == 0);
    struct stat status {};
    {
        const store::OwnerLock lock(temporary.path());
        REQUIRE(::stat((temporary.path() / "posthouse.lock").c_str(), &status) == 0);
        CHECK(status.st_uid == 4'711);
        CHECK(status.st_gid == 4'712);
    }
    // One that was there stays whose it is.
    REQUIRE(::chown((temporary.path() / "posthouse.lock").c_str(), 0, 0) == 0);
    const store::OwnerLock lock(temporary.path());
    REQUIRE(::stat((temporary.path() / "posthouse.lock").c_str(), &status) == 0);
    CHECK(status.st_uid == 0);
}

TEST_CASE("a lock file of a process that is gone does not stand in the way") {
    const support::TempDirectory temporary;
    {
        const Child holder([&] {
            static const store::OwnerLock kept(temporary.path());
            return std::string("locked");
        });
        REQUIRE(holder.said() == "locked");
        REQUIRE(std::filesystem::file_size(temporary.path() / "posthouse.lock") > 0);
    }
    const store::OwnerLock lock(temporary.path());
    CHECK(std::filesystem::exists(temporary.path() / "posthouse.lock"));
}
