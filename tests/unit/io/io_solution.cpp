#include "zonal/io/solution.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/gwrm/library.hpp"
#include "zonal/io/inspect.hpp"

// Solutions of initial-value problems as files: what is read is what was written, or one clear line.
namespace zonal::io {
namespace {

using gwrm::Axis;
using gwrm::Solution;
using test::big_endian;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;

const std::vector<Axis> plane{
    {.name = "x", .interval = {-1.1, 1.0 / 3}, .modes = 3, .subdomains = 2},
    {.name = "nu", .interval = {0.1, 0.7}, .modes = 1, .kind = Axis::Kind::parameter}};

/// Two fields on two intervals with coefficients of all sizes.
Solution made_up(const std::vector<Axis>& axes, bool with_errors = true) {
    constexpr std::int64_t time_modes = 2;
    std::int64_t size = 2 * (time_modes + 1);
    for (const auto& axis : axes) size *= axis.subdomains * (axis.modes + 1);
    std::vector<Solution::Piece> pieces{{{-0.3, 0.1}, {}, {}}, {{0.1, 1e300 / 3}, {}, {}}};
    double next = 1.0 / 3;
    for (auto& piece : pieces) {
        for (std::int64_t i = 0; i < size; ++i)
            piece.coefficients.push_back(next = std::sin(97 * next) * 1e-9);
        if (with_errors) piece.errors = {next * next, std::numeric_limits<double>::infinity()};
    }
    return {{"u", "it's"}, axes, time_modes, pieces, {2, 1, 7, 30, 1e-15 / 3, Device::cuda(1)}};
}

void expect_equal(const Solution& a, const Solution& b) {
    EXPECT_EQ(a.names(), b.names());
    EXPECT_EQ(a.time_modes(), b.time_modes());
    ASSERT_EQ(a.axes().size(), b.axes().size());
    for (std::size_t i = 0; i < a.axes().size(); ++i) {
        const auto &axis = a.axes()[i], &other = b.axes()[i];
        EXPECT_EQ(axis.name, other.name);
        EXPECT_EQ(axis.interval, other.interval);
        EXPECT_EQ(axis.modes, other.modes);
        EXPECT_EQ(axis.kind, other.kind);
        EXPECT_EQ(axis.subdomains, other.subdomains);
    }
    ASSERT_EQ(a.pieces().size(), b.pieces().size());
    for (std::size_t i = 0; i < a.pieces().size(); ++i) {
        EXPECT_EQ(a.pieces()[i].time, b.pieces()[i].time);
        EXPECT_EQ(a.pieces()[i].coefficients, b.pieces()[i].coefficients);
        EXPECT_EQ(a.pieces()[i].errors, b.pieces()[i].errors);
    }
    const auto &report = a.report(), &other = b.report();
    EXPECT_EQ(report.intervals, other.intervals);
    EXPECT_EQ(report.rejected, other.rejected);
    EXPECT_EQ(report.iterations, other.iterations);
    EXPECT_EQ(report.linear_iterations, other.linear_iterations);
    EXPECT_EQ(report.residual, other.residual);
    EXPECT_EQ(report.device, other.device);
}

class SolutionFiles : public testing::Test {
  protected:
    SolutionFile written_and_read(const SolutionFile& file, const std::string& name = "u.fits") {
        write_solution(folder.path(name), file);
        return read_solution(folder.path(name));
    }
    std::string refused(const SolutionFile& file) {
        auto message = message_of<InvalidArgument>([&] { write_solution(folder.path("no.fits"), file); });
        EXPECT_EQ(folder.n_entries(), 0U) << "something was left behind";
        return message;
    }
    TemporaryFolder folder;
};

TEST_F(SolutionFiles, AreReadAsTheyWereWritten) {
    for (const auto& axes : {std::vector<Axis>{}, std::vector{plane[0]}, plane})
        for (const bool with_errors : {true, false}) {
            const SolutionFile file{
                made_up(axes, with_errors), "flow",    {{"nu", 0.1}, {"t1", 1e300 / 3}},
                HighestMode::tau,           1e-12 / 3, {{"VERSION", std::string("1"), "of it"}}};
            const auto name = "u" + std::to_string(folder.n_entries()) + ".fits";
            const auto read = written_and_read(file, name);
            expect_equal(read.solution, file.solution);
            EXPECT_EQ(read.problem, file.problem);
            EXPECT_EQ(read.parameters, file.parameters);
            EXPECT_EQ(read.highest_mode, file.highest_mode);
            EXPECT_EQ(read.tolerance, file.tolerance);
            EXPECT_EQ(read.cards, file.cards);
            EXPECT_EQ(inspect(folder.path(name)).kind, FileKind::solution);
        }
}

TEST_F(SolutionFiles, EvaluateToTheSameBits) {
    const auto setup = gwrm::make_library_problem("burgers", {}, {6, 8}, 2);
    auto options = setup.options;
    options.tolerance = 1e-4;
    const auto solution = gwrm::solve(setup.problem, options);
    const auto read = written_and_read({solution}, "u.fits.gz").solution;
    for (const double t : {0.0, 0.123, 1.0})
        for (const double x : {0.0, 0.3, 0.5, 0.77, 1.0}) {
            EXPECT_EQ(read(0, {t, x, 0}), solution(0, {t, x, 0}));
            EXPECT_EQ(read.error(0, t), solution.error(0, t));
        }
    EXPECT_EQ(read.series<2>(0, 0, 1).domain(), solution.series<2>(0, 0, 1).domain());
}

TEST_F(SolutionFiles, MayHaveTwelveIntervals) {
    // As many rows as a map of nside 1 has pixels.
    std::vector<Solution::Piece> pieces;
    for (int i = 0; i < 12; ++i) pieces.push_back({{0.1 * i, 0.1 * (i + 1)}, {1, 2}, {}});
    for (std::size_t i = 1; i < pieces.size(); ++i) pieces[i].time.lower = pieces[i - 1].time.upper;
    EXPECT_EQ(written_and_read({Solution({"u"}, {}, 1, pieces)}).solution.pieces().size(), 12U);
    EXPECT_EQ(inspect(folder.path("u.fits")).kind, FileKind::solution);
}

TEST_F(SolutionFiles, AreKeptUnlessToldOtherwise) {
    const SolutionFile file{made_up({})};
    const auto path = folder.write("u.fits", "mine");
    EXPECT_THAT(message_of<IoError>([&] { write_solution(path, file); }), HasSubstr("u.fits"));
    EXPECT_EQ(test::read_bytes(path), "mine");
    write_solution(path, file, {.overwrite = true});
    expect_equal(read_solution(path).solution, file.solution);
    EXPECT_EQ(folder.n_entries(), 1U);
}

TEST_F(SolutionFiles, HoldWhatACardCanHold) {
    const Solution solution = made_up({}), unsolved(gwrm::Problem{}, 3);
    EXPECT_THAT(refused({unsolved}), HasSubstr("solution: has no time interval"));
    for (const auto* name : {" u", "u ", "\xcf\x88", "a name of forty-one characters, no card's own"})
        EXPECT_THAT(refused({solution, name}), HasSubstr("PROBLEM = '" + std::string(name))) << name;
    EXPECT_THAT(refused({solution, "flow", {{"nu", std::nan("")}}}), HasSubstr("PVALUE1: nan"));
    EXPECT_THAT(refused({solution, "flow", {{"", 1}}}), HasSubstr("PARAM1 = ''"));
    EXPECT_THAT(refused({solution, "", {}, HighestMode::kept}), HasSubstr("highest_mode: must be"));
    EXPECT_THAT(refused({.solution = solution, .cards = {{"AXLOW1", 1.0, ""}}}),
                HasSubstr("header key AXLOW1"));
}

TEST(Solutions, AreMadeOfWhatFits) {
    const auto error = [](std::vector<Solution::Piece> pieces, std::int64_t time_modes = 1) {
        return message_of<InvalidArgument>([&] { Solution({"u"}, {}, time_modes, std::move(pieces)); });
    };
    EXPECT_THAT(error({}), HasSubstr("must have an interval"));
    EXPECT_THAT(error({{{0, 1}, {1, 2}, {}}}, 5000), HasSubstr("time_modes = 5000: must be 0 to 4096"));
    EXPECT_THAT(error({{{0, 1}, {1}, {}}}), HasSubstr("interval 0: 1 coefficients: must be 2"));
    EXPECT_THAT(error({{{0, 1}, {1, 2}, {1, 2}}}), HasSubstr("interval 0: 2 errors: must be 1"));
    EXPECT_THAT(error({{{0, 1}, {1, 2}, {1}}, {{1, 2}, {1, 2}, {}}}),
                HasSubstr("interval 1: 0 errors: must be 1"));
    EXPECT_THAT(message_of<InvalidArgument>([] {
                    Solution({}, {}, 1, {{{0, 1}, {1, 2}, {}}});
                }),
                HasSubstr("names: must have a field"));
}

/// One field on x in two intervals of time, [1][2] coefficients, which a test can spoil.
struct SmallSolution {
    std::map<std::string, std::string> cards{
        {"ZONALSOL", "1"},  {"CHEBCONV", "'plain'"}, {"N_FIELDS", "1"},      {"FIELD1", "'u'"},
        {"N_AXES", "1"},    {"AXIS1", "'x'"},        {"AXKIND1", "'space'"}, {"AXLOW1", "0"},
        {"AXHIGH1", "1"},   {"AXMODES1", "1"},       {"AXPARTS1", "1"},      {"TMODES", "0"},
        {"TOL", "1.0E-12"}, {"HIGHMODE", "'tau'"}};
    std::vector<std::string> names{"T_LOWER", "T_UPPER", "COEFFICIENTS", "ERRORS"};
    std::vector<std::string> formats{"D", "D", "2D", "D"};
    std::vector<double> values{0, 1, 5, 6, 0.25, 1, 2, 7, 8, 0.5};  ///< [row][column]

