// Runs the fuzz target without libFuzzer: on each file of a corpus as it stands, then on mutations of it. The
// mutations follow from the seed alone. It is printed first and another in each run, so every run tries new
// ones, and --seed or the environment variable ZONAL_FUZZ_SEED repeats a failure.
//
//   fuzz_fits_replay [--mutations N] [--seed S] [--save FILE] CORPUS...
//
// N mutations in all, over the files. With --save FILE, the input about to be tried is written there
// first.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t card = 80;

struct Options {
    std::uint64_t mutations = 1000;
    std::uint64_t seed = 0;
    std::string save;
    std::vector<std::string> corpus;
};

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

    /// One to four changes; most of them to header cards, where the decisions are.
    void mutate(Bytes& bytes, const Bytes& other) {
        for (std::size_t n = 1 + below(4); n > 0; --n) change(bytes, other);
    }

  private:
    void change(Bytes& bytes, const Bytes& other) {
        if (bytes.empty()) return;
        switch (below(10)) {
            case 0:
                bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1u << below(8));
                break;
            case 1:
                bytes[below(bytes.size())] = static_cast<std::uint8_t>(below(256));
                break;
            case 2:
                bytes.resize(below(bytes.size() + 1));
                break;
            case 3:
                erase(bytes);
                break;
            case 4:
                repeat(bytes);
                break;
            case 5:
                splice(bytes, other);
                break;
            default:
                change_value(bytes);
                break;
        }
    }

    void erase(Bytes& bytes) {
        const std::size_t unit = below(2) ? card : 1;
        const std::size_t at = below(bytes.size()) / unit * unit;
        const std::size_t end = std::min(bytes.size(), at + unit * (1 + below(40)));
        bytes.erase(bytes.begin() + std::ptrdiff_t(at), bytes.begin() + std::ptrdiff_t(end));
    }

    void repeat(Bytes& bytes) {
        const std::size_t at = below(bytes.size()) / card * card;
        const Bytes piece(
            bytes.begin() + std::ptrdiff_t(at),
            bytes.begin() + std::ptrdiff_t(std::min(bytes.size(), at + card * (1 + below(40)))));
        bytes.insert(bytes.begin() + std::ptrdiff_t(below(bytes.size()) / card * card), piece.begin(),
                     piece.end());
    }

    /// Cards of another file in this one's place.
    void splice(Bytes& bytes, const Bytes& other) {
        if (other.empty()) return;
        const std::size_t from = below(other.size()) / card * card;
        const std::size_t to = below(bytes.size()) / card * card;
        const std::size_t count = std::min({card * (1 + below(10)), other.size() - from, bytes.size() - to});
        std::copy_n(other.begin() + std::ptrdiff_t(from), count, bytes.begin() + std::ptrdiff_t(to));
    }

    /// Another value in a card of the first headers.
    void change_value(Bytes& bytes) {
        static const std::array<std::string, 36> values{"0",
                                                        "1",
                                                        "-1",
                                                        "2",
                                                        "3",
                                                        "8",
                                                        "12",
                                                        "48",
                                                        "999",
                                                        "1000",
                                                        "2147483647",
                                                        "-2147483648",
                                                        "4294967296",
                                                        "9223372036854775807",
                                                        "-9223372036854775808",
                                                        "99999999999999999999",
                                                        "1E300",
                                                        "-1E-300",
                                                        "NaN",
                                                        "T",
                                                        "F",
                                                        "",
                                                        "'1024E'",
                                                        "'0D'",
                                                        "'1PE(9999)'",
                                                        "'99999999J'",
                                                        "'16A'",
                                                        "'RING'",
                                                        "'NESTED'",
                                                        "'EXPLICIT'",
                                                        "'PIXEL'",
                                                        "'GLON-CAR'",
                                                        "'BINTABLE'",
                                                        "'TABLE'",
                                                        "'E999.1'",
                                                        "'It''s '"};
        const std::size_t at = below(std::min<std::size_t>(bytes.size(), 3 * 2880)) / card * card;
        std::string text = values[below(values.size())];
        text.insert(0, below(2) ? 20 - std::min<std::size_t>(20, text.size()) : 0, ' ');
        text.resize(card - 10, ' ');
        for (std::size_t i = 0; i < text.size() && at + 10 + i < bytes.size(); ++i) {
            bytes[at + 10 + i] = static_cast<std::uint8_t>(text[i]);
        }
    }

    std::mt19937_64 random_;
};

std::uint64_t parse_count(const std::string& text) {
    std::size_t used = 0;
    const std::uint64_t value = std::stoull(text, &used);
    if (used != text.size()) throw std::invalid_argument(text);
    return value;
}

std::uint64_t default_seed() {
    const char* const given = std::getenv("ZONAL_FUZZ_SEED");
    return given == nullptr ? std::random_device{}() : parse_count(given);
}

Options parse(int argc, char** argv) {
    Options options;
    options.seed = default_seed();
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const bool has_value = argument.starts_with("--");
        if (has_value && i + 1 == argc) throw std::invalid_argument(argument + " needs a value");
        if (argument == "--mutations") {
            options.mutations = parse_count(argv[++i]);
        } else if (argument == "--seed") {
            options.seed = parse_count(argv[++i]);
        } else if (argument == "--save") {
            options.save = argv[++i];
        } else if (has_value) {
            throw std::invalid_argument("unknown option " + argument);
        } else {
            options.corpus.push_back(argument);
        }
    }
    return options;
}

Bytes read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Bytes> read_corpus(const std::vector<std::string>& names) {
    std::vector<std::filesystem::path> paths;
    for (const auto& name : names) {
        if (!std::filesystem::is_directory(name)) {
            paths.emplace_back(name);
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(name)) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Bytes> corpus;
    for (const auto& path : paths) corpus.push_back(read_file(path));
    if (corpus.empty()) throw std::invalid_argument("no files to start from");
    return corpus;
}

void try_input(const Bytes& file, const Options& options) {
    if (!options.save.empty()) {
        std::ofstream(options.save, std::ios::binary)
            .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
    }
    constexpr double longest = 5;
    const auto start = std::chrono::steady_clock::now();
    LLVMFuzzerTestOneInput(file.data(), file.size());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (seconds.count() > longest)
        throw std::runtime_error("an input took " + std::to_string(seconds.count()) + " s");
}

void run(const Options& options) {
    const auto corpus = read_corpus(options.corpus);
    std::cout << "seed " << options.seed << " (repeat with --seed or ZONAL_FUZZ_SEED)" << std::endl;
    for (const auto& file : corpus) try_input(file, options);
    Mutator mutator(options.seed);
    for (std::uint64_t i = 0; i < options.mutations; ++i) {
        Bytes file = corpus[mutator.below(corpus.size())];
        mutator.mutate(file, corpus[mutator.below(corpus.size())]);
        try_input(file, options);
    }
    std::cout << corpus.size() << " files and " << options.mutations << " mutations of them read: ok\n";
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(parse(argc, argv));
    } catch (const std::exception& error) {
        std::cerr << "fuzz_fits_replay: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
