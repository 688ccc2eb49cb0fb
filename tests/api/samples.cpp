#include "api/samples.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace api_test {

namespace {

using Json = nlohmann::json;

Json::json_pointer pointer_of(std::string path) {
    for (char& character : path) {
        if (character == '.') character = '/';
    }
    return Json::json_pointer("/" + path);
}

void drop(Json& body, const std::string& path) {
    const Json::json_pointer pointer = pointer_of(path);
    body[pointer.parent_pointer()].erase(pointer.back());
}

}  // namespace

std::string sample(std::string_view name) {
    const std::string path = std::string(REQUEST_SAMPLES).append("/").append(name);
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("no sample " + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string body_of(const Json& example) {
    if (example.contains("file")) return sample(example["file"].get<std::string>());
    if (example.contains("raw")) return example["raw"];
    if (example.contains("repeat")) {
        const Json& repeat = example["repeat"];
        return std::string(repeat["bytes"].get<std::size_t>(),
                           repeat["fill"].get<std::string>().front());
    }
    if (!example.contains("base")) return {};
    Json body = Json::parse(sample(example["base"].get<std::string>()));
    const Json replaced = example.value("set", Json::object());
    for (const auto& [path, value] : replaced.items()) {
        body[pointer_of(path)] = value;
    }
    const Json dropped = example.value("drop", Json::array());
    for (const Json& path : dropped) drop(body, path);
    return body.dump();
}

std::string sample_with(std::string_view name, const std::string& path, const Json& value) {
    Json body = Json::parse(sample(name));
    body[pointer_of(path)] = value;
    return body.dump();
}

}  // namespace api_test