    SmallSolution with(const std::string& key, const std::string& value) const {
        auto other = *this;
        other.cards[key] = value;
        return other;
    }
    SmallSolution with(std::size_t index, double value) const {
        auto other = *this;
        other.values[index] = value;
        return other;
    }
    std::string bytes() const {
        FitsBuilder file;
        file.table(40, 2, formats, names).text("EXTNAME", "SOLUTION");
        for (const auto& [key, value] : cards)
            if (!value.empty()) file.card(key, value);
        return file.end().data(big_endian(values)).bytes();
    }
};

class MalformedSolutions : public testing::Test {
  protected:
    SolutionFile read(const SmallSolution& file) {
        return read_solution(folder.write("u.fits", file.bytes()));
    }
    std::string error(const SmallSolution& file) {
        auto message = message_of<IoError>([&] { read(file); });
        EXPECT_THAT(message, HasSubstr("u.fits: HDU 1 'SOLUTION': "));
        EXPECT_EQ(message.find('\n'), std::string::npos);
        return message;
    }
    TemporaryFolder folder;
    const SmallSolution good{};
};

TEST_F(MalformedSolutions, BeginWithAGoodOne) {
    const auto file = read(good);
    EXPECT_EQ(file.solution(0, {1.5, 0.75, 0}), 7 + 8 * 0.5);
    EXPECT_EQ(file.solution.error(0), 0.5);
    EXPECT_EQ(file.highest_mode, HighestMode::tau);
}

TEST_F(MalformedSolutions, LackKeys) {
    for (const auto& [key, value] : good.cards)
        EXPECT_THAT(error(good.with(key, "")), HasSubstr(key + " is missing"));
    EXPECT_THAT(error(good.with("PARAM1", "'nu'")), HasSubstr("PVALUE1 is missing"));
}

TEST_F(MalformedSolutions, HaveKeysOfWrongValues) {
    EXPECT_THAT(error(good.with("ZONALSOL", "2")), HasSubstr("ZONALSOL = 2: must be from 1 to 1"));
    EXPECT_THAT(error(good.with("CHEBCONV", "'primed'")), HasSubstr("CHEBCONV = 'primed': must be 'plain'"));
    EXPECT_THAT(error(good.with("N_FIELDS", "0")), HasSubstr("N_FIELDS = 0: must be from 1"));
    EXPECT_THAT(error(good.with("N_AXES", "3")), HasSubstr("N_AXES = 3: must be from 0 to 2"));
    EXPECT_THAT(error(good.with("AXKIND1", "'time'")), HasSubstr("AXKIND1 = 'time': must be 'space' or"));
    EXPECT_THAT(error(good.with("AXHIGH1", "0")), HasSubstr("axes[0].interval = [0, 0]"));
    EXPECT_THAT(error(good.with("AXMODES1", "5000")), HasSubstr("AXMODES1 = 5000: must be from 0 to 4096"));
    EXPECT_THAT(error(good.with("AXLOW1", "NaN")), HasSubstr("AXLOW1 = nan: must be a number"));
    EXPECT_THAT(error(good.with("TMODES", "1.5")), HasSubstr("TMODES = 1.5: must be an integer"));
    EXPECT_THAT(error(good.with("HIGHMODE", "'kept'")), HasSubstr("HIGHMODE = 'kept': must be"));
    EXPECT_THAT(error(good.with("TOL", "'low'")), HasSubstr("TOL = 'low': must be a number"));
    EXPECT_THAT(error(good.with("DEVICE", "'tpu'")), HasSubstr("DEVICE = 'tpu': must be 'cpu'"));
    EXPECT_THAT(error(good.with("STEPS", "-1")), HasSubstr("STEPS = -1"));
    EXPECT_THAT(error(good.with("TDIM3", "'(1,2,1,1)'")),
                HasSubstr("TDIM3 = '(1,2,1,1)': must be '(2,1,1,1)'"));
}

TEST_F(MalformedSolutions, HaveColumnsThatDoNotFit) {
    EXPECT_THAT(error(good.with("TMODES", "1")),
                HasSubstr("column COEFFICIENTS: 2 numbers a row: must be 4"));
    EXPECT_THAT(error(good.with("AXPARTS1", "1024")), HasSubstr("2 numbers a row: must be 2048"));
    EXPECT_THAT(error(good.with("N_FIELDS", "2").with("FIELD2", "'v'").with("AXMODES1", "0")),
                HasSubstr("column ERRORS: 1 numbers a row: must be 2"));
    for (std::size_t column = 0; column < 3; ++column) {
        auto other = good;
        other.names[column] = "OTHER";
        other.cards["ZONALSOL"] = "1";
        EXPECT_THAT(error(other), HasSubstr("no column " + good.names[column]));
    }
    auto text = good;
    text.formats[3] = "8A";
    EXPECT_THAT(error(text), HasSubstr("column ERRORS: 8 numbers a row"));
}

TEST_F(MalformedSolutions, HaveNumbersThatAreNone) {
    const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    EXPECT_THAT(error(good.with(8, nan)), HasSubstr("interval 1: coefficient 1 is nan: must be finite"));
    EXPECT_THAT(error(good.with(2, infinity)), HasSubstr("interval 0: coefficient 0 is inf"));
    EXPECT_THAT(error(good.with(0, nan)), HasSubstr("interval 0: t = [nan, 1]: must be finite"));
    EXPECT_THAT(error(good.with(6, 1)), HasSubstr("interval 1: t = [1, 1]: must be finite and not empty"));
    EXPECT_THAT(error(good.with(5, 1.5)),
                HasSubstr("interval 1: begins at 1.5: must begin where interval 0 ends, 1"));
    EXPECT_THAT(error(good.with(4, -1)), HasSubstr("interval 0: error -1: must not be negative"));
}

TEST_F(MalformedSolutions, AreNoSolutions) {
    const auto other =
        folder.write("u.fits", FitsBuilder().table(8, 1, {"D"}, {"TT"}).end().data("12345678").bytes());
    EXPECT_THAT(message_of<IoError>([&] { read_solution(other); }),
                HasSubstr("u.fits: holds no solution of an initial-value problem"));
    EXPECT_THROW(read_solution(folder.write("u.txt", "t,u\n0,1\n")), IoError);
    EXPECT_THROW(read_solution(folder.path("absent.fits")), IoError);
    const auto bytes = good.bytes();
    EXPECT_THROW(read_solution(folder.write("u.fits", bytes.substr(0, bytes.size() - 2880))), IoError);
}

TEST(SolutionTables, HoldTheFieldsAtEquallySpacedPoints) {
    const TemporaryFolder folder;
    const auto solution = made_up({});
    EXPECT_EQ(solution.times(2),
              (std::vector<double>{-0.3, solution.pieces()[0].time.from_reference(0), 0.1,
                                   solution.pieces()[1].time.from_reference(0), 1e300 / 3}));
    write_solution_table(folder.path("a.csv"), solution);
    std::ifstream table(folder.path("a.csv"));
    std::string line;
    std::getline(table, line);
    EXPECT_EQ(line, "t,u,it's");
    std::size_t rows = 0;
    while (std::getline(table, line)) ++rows;
    EXPECT_EQ(rows, 1u + 2 * 16);
    EXPECT_EQ((Interval{1, 3}.points(3)), (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace zonal::io
