#include "commands/directory_owner.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace commands {

void become_owner_of(const std::filesystem::path& directory) {
    struct stat facts {};
    if (::stat(directory.c_str(), &facts) != 0) {
        throw std::runtime_error("can not look into " + directory.string() + ": " +
                                 std::generic_category().message(errno) +
                                 "; name the data directory with --data-dir or --config");
    }
    if (::geteuid() != 0 || facts.st_uid == 0) return;
    if (::setgroups(0, nullptr) != 0 || ::setgid(facts.st_gid) != 0 ||
        ::setuid(facts.st_uid) != 0) {
        throw std::runtime_error("can not become the owner of " + directory.string() + ": " +
                                 std::generic_category().message(errno));
    }
}

}  // namespace commands
