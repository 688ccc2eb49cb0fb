#include "commands/drill/flush.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/descriptor.hpp"

namespace commands::drill {

namespace {

using Stopwatch = std::chrono::steady_clock;

constexpr std::size_t page_bytes = 4'096;
constexpr std::size_t pages = 256;  // written before: what is measured needs no new blocks
constexpr std::chrono::seconds flushing_time{1};

// A turn takes 4 ms at 15,000 a minute, the fastest that were built, and a flush waits for half of
// one on average.
constexpr double rotating_min_ms = 2;
// Programming a page of flash takes 100 µs or more.
constexpr double flash_min_ms = 0.1;

std::string first_line(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

// Of a partition: the disk that it is part of.
std::filesystem::path block_device(dev_t number) {
    std::error_code error;
    const auto link =
        "/sys/dev/block/" + std::to_string(::major(number)) + ":" + std::to_string(::minor(number));
    std::filesystem::path path = std::filesystem::canonical(link, error);
    if (error) return {};
    return std::filesystem::exists(path / "partition") ? path.parent_path() : path;
}

bool is_virtual(const std::string& name, const std::string& model) {
    if (name.starts_with("vd") || name.starts_with("xvd")) return true;
    for (const std::string_view maker :
         {"QEMU", "VMware", "VBOX", "Virtual", "Amazon Elastic", "PersistentDisk"}) {
        if (model.find(maker) != std::string::npos) return true;
    }
    return false;
}

// A file or memory that plays a disk.
bool is_made_up(const std::string& name) {
    return name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram");
}

std::string rate_text(const Percentiles& flushes) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.2f ms a flush, %zu in a second", flushes.p50,
                  flushes.count);
    return text.data();
}

FlushVerdict doubtful(const std::string& why) {
    return {FlushVerdict::Trust::doubtful, why};
}

std::string disk_text(const Device& device) {
    const std::string cache =
        device.write_cache.empty() ? "" : ", cache \"" + device.write_cache + "\"";
    return device.name + cache;
}

[[noreturn]] void fail(const std::filesystem::path& file) {
    throw std::system_error(errno, std::generic_category(), "can not write " + file.string());
}

void write_page(int file, std::size_t page, const std::filesystem::path& path) {
    std::array<char, page_bytes> bytes{};
    bytes.front() = static_cast<char>(page);
    const auto at = static_cast<off_t>(page % pages * page_bytes);
    if (::pwrite(file, bytes.data(), bytes.size(), at) != static_cast<ssize_t>(bytes.size())) {
        fail(path);
    }
}

}  // namespace

Device device_of(const std::filesystem::path& directory) {
    Device device;
    struct statfs facts {};
    if (::statfs(directory.c_str(), &facts) == 0 &&
        (facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC)) {
        device.kind = Device::Kind::memory;
        return device;
    }
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) return device;
    const std::filesystem::path disk = block_device(status.st_dev);
    if (disk.empty()) return device;
    device.name = disk.filename().string();
    device.write_cache = first_line(disk / "queue/write_cache");
    const std::string rotational = first_line(disk / "queue/rotational");
    if (is_virtual(device.name, first_line(disk / "device/model"))) {
        device.kind = Device::Kind::virtual_disk;
    } else if (rotational == "1") {
        device.kind = Device::Kind::rotating;
    } else if (rotational == "0" && !is_made_up(device.name)) {
        device.kind = Device::Kind::solid_state;
    }
    return device;
}

Percentiles measure_flushes(const std::filesystem::path& directory) {
    const std::filesystem::path path = directory / "flushes";
    const base::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file.is_open()) fail(path);
    for (std::size_t page = 0; page < pages; ++page) write_page(file.get(), page, path);
    if (::fsync(file.get()) != 0) fail(path);
    std::vector<double> samples;
    const auto end = Stopwatch::now() + flushing_time;
    for (std::size_t page = 0; Stopwatch::now() < end; ++page) {
        const auto begin = Stopwatch::now();
        write_page(file.get(), page, path);
        if (::fdatasync(file.get()) != 0) fail(path);
        samples.push_back(
            std::chrono::duration<double, std::milli>(Stopwatch::now() - begin).count());
    }
    return percentiles(std::move(samples));
}

FlushVerdict judge_flushes(const Percentiles& flushes, const Device& device) {
    using Trust = FlushVerdict::Trust;
    if (device.kind == Device::Kind::memory) {
        return doubtful("the data directory lies in memory: a power cut takes everything");
    }
    const std::string rate = rate_text(flushes);
    if (flushes.p50 < flash_min_ms && device.write_cache != "write through") {
        return doubtful(rate + ": more than a disk can do" +
                        (device.name.empty() ? "" : " (" + disk_text(device) + ")") +
                        "; flushes are not waited for somewhere, or a cache with a battery takes "
                        "them");
    }
    switch (device.kind) {
        case Device::Kind::rotating:
            if (flushes.p50 >= rotating_min_ms) break;
            return doubtful(rate + ": more than a turning disk can do (" + disk_text(device) +
                            "); it does not flush, or its controller has a cache with a battery");
        case Device::Kind::virtual_disk:
            return {Trust::not_seen, rate + " (" + disk_text(device) +
                                         "), as a disk could do; it is a virtual one, and what its "
                                         "host does with a flush can not be seen from here"};
        case Device::Kind::solid_state:
            if (device.write_cache != "write through") break;
            return {Trust::plausible, rate + " (" + disk_text(device) +
                                          "): the disk says that its cache outlives a power cut"};
        case Device::Kind::memory:
        case Device::Kind::unknown:
            return {Trust::not_seen,
                    rate + ", as a disk could do; which disk it is can not be seen from here"};
    }
    return {Trust::plausible, rate + " (" + disk_text(device) + "), as such a disk can do"};
}

}  // namespace commands::drill
