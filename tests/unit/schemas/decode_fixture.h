// Events written down in a line, and what became of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "schemas/decode.h"

namespace epilogue::decode_test {

inline Decoded decode(std::string_view value) {
    return Decoder().decode(value);
}

inline Event event_of(std::string_view value) {
    auto decoded = decode(value);
    if (const auto* poison = std::get_if<Poison>(&decoded))
        BOOST_FAIL("poison: " << poison->reason << ", " << poison->detail << ": " << value);
    BOOST_REQUIRE_MESSAGE(std::holds_alternative<Event>(decoded), "ignored: " << value);
    return std::get<Event>(std::move(decoded));
}

inline bool is_ignored(std::string_view value) {
    return std::holds_alternative<IgnoredEvent>(decode(value));
}

inline std::string poison_of(std::string_view value) {
    const auto decoded = decode(value);
    const auto* poison = std::get_if<Poison>(&decoded);
    return poison ? poison->reason : "no poison";
}

/// V1: the body of an event with this kind and these further members.
inline std::string v1(const std::string& kind, const std::string& members) {
    return R"({"id":"e1","timestamp":"2026-11-21T09:00:01.5",)" + members + R"(,"kind":")" + kind + "\"}";
}

inline std::string v0(const std::string& members) {
    return R"({"id":7,"timestamp":"2026-11-21T09:00:01",)" + members + "}";
}

template <class T>
T body_of(std::string_view value) {
    const Event event = event_of(value);
    BOOST_REQUIRE_MESSAGE(std::holds_alternative<T>(event.body),
                          "body " << event.body.index() << ": " << value);
    return std::get<T>(event.body);
}

template <class T>
std::vector<T> work_of(const Event& event) {
    std::vector<T> found;
    for (const auto& work : event.work)
        if (const auto* one = std::get_if<T>(&work)) found.push_back(*one);
    return found;
}

}  // namespace epilogue::decode_test
