#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "zonal/io/header.hpp"

namespace zonal::io {

/// The value cards of one HDU. Where a key occurs twice the first one counts, as in CFITSIO.
class FitsHeader {
  public:
    /// Adds one card of 80 bytes. Cards without a value (COMMENT, HISTORY, blank) are left out.
    void add(std::string_view card);

    const std::vector<HeaderCard>& cards() const { return cards_; }
    /// Throws InvalidArgument unless the first card of this key is the header's card number `position`,
    /// from 1.
    void require_position(const std::string& key, std::int64_t position) const;
    bool has(const std::string& key) const { return index_.contains(key); }

    // Each is empty when the key is absent or its value blank, and throws InvalidArgument ("NSIDE = 'abc':
    // must be an integer") when the value has another type.
    // What other writers put there is read as the one thing that it can mean: 8.0 and '8' are integers,
    // '.true.' is T.
    std::optional<std::int64_t> integer(const std::string& key) const;
    std::optional<double> number(const std::string& key) const;
    std::optional<bool> logical(const std::string& key) const;
    /// Without trailing blanks; numbers come as they stand in the card.
    std::optional<std::string> text(const std::string& key) const;

  private:
    const HeaderCard* find(const std::string& key) const;

    std::vector<HeaderCard> cards_;
    std::vector<std::int64_t> positions_;  ///< of cards_ among all cards, from 1
    std::int64_t n_cards_ = 0;
    std::unordered_map<std::string, std::size_t> index_;
};

/// "NSIDE = 'abc'" for messages.
std::string describe(const HeaderCard& card);

}  // namespace zonal::io
