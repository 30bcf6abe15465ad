#define BOOST_TEST_MODULE secret_forms
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/decoded_text.h"
#include "base/redacted.h"
#include "base/text.h"

using namespace epilogue;

namespace {

const std::string folder = EPILOGUE_SOURCE_DIR "/tests/data/";

/// The lines of a file that are no comments; `\n` in them is a line's end, `\\` a backslash.
std::vector<std::string> lines_of(const std::string& name) {
    std::ifstream file(folder + name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.starts_with("#")) continue;
        line = replaced(replaced(line, "\\\\", "\x01"), "\\n", "\n");
        lines.push_back(replaced(line, "\x01", "\\"));
    }
    return lines;
}

/// `form` with each `{alphabet:count}` drawn: no secret stands in this tree.
class Filled {
  public:
    explicit Filled(const std::string& form) {
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

struct Form {
    std::string text;
    std::string secret;  ///< as it stands in the text
};

Form form_of(const std::string& line) {
    const auto filled = Filled(line).text();
    const auto open = filled.find("[[");
    const auto close = filled.rfind("]]");
    return {replaced(replaced(filled, "[[", ""), "]]", ""), filled.substr(open + 2, close - open - 2)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_form_of_a_secret_is_taken_out) {
    const auto lines = lines_of("secret_forms.txt");
    BOOST_TEST(lines.size() >= 114U);
    for (const auto& line : lines) {
        const auto [text, secret] = form_of(line);
        BOOST_TEST_INFO_SCOPE(text);
        const auto left = redacted(text);
        BOOST_TEST(left.find(secret) == std::string::npos, left);
        const auto seen = decoded_text(left).text;
        BOOST_TEST(seen.find(decoded_text(secret).text) == std::string::npos, left);
        BOOST_TEST(redacted(left) == left);
        // The same in a sentence, and among lines.
        BOOST_TEST(redacted("I ran this: " + text + " and it worked.\n").find(secret) == std::string::npos);
        BOOST_TEST(redacted("Done.\n\n```\n" + text + "\n```\n").find(secret) == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(no_part_of_an_ordinary_summary_is_taken_for_a_secret) {
    const auto lines = lines_of("ordinary_words.txt");
    BOOST_TEST(lines.size() >= 100U);
    for (const auto& line : lines) {
        const auto text = Filled(line).text();
        BOOST_TEST(redacted(text) == text);
    }
}
