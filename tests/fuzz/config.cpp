// Configuration: a TOML text, then NAME=VALUE of the environment, each behind a zero byte.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/descriptor.hpp"
#include "chains/loopback/options.hpp"
#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/source.hpp"
#include "domain/retry_after.hpp"
#include "fuzz/spelling.hpp"
#include "fuzz/target.hpp"
#include "platform/log.hpp"

namespace {

using fuzz::require;

constexpr std::string_view marker = "5ecr3t5ecr3t5ecr3t";

using Loading = std::variant<config::Loaded, config::ConfigErrors>;

struct Input {
    std::string file;
    config::Environment environment;
};

Input split(std::string_view bytes) {
    Input input;
    std::size_t end = bytes.find('\0');
    input.file = bytes.substr(0, end);
    while (end != std::string_view::npos) {
        bytes.remove_prefix(end + 1);
        end = bytes.find('\0');
        const std::string_view entry = bytes.substr(0, end);
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        input.environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return input;
}

// A file without a place on disk.
class File {
public:
    explicit File(std::string_view text) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        if (::write(file_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            throw std::runtime_error("memfd");
        }
    }
    [[nodiscard]] std::string path() const {
        return "/proc/self/fd/" + std::to_string(file_.get());
    }

private:
    base::Descriptor file_;
};

Loading load(const Input& input) {
    const File file(input.file);
    config::Sources sources;
    sources.file = file.path();
    sources.environment = input.environment;
    return config::load(sources);
}

std::vector<std::string> lines_of(const Loading& loading) {
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loading)) return refused->errors;
    const auto& loaded = std::get<config::Loaded>(loading);
    std::vector<std::string> lines = loaded.warnings;
    lines.insert(lines.end(), loaded.notes.begin(), loaded.notes.end());
    return lines;
}

bool is_utf8(const Input& input) {
    return fuzz::is_utf8(input.file) &&
           std::ranges::all_of(input.environment, [](const auto& variable) {
               return fuzz::is_utf8(variable.first) && fuzz::is_utf8(variable.second);
           });
}

void check_lines(const Loading& loading, bool utf8) {
    for (const std::string& line : lines_of(loading)) {
        require(!line.empty() && platform::printable(line) == line, "a line is one printable line");
        require(!utf8 || fuzz::is_utf8(line), "no character is cut in two");
    }
    const auto* refused = std::get_if<config::ConfigErrors>(&loading);
    require(refused == nullptr || !refused->errors.empty(), "a refusal has a reason");
}

// --- what was loaded can be written and loaded again ---

// Its path is joined with the data directory while loading.
constexpr std::string_view moved_key = "gateway.loopback.ledger";

bool is_written(const config::Key& key) {
    return key.show && key.effect == config::Effect::full && key.name != moved_key;
}

std::string written(const config::Settings& settings) {
    std::string text;
    for (const config::Key& key : config::keys()) {
        if (!is_written(key) || key.name.find("[]") != std::string::npos) continue;
        text += key.name + " = " + key.show(settings, 0) + "\n";
    }
    for (const config::TableList& list : config::table_lists()) {
        if (list.effect != config::Effect::full) continue;
        const std::string start = list.name + "[].";
        for (std::size_t i = 0; i < list.size(settings); ++i) {
            text += "[[" + list.name + "]]\n";
            for (const config::Key& key : config::keys()) {
                if (!is_written(key) || !key.name.starts_with(start)) continue;
                text += key.name.substr(start.size()) + " = " + key.show(settings, i) + "\n";
            }
        }
    }
    return text;
}

void check_loaded(const config::Loaded& loaded) {
    require(!chains::loopback::problem_of(loaded.settings.loopback),
            "the chain agrees with its options");
    require(!domain::problem_of(loaded.settings.engine.retry_after), "Retry-After can be computed");
    // What evm requires has no default and is not written.
    if (loaded.settings.gateway == config::GatewayType::evm) return;
    const std::string text = written(loaded.settings);
    if (!fuzz::is_utf8(text)) return;  // the environment may hold what no TOML file can
    const Loading again = load({text, {}});
    const auto* same = std::get_if<config::Loaded>(&again);
    require(same != nullptr && written(same->settings) == text, "settings survive being written");
}

// --- secrets ---

const std::vector<std::string>& secret_keys() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> found;
        for (const config::Key& key : config::keys()) {
            if (key.secret) found.push_back(key.name);
        }
        return found;
    }();
    return names;
}

void check_hidden(const Loading& loading) {
    for (const std::string& line : lines_of(loading)) {
        require(line.find(marker.substr(0, 6)) == std::string::npos, "no secret is shown");
    }
}

// The input as it is, with a secret that stands in the middle of some of its bytes.
void check_secrets(const Input& input, std::string_view bytes) {
    if (bytes.size() < 2 || bytes.find(marker.substr(0, 6)) != std::string_view::npos) return;
    const std::size_t choice = static_cast<unsigned char>(bytes.front());
    std::string name = secret_keys()[choice % secret_keys().size()];
    const std::size_t cut = choice % bytes.size();
    const auto around = [](std::string_view text) {
        return std::string(text.substr(0, text.find_first_of(std::string_view("\r\n\0", 3))));
    };
    const std::string value =
        around(bytes.substr(cut / 2)) + std::string(marker) + around(bytes.substr(cut));

    Input with_secret = input;
    const std::size_t index = name.find("[]");
    if (index == std::string::npos && bytes[1] % 2 == 0) {
        // A line of its own: in the middle of the text it might belong to something that is shown.
        with_secret.file = name + " = " + value + "\n" + input.file;
    } else {
        if (index != std::string::npos) name.replace(index, 2, "[0]");
        with_secret.environment.emplace_back(config::variable_of(name), value);
    }
    check_hidden(load(with_secret));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = fuzz::text_of(data, size);
    const Input input = split(bytes);
    const Loading loading = load(input);
    check_lines(loading, is_utf8(input));
    if (const auto* loaded = std::get_if<config::Loaded>(&loading)) check_loaded(*loaded);
    check_secrets(input, bytes);
    return 0;
}
