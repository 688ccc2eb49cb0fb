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

[[noreturn]] void fail_to_scrub(const std::filesystem::path& file, int error) {
    throw StorageError(error == ENOSPC ? StorageErrorKind::full : StorageErrorKind::io,
                       "can not overwrite and remove " + file.string() + ": " +
                           std::generic_category().message(error));
}

void overwrite(const std::filesystem::path& file, int descriptor) {
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0) fail_to_scrub(file, errno);
    const std::vector<char> zeros(static_cast<std::size_t>(zeros_at_once));
    for (off_t done = 0; done < facts.st_size;) {
        const auto count =
            static_cast<std::size_t>(std::min<off_t>(facts.st_size - done, zeros_at_once));
        const ssize_t written = ::pwrite(descriptor, zeros.data(), count, done);
        if (written < 0) fail_to_scrub(file, errno);
        done += written;
    }
    if (::fdatasync(descriptor) != 0) fail_to_scrub(file, errno);
}

}  // namespace

void scrub(const std::filesystem::path& file) {
    const base::Descriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (opened.get() < 0) {
        if (errno == ENOENT) return;
        fail_to_scrub(file, errno);
    }
    overwrite(file, opened.get());
    if (::unlink(file.c_str()) != 0) fail_to_scrub(file, errno);
}

ScrubbedFile::ScrubbedFile(std::filesystem::path file) : file_(std::move(file)) {
    scrub_both();
}

ScrubbedFile::~ScrubbedFile() {
    try {
        scrub_both();
    } catch (const StorageError&) {
        // The next one at this place tries again, and says so.
    }
}

void ScrubbedFile::scrub_both() const {
    scrub(file_);
    scrub(file_.string() + ".unfinished");
}

}  // namespace store
