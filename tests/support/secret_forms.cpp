#include "tests/support/secret_forms.h"

#include <fstream>
#include <map>
#include <random>

#include "base/text.h"

namespace epilogue::testing {
namespace {

/// `form` with each `{alphabet:count}` drawn.
class FilledForm {
  public:
    explicit FilledForm(const std::string& form) {
        std::size_t from = 0;
        while (true) {
            const auto open = form.find('{', from);
            const auto colon = form.find(':', open);
            const auto alphabet = open == std::string::npos || colon == std::string::npos
                                      ? alphabets().end()
                                      : alphabets().find(form.substr(open + 1, colon - open - 1));
            text_ += form.substr(from, open == std::string::npos ? open : open - from);
            if (open == std::string::npos) break;
            if (alphabet == alphabets().end()) {
                text_ += '{';
                from = open + 1;
                continue;
            }
            const auto close = form.find('}', colon);
            draw(alphabet->second, std::stoul(form.substr(colon + 1, close - colon - 1)));
            from = close + 1;
        }
    }
    const std::string& text() const { return text_; }

  private:
    static const std::map<std::string, std::string>& alphabets() {
        static const std::string digits = "0123456789";
        static const std::string small = "abcdefghijklmnopqrstuvwxyz";
        static const std::string capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        static const std::map<std::string, std::string> all{{"b62", digits + small + capitals},
                                                            {"hex", "0123456789abcdef"},
                                                            {"up", capitals + "234567"},
                                                            {"dig", digits},
                                                            {"low", digits + small},
                                                            {"b64", digits + small + capitals + "-_"},
                                                            {"std", digits + small + capitals + "+/"}};
        return all;
    }

    /// A digit among them, as in all that is drawn by chance.
    void draw(const std::string& alphabet, std::size_t count) {
        std::uniform_int_distribution<std::size_t> place(0, alphabet.size() - 1);
        for (std::size_t i = 0; i < count; ++i) text_ += i == 1 ? '7' : alphabet[place(random())];
    }
    static std::mt19937& random() {
        static std::mt19937 engine(1);
        return engine;
    }

    std::string text_;
};

SecretForm secret_form(const std::string& line) {
    const auto filled = FilledForm(line).text();
    const auto open = filled.find("[[");
    const auto close = filled.rfind("]]");
    return {replaced(replaced(filled, "[[", ""), "]]", ""), filled.substr(open + 2, close - open - 2)};
}

}  // namespace

std::vector<std::string> lines_in(const std::string& name) {
    std::ifstream file(EPILOGUE_SOURCE_DIR "/tests/data/" + name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.starts_with("#")) continue;
        line = replaced(replaced(line, "\\\\", "\x01"), "\\n", "\n");
        lines.push_back(replaced(line, "\x01", "\\"));
    }
    return lines;
}

std::string filled_form(const std::string& form) {
    return FilledForm(form).text();
}

std::vector<SecretForm> secret_forms() {
    std::vector<SecretForm> forms;
    for (const std::string& line : lines_in("secret_forms.txt")) forms.push_back(secret_form(line));
    return forms;
}

}  // namespace epilogue::testing
