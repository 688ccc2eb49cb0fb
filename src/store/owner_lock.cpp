#include "store/owner_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "store/open_errors.hpp"
#include "store/private_file.hpp"

namespace store {

namespace {

std::string holder_of(int descriptor) {
    std::array<char, 32> text{};
    const ssize_t length = ::pread(descriptor, text.data(), text.size() - 1, 0);
    std::string pid(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    while (!pid.empty() && (pid.back() == '\n' || pid.back() == '\0')) pid.pop_back();
    return pid.empty() ? "an unknown pid" : "pid " + pid;
}

}  // namespace

OwnerLock::OwnerLock(const std::filesystem::path& directory) {
    const std::filesystem::path path = std::filesystem::canonical(directory) / "posthouse.lock";
    descriptor_ = open_private_file(path, O_NOFOLLOW);
    if (descriptor_ < 0) {
        refuse_place("can not open " + path.string(), path.parent_path(), errno);
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        const std::string holder = holder_of(descriptor_);
        ::close(descriptor_);
        throw OpenError("the data directory " + path.parent_path().string() +
                        " is in use by another process (" + holder +
                        "); stop it or give this one another --data-dir");
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(descriptor_, 0) != 0 ||
        ::pwrite(descriptor_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        // The pid is only for the message of the one that comes second; the lock itself holds.
    }
}

OwnerLock::~OwnerLock() {
    ::close(descriptor_);
}

bool is_network_filesystem(long filesystem_type) {
    // statfs(2) magic numbers: NFS, SMB, CIFS, SMB2, AFS, Coda, NCP, 9P, Ceph, FUSE, GFS2, OCFS2.
    constexpr std::array<unsigned long, 12> network{0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                                    0x5346414f, 0x73757245, 0x564c,     0x01021997,
                                                    0x00c36400, 0x65735546, 0x01161970, 0x7461636f};
    const unsigned long type = static_cast<unsigned long>(filesystem_type) & 0xffffffffUL;
    for (const unsigned long known : network) {
        if (type == known) return true;
    }
    return false;
}

}  // namespace store
