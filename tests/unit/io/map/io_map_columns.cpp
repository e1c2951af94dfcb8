// Which columns are I, Q, U, which are left out, and how fields are chosen.
#include "io/map/columns.hpp"

#include <gmock/gmock.h>

#include <array>
#include <optional>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<MapField> fields_of(const std::vector<std::string>& names, std::optional<bool> polar = {},
                                std::vector<std::string>* notes = nullptr) {
    std::vector<MapField> fields;
    for (std::size_t i = 0; i < names.size(); ++i)
        fields.push_back({.name = names[i], .source = static_cast<int>(i)});
    std::vector<std::string> unread;
    assign_stokes(fields, polar, {}, notes ? *notes : unread);
    return fields;
}

std::vector<MapField> chosen(const std::vector<MapField>& fields, const ReadMapOptions& options,
                             std::vector<std::string>* notes = nullptr) {
    std::vector<std::string> unread;
    return choose_fields(fields, options, notes ? *notes : unread);
}

/// "IQU-": I, Q, U and a scalar.
std::string letters_of(const std::vector<MapField>& fields) {
    std::string letters;
    for (const auto& field : fields) letters += "-IQU"[static_cast<int>(field.stokes)];
    return letters;
}

Stokes common_stokes(const std::string& name) {
    const auto found = stokes_from_name(name);
    return found && found->is_common ? found->stokes : Stokes::none;
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
        EXPECT_EQ(common_stokes(name), Stokes::I) << name;
    }
    for (const char* name : {"Q_STOKES", "Q-POLARISATION", "Q_POLARISATION", "Q_POLARIZATION", "Q", "q"}) {
        EXPECT_EQ(common_stokes(name), Stokes::Q) << name;
    }
    for (const char* name : {"U_STOKES", "U-POLARISATION", "U_POLARISATION", "U", " U "}) {
        EXPECT_EQ(common_stokes(name), Stokes::U) << name;
    }
    for (const char* name : {"", "CHANNEL1", "QU", "UNIT", "QUALITY", "IQ", "TT", "X"}) {
        EXPECT_EQ(common_stokes(name), Stokes::none) << name;
    }
}

