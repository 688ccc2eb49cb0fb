#pragma once

#include <string>
#include <vector>

namespace engine {

struct Dependency {
    std::string name;  // `database`, `gateway_http`, `gateway_listener_0` …
    bool ok = true;
};

// What /healthz reports. Any thread.
class Health {
public:
    virtual ~Health() = default;
    [[nodiscard]] virtual std::vector<Dependency> dependencies() const = 0;
};

}  // namespace engine
