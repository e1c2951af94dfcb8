#pragma once

// Files for the tests of src/io: a folder that goes away, and FITS files put together byte by byte, without
// the writer that is tested elsewhere.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace zonal::test {

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "zonal-test-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        folder_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    const std::string& folder() const { return folder_; }
    std::size_t n_entries() const {
        return std::distance(std::filesystem::directory_iterator(folder_),
                             std::filesystem::directory_iterator());
    }

    std::string write(const std::string& name, const std::string& bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }

  private:
    std::string folder_;
};

/// While it lives, no file of this process can grow beyond `bytes`: what a full disk looks like.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_;
    void (*handler_)(int);
};

inline std::string read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string data_file(const std::string& name) {
    return std::string(ZONAL_DATA_DIR) + "/" + name;
}

/// A number as it stands in FITS data: most significant byte first.
template <class T>
std::string big_endian(T value) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    if constexpr (std::endian::native == std::endian::little) bytes.assign(bytes.rbegin(), bytes.rend());
    return bytes;
}

template <class T>
std::string big_endian(const std::vector<T>& values) {
    std::string bytes;
    for (const T value : values) bytes += big_endian(value);
    return bytes;
}

/// Bytes of digits 0 and 1, filled up with 0; blanks are left out.
inline std::string bytes_of(std::string digits) {
    std::erase(digits, ' ');
    digits.resize((digits.size() + 7) / 8 * 8, '0');
    std::string bytes;
    for (std::size_t at = 0; at < digits.size(); at += 8)
        bytes.push_back(static_cast<char>(std::stoi(digits.substr(at, 8), nullptr, 2)));
    return bytes;
}

/// One HDU after the other: cards as "KEY = value" in plain text, then data.
class FitsBuilder {
  public:
    /// With an empty primary HDU.
    FitsBuilder() { card("SIMPLE", "T").card("BITPIX", "8").card("NAXIS", "0").end(); }
    /// Without anything.
    static FitsBuilder bare() { return FitsBuilder(0); }

    FitsBuilder& card(const std::string& key, const std::string& value) {
        std::string text = key;
        text.resize(8, ' ');
        return raw_card(text + "= " + value);
    }
    FitsBuilder& raw_card(std::string text) {
        text.resize(80, ' ');
        bytes_ += text;
        return *this;
    }
    FitsBuilder& text(const std::string& key, const std::string& value) {
        return card(key, "'" + value + "'");
    }
    FitsBuilder& number(const std::string& key, std::int64_t value) {
        return card(key, std::to_string(value));
    }

    /// A BINTABLE's mandatory cards, with TFORMs and TTYPEs.
    FitsBuilder& table(std::int64_t row_bytes, std::int64_t rows, const std::vector<std::string>& formats,
                       const std::vector<std::string>& names, const std::string& type = "BINTABLE") {
        text("XTENSION", type).card("BITPIX", "8").card("NAXIS", "2").number("NAXIS1", row_bytes);
        number("NAXIS2", rows).card("PCOUNT", "0").card("GCOUNT", "1");
        number("TFIELDS", static_cast<std::int64_t>(formats.size()));
        for (std::size_t i = 0; i < formats.size(); ++i) {
            text("TFORM" + std::to_string(i + 1), formats[i]);
            if (i < names.size()) text("TTYPE" + std::to_string(i + 1), names[i]);
        }
        return *this;
    }
    FitsBuilder& healpix(std::int64_t nside, const std::string& ordering = "RING") {
        return text("PIXTYPE", "HEALPIX").text("ORDERING", ordering).number("NSIDE", nside);
    }
    FitsBuilder& end() {
        bytes_ += "END";
        bytes_.resize((bytes_.size() + 2879) / 2880 * 2880, ' ');
        return *this;
    }
    FitsBuilder& data(const std::string& data) {
        bytes_ += data;
        bytes_.resize((bytes_.size() + 2879) / 2880 * 2880, '\0');
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

  private:
    explicit FitsBuilder(int) {}
    std::string bytes_;
};

/// The message of the exception of type E that `call` throws; a test failure where it throws none.
template <class E, class Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const E& error) {
        return error.what();
    }
    ADD_FAILURE() << "no exception";
    return "";
}

}  // namespace zonal::test
