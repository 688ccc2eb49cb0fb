#include "store/scrubbed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "store/errors.hpp"

namespace store {

namespace {

constexpr off_t zeros_at_once = off_t{1} << 20U;
constexpr off_t bytes_between_looks = off_t{64} << 20U;  // on the disk by then

[[noreturn]] void fail_to_scrub(const std::filesystem::path& file, int error) {
    throw StorageError(error == ENOSPC ? StorageErrorKind::full : StorageErrorKind::io,
                       "can not overwrite and remove " + file.string() + ": " +
                           std::generic_category().message(error));
}

void flush(const std::filesystem::path& file, int descriptor) {
    if (::fdatasync(descriptor) != 0) fail_to_scrub(file, errno);
}

void overwrite(const std::filesystem::path& file, int descriptor,
               const std::function<void()>& look) {
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0) fail_to_scrub(file, errno);
    const std::vector<char> zeros(static_cast<std::size_t>(zeros_at_once));
    off_t looked = 0;
    for (off_t done = 0; done < facts.st_size;) {
        const auto count =
            static_cast<std::size_t>(std::min<off_t>(facts.st_size - done, zeros_at_once));
        const ssize_t written = ::pwrite(descriptor, zeros.data(), count, done);
        if (written < 0) fail_to_scrub(file, errno);
        done += written;
        if (!look || done - looked < bytes_between_looks) continue;
        flush(file, descriptor);
        looked = done;
        look();
    }
    flush(file, descriptor);
}

}  // namespace

void scrub(const std::filesystem::path& file, const std::function<void()>& look) {
    const base::Descriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (opened.get() < 0) {
        if (errno == ENOENT) return;
        fail_to_scrub(file, errno);
    }
    overwrite(file, opened.get(), look);
    if (::unlink(file.c_str()) != 0) fail_to_scrub(file, errno);
}

ScrubbedFile::ScrubbedFile(std::filesystem::path file, std::function<void()> look)
    : file_(std::move(file)), look_(std::move(look)) {
    scrub_both();
}

ScrubbedFile::~ScrubbedFile() {
    try {
        scrub_both();
    } catch (...) {
        // The next one at this place tries again, and says so.
    }
}

void ScrubbedFile::scrub_both() const {
    scrub(file_, look_);
    scrub(file_.string() + ".unfinished", look_);
}

}  // namespace store