TEST(MapColumns, HitsAndCovariancesAreKnownByName) {
    for (const char* name : {"N_OBS", "HITS", "hits", "II_COV", "QU_COV", "SERROR", "QQ", "N_HITS", "I_RMS",
                             "SIGMA_Q", "Q_STDDEV", "VAR_I", "I_HITS"}) {
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

TEST(MapColumns, NamesThatShareTheirRestAreIQU) {
    const std::vector<std::array<const char*, 3>> skies{{"I_MEAN", "Q_MEAN", "U_MEAN"},
                                                        {"DUST_I", "DUST_Q", "DUST_U"},
                                                        {"I_DUST", "Q_DUST", "U_DUST"},
                                                        {"TQU_T", "TQU_Q", "TQU_U"},
                                                        {"I_INTENSITY", "Q_INTENSITY", "U_INTENSITY"},
                                                        {"Stokes I", "Stokes Q", "Stokes U"},
                                                        {"TMAP", "QMAP", "UMAP"},
                                                        {"IPOL", "QPOL", "UPOL"},
                                                        {"I_CMB", "Q_CMB", "U_CMB"},
                                                        {"I_ML_FULL", "Q_ML_FULL", "U_ML_FULL"},
                                                        {"MAPT", "MAPQ", "MAPU"},
                                                        {"TEMPERATURE", "POLARIZATION_Q", "POLARIZATION_U"},
                                                        {"SIGNAL", "q.mean", "u.mean"}};
    for (const auto& [i, q, u] : skies) {
        EXPECT_EQ(letters_of(fields_of({i, q, u})), "IQU") << q;
        EXPECT_EQ(letters_of(fields_of({u, i, q})), "UIQ") << q;
        EXPECT_EQ(letters_of(fields_of({i, q, u}, true)), "IQU") << q;
    }
    EXPECT_EQ(letters_of(fields_of({"DUST", "DUST_Q", "DUST_U"})), "-QU");
    EXPECT_EQ(letters_of(fields_of({"I_DUST", "T", "Q_DUST", "U_DUST"})), "I-QU");
    for (const auto& none : std::vector<std::vector<std::string>>{
             {"I_A", "Q_A", "U_B"}, {"Q_BAND", "V_BAND"}, {"Q_U", "U_Q"}, {"I_A", "Q_A"}, {"QUA", "UQA"}})
        EXPECT_EQ(letters_of(fields_of(none)), std::string(none.size(), '-')) << none[0];
}

TEST(MapColumns, OfSeveralPairsTheCallerChoosesOne) {
    const auto fields = fields_of({"Q_ML_FULL", "U_ML_FULL", "Q_ML_HM1", "U_ML_HM1"});
    std::vector<std::string> notes;
    EXPECT_EQ(letters_of(chosen(fields, {}, &notes)), "----");
    EXPECT_THAT(
        notes,
        ElementsAre(HasSubstr("look like Q and U, but are taken as scalars: --pol, --no-pol or --field")));
    notes.clear();
    EXPECT_EQ(letters_of(chosen(fields, {.fields = {"U_ML_HM1", "Q_ML_HM1"}}, &notes)), "UQ");
    EXPECT_EQ(letters_of(chosen(fields, {.polarized = false}, &notes)), "----");
    EXPECT_THAT(notes, ElementsAre());
}

TEST(MapColumns, OneOfQAndUAloneIsNoPair) {
    std::vector<std::string> notes;
    for (const std::string letter : {"Q", "U"})
        EXPECT_EQ(letters_of(chosen(fields_of({"I_A", letter + "_A"}), {}, &notes)), "--");
    EXPECT_THAT(notes, ElementsAre());
}

TEST(MapColumns, ThePolarKeyIsFollowedOrContradictedAloud) {
    std::vector<std::string> notes;
    EXPECT_EQ(letters_of(fields_of({"A", "B", "C"}, true, &notes)), "IQU");
    EXPECT_THAT(notes, ElementsAre(HasSubstr("POLAR = T: columns 'A', 'B', 'C' taken as I, Q, U; --pol")));
    notes.clear();
    EXPECT_EQ(letters_of(fields_of({"I_MEAN", "I_RMS", "Q_MEAN"}, true, &notes)), "---");
    EXPECT_THAT(notes, ElementsAre(HasSubstr("POLAR = T, but the names do not say")));
    notes.clear();
    EXPECT_EQ(letters_of(fields_of({"A", "U_X", "Q_Y"}, true, &notes)), "---");
    EXPECT_THAT(notes, ElementsAre(HasSubstr("POLAR = T, but the names do not say")));
    notes.clear();
    EXPECT_EQ(letters_of(fields_of({"I", "Q", "U"}, false, &notes)), "IQU");
    EXPECT_THAT(notes, ElementsAre(HasSubstr("POLAR = F, but columns are Q and U by their names")));
    notes.clear();
    fields_of({"I", "Q", "U"}, true, &notes);
    fields_of({"I", "Q", "U"}, {}, &notes);
    fields_of({"TEMPERATURE"}, true, &notes);
    EXPECT_THAT(notes, ElementsAre());
}

TEST(MapColumns, ChoosesAllButAuxiliary) {
    EXPECT_THAT(sources_of(chosen(fields_of({"I_STOKES", "HITS", "Q_STOKES", "II_COV"}), {})),
                ElementsAre(0, 2));
    EXPECT_THAT(message_of<InvalidArgument>([] {
                    chosen(fields_of({"HITS", "II_COV"}), {});
                }),
                HasSubstr("must be named; there are 0 'HITS', 1 'II_COV'"));
}

TEST(MapColumns, ChoosesFieldsByNameAndNumberInTheOrderAsked) {
    const auto fields = fields_of({"I_STOKES", "HITS", "Q_STOKES"});
    EXPECT_THAT(sources_of(chosen(fields, {.fields = {"q_stokes", "1"}})), ElementsAre(2, 1));
    const auto error = [&](const std::string& field) {
        return message_of<InvalidArgument>([&] { chosen(fields, {.fields = {field}}); });
    };
    EXPECT_THAT(error("3"), HasSubstr("field 3: must be one of 0 'I_STOKES', 1 'HITS', 2 'Q_STOKES'"));
    EXPECT_THAT(error("-1"), HasSubstr("field -1: must be one of"));
    EXPECT_THAT(error("Z"), HasSubstr("field 'Z': must be one of"));
    EXPECT_THAT(message_of<InvalidArgument>([&] {
                    chosen(fields, {.fields = {"0", "I_STOKES"}});
                }),
                HasSubstr("asked for twice"));
    EXPECT_THAT(message_of<InvalidArgument>([] {
                    chosen(fields_of({"X", "X"}), {.fields = {"X"}});
                }),
                HasSubstr("occurs twice: give a number"));
}

TEST(MapColumns, CallerDecidesOnPolarisation) {
    EXPECT_THAT(stokes_of(chosen(fields_of({"A", "B", "C", "D"}), {.polarized = true})),
                ElementsAre(Stokes::I, Stokes::Q, Stokes::U, Stokes::none));
    EXPECT_THAT(stokes_of(chosen(fields_of({"A", "B"}), {.polarized = true})),
                ElementsAre(Stokes::Q, Stokes::U));
    EXPECT_THAT(stokes_of(chosen(fields_of({"U", "Q", "I"}), {.polarized = true})),
                ElementsAre(Stokes::U, Stokes::Q, Stokes::I));
    EXPECT_THAT(stokes_of(chosen(fields_of({"I", "Q", "U"}), {.polarized = false})),
                ElementsAre(Stokes::none, Stokes::none, Stokes::none));
    EXPECT_THROW(chosen(fields_of({"A"}), {.polarized = true}), InvalidArgument);
}

TEST(MapColumns, RejectsTwoColumnsOfOneStokesParameter) {
    EXPECT_THAT(message_of<InvalidArgument>([] {
                    chosen(fields_of({"Q_STOKES", "Q", "U"}), {});
                }),
                HasSubstr("two fields are the Stokes parameter Q"));
}

}  // namespace
}  // namespace zonal::io
