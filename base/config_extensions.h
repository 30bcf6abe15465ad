// Sections of the configuration that base/ does not know: each is a struct of the folder that declares its
// keys.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace epilogue {

/// At most one value of each section's struct, which has default values and can be compared.
class ConfigExtensions {
  public:
    /// The section's settings; its defaults while nothing was set.
    template <class Section>
    const Section& get() const {
        static const Section defaults;
        const auto found = sections_.find(typeid(Section));
        return found == sections_.end() ? defaults : *std::any_cast<Section>(&found->second.value);
    }

    /// The section's settings, to be changed.
    template <class Section>
    Section& edit() {
        const auto [place, added] = sections_.try_emplace(typeid(Section), Stored{Section(), equal<Section>});
        return *std::any_cast<Section>(&place->second.value);
    }

    /// A section that was never edited equals one with its defaults.
    bool operator==(const ConfigExtensions& other) const { return covers(other) && other.covers(*this); }

  private:
    struct Stored {
        std::any value;
        bool (*equal)(const Stored& one, const ConfigExtensions& others);
    };

    template <class Section>
    static bool equal(const Stored& one, const ConfigExtensions& others) {
        return *std::any_cast<Section>(&one.value) == others.get<Section>();
    }

    /// Each section edited here is the same there.
    bool covers(const ConfigExtensions& other) const {
        for (const auto& [type, section] : sections_)
            if (!section.equal(section, other)) return false;
        return true;
    }

    std::map<std::type_index, Stored> sections_;
};

}  // namespace epilogue
