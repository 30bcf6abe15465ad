// Identifiers that are texts and cannot be mixed up: a function that takes two of them cannot be called with
// one in the other's place.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace epilogue {

/// A text with a type of its own. It is made from a text on purpose only, it reads as a text everywhere, and
/// it neither converts into an id with another tag nor compares with one.
template <class Tag>
class TextId {
  public:
    TextId() = default;
    explicit TextId(std::string text) : text_(std::move(text)) {}

    operator const std::string&() const { return text_; }
    operator std::string_view() const { return text_; }
    const std::string& text() const { return text_; }
    bool empty() const { return text_.empty(); }
    std::size_t size() const { return text_.size(); }

    friend bool operator==(const TextId&, const TextId&) = default;
    friend auto operator<=>(const TextId&, const TextId&) = default;
    friend bool operator==(const TextId& id, std::string_view text) { return id.text_ == text; }
    friend std::string operator+(const std::string& left, const TextId& id) { return left + id.text_; }
    friend std::string operator+(const TextId& id, const std::string& right) { return id.text_ + right; }
    friend std::ostream& operator<<(std::ostream& out, const TextId& id) { return out << id.text_; }

  private:
    std::string text_;
};

}  // namespace epilogue

template <class Tag>
struct std::hash<epilogue::TextId<Tag>> {
    std::size_t operator()(const epilogue::TextId<Tag>& id) const noexcept {
        return std::hash<std::string>()(id.text());
    }
};

template <class Tag>
struct fmt::formatter<epilogue::TextId<Tag>> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const epilogue::TextId<Tag>& id, Context& context) const {
        return fmt::formatter<std::string_view>::format(id.text(), context);
    }
};
