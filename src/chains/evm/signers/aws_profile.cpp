#include "chains/evm/signers/aws_profile.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace chains::evm::signers {
namespace {

constexpr std::string_view spaces = " \t\r";

// Of `[profile dev]`: dev. Nothing for a line that opens no section.
std::optional<std::string_view> section_in(std::string_view line) {
    if (!line.starts_with('[')) return std::nullopt;
    line = base::trimmed(line.substr(1, line.find(']') - 1), spaces);
    constexpr std::string_view prefix = "profile ";
    if (line.starts_with(prefix)) line = base::trimmed(line.substr(prefix.size()), spaces);
    return line;
}

}  // namespace

std::optional<AwsProfile> read_aws_profile(std::string_view text, std::string_view name) {
    std::optional<AwsProfile> found;
    bool inside = false;
    while (!text.empty()) {
        const std::string_view raw = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(raw.size() + 1, text.size()));
        const bool is_nested = raw.starts_with(' ') || raw.starts_with('\t');
        const std::string_view line = base::trimmed(raw, spaces);
        if (line.empty() || line.starts_with('#') || line.starts_with(';') || is_nested) continue;
        if (const auto section = section_in(line)) {
            inside = *section == name;
            if (inside && !found) found.emplace();
            continue;
        }
        const std::size_t equals = line.find('=');
        if (!inside || equals == std::string_view::npos) continue;
        (*found)[base::lower_case(base::trimmed(line.substr(0, equals), spaces))] =
            base::trimmed(line.substr(equals + 1), spaces);
    }
    return found;
}

}  // namespace chains::evm::signers
