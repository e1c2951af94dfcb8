#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace zonal::test {

/// A folder with files of proc and sys that say what a process may use.
class FakeSystem {
  public:
    explicit FakeSystem(const std::string& name)
        : root_(std::filesystem::temp_directory_path() / ("zonal-" + name + "-" + std::to_string(getpid()))) {
    }
    FakeSystem(const FakeSystem&) = delete;
    FakeSystem& operator=(const FakeSystem&) = delete;
    ~FakeSystem() { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    const std::filesystem::path& root() const { return root_; }

  private:
    std::filesystem::path root_;
};

}  // namespace zonal::test
