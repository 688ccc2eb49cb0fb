// Runs a fuzz target over the files of a directory, without libFuzzer: replay DIRECTORY.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/target.hpp"

namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("can not be read");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool passes(const std::filesystem::path& path) {
    try {
        const std::vector<std::uint8_t> bytes = bytes_of(path);
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
        return true;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: broken: %s\n", path.c_str(), error.what());
        return false;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "Usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    int passed = 0;
    int failed = 0;
    for (const auto& file : files_in(argv[1])) {
        // Before it runs: a crash leaves no other trace.
        std::fprintf(stderr, "%s\n", file.c_str());
        ++(passes(file) ? passed : failed);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
