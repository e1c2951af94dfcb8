// Which columns are I, Q, U, which are left out, and how fields are chosen.
#include "io/map/columns.hpp"

#include <gmock/gmock.h>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<MapField> fields_of(const std::vector<std::string>& names, bool polar = false) {
    std::vector<MapField> fields;
    for (std::size_t i = 0; i < names.size(); ++i)
        fields.push_back({.name = names[i], .source = static_cast<int>(i)});
    assign_stokes(fields, polar);
    return fields;
}

std::vector<Stokes> stokes_of(const std::vector<MapField>& fields) {
    std::vector<Stokes> stokes;
    for (const auto& field : fields) stokes.push_back(field.stokes);
    return stokes;
}

std::vector<int> sources_of(const std::vector<MapField>& fields) {
    std::vector<int> sources;
    for (const auto& field : fields) sources.push_back(field.source);
    return sources;
}

TEST(MapColumns, NamesDecideOnStokesParameters) {
    for (const char* name : {"I_STOKES", "TEMPERATURE", "I", "T", "temperature", "INTENSITY", "Stokes_I"}) {
        EXPECT_EQ(stokes_from_name(name), Stokes::I) << name;
    }
    for (const char* name : {"Q_STOKES", "Q-POLARISATION", "Q_POLARISATION", "Q_POLARIZATION", "Q", "q"}) {
        EXPECT_EQ(stokes_from_name(name), Stokes::Q) << name;
    }
    for (const char* name : {"U_STOKES", "U-POLARISATION", "U_POLARISATION", "U", " U "}) {
        EXPECT_EQ(stokes_from_name(name), Stokes::U) << name;
    }
    for (const char* name : {"", "CHANNEL1", "QU", "UNIT", "QUALITY", "IQ", "TT", "X"}) {
        EXPECT_EQ(stokes_from_name(name), Stokes::none) << name;
    }
}

TEST(MapColumns, HitsAndCovariancesAreKnownByName) {
    for (const char* name : {"N_OBS", "HITS", "hits", "II_COV", "QU_COV", "SERROR", "QQ", "N_HITS"}) {
        EXPECT_NE(auxiliary_from_name(name), Auxiliary::none) << name;
    }
    for (const char* name : {"I_STOKES", "COUNTS", "CHANNEL1", "TMASK", "N", ""}) {
        EXPECT_EQ(auxiliary_from_name(name), Auxiliary::none) << name;
    }
}

TEST(MapColumns, PositionAloneDecidesNothing) {
    EXPECT_THAT(stokes_of(fields_of({"A", "B", "C"})), ElementsAre(Stokes::none, Stokes::none, Stokes::none));
}

TEST(MapColumns, PolarKeyMakesFirstThreePolarised) {
    EXPECT_THAT(stokes_of(fields_of({"A", "HITS", "B", "C", "D"}, true)),
                ElementsAre(Stokes::I, Stokes::none, Stokes::Q, Stokes::U, Stokes::none));
    // A map of the temperature alone from a run that had polarisation.
    EXPECT_THAT(stokes_of(fields_of({"TEMPERATURE"}, true)), ElementsAre(Stokes::I));
    // Names go before the key.
    EXPECT_THAT(stokes_of(fields_of({"X", "Q", "U", "T"}, true)),
                ElementsAre(Stokes::none, Stokes::Q, Stokes::U, Stokes::I));
}

TEST(MapColumns, ChoosesAllButAuxiliary) {
    EXPECT_THAT(sources_of(choose_fields(fields_of({"I_STOKES", "HITS", "Q_STOKES", "II_COV"}), {})),
                ElementsAre(0, 2));
    EXPECT_THAT(message_of<InvalidArgument>([] {
                    choose_fields(fields_of({"HITS", "II_COV"}), {});
                }),
                HasSubstr("must be named; there are 0 'HITS', 1 'II_COV'"));
}

TEST(MapColumns, ChoosesFieldsByNameAndNumberInTheOrderAsked) {
    const auto fields = fields_of({"I_STOKES", "HITS", "Q_STOKES"});
    EXPECT_THAT(sources_of(choose_fields(fields, {.fields = {"q_stokes", "1"}})), ElementsAre(2, 1));
    const auto error = [&](const std::string& field) {
        return message_of<InvalidArgument>([&] { choose_fields(fields, {.fields = {field}}); });
    };
    EXPECT_THAT(error("3"), HasSubstr("field 3: must be one of 0 'I_STOKES', 1 'HITS', 2 'Q_STOKES'"));
    EXPECT_THAT(error("-1"), HasSubstr("field -1: must be one of"));
    EXPECT_THAT(error("Z"), HasSubstr("field 'Z': must be one of"));
    EXPECT_THAT(message_of<InvalidArgument>([&] {
                    choose_fields(fields, {.fields = {"0", "I_STOKES"}});
                }),
                HasSubstr("asked for twice"));
    EXPECT_THAT(message_of<InvalidArgument>([] {
                    choose_fields(fields_of({"X", "X"}), {.fields = {"X"}});
                }),
                HasSubstr("occurs twice: give a number"));
}

TEST(MapColumns, CallerDecidesOnPolarisation) {
    EXPECT_THAT(stokes_of(choose_fields(fields_of({"A", "B", "C", "D"}), {.polarized = true})),
                ElementsAre(Stokes::I, Stokes::Q, Stokes::U, Stokes::none));
    EXPECT_THAT(stokes_of(choose_fields(fields_of({"A", "B"}), {.polarized = true})),
                ElementsAre(Stokes::Q, Stokes::U));
    EXPECT_THAT(stokes_of(choose_fields(fields_of({"U", "Q", "I"}), {.polarized = true})),
                ElementsAre(Stokes::U, Stokes::Q, Stokes::I));
    EXPECT_THAT(stokes_of(choose_fields(fields_of({"I", "Q", "U"}), {.polarized = false})),
                ElementsAre(Stokes::none, Stokes::none, Stokes::none));
    EXPECT_THROW(choose_fields(fields_of({"A"}), {.polarized = true}), InvalidArgument);
}

TEST(MapColumns, RejectsTwoColumnsOfOneStokesParameter) {
    EXPECT_THAT(message_of<InvalidArgument>([] {
                    choose_fields(fields_of({"Q_STOKES", "Q", "U"}), {});
                }),
                HasSubstr("two fields are the Stokes parameter Q"));
}

}  // namespace
}  // namespace zonal::io
