#define BOOST_TEST_MODULE note
#include "sinks/note/note.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <boost/test/unit_test.hpp>

#include "base/config_keys.h"
#include "base/ids.h"
#include "sinks/processor.h"
#include "sinks/registry.h"

using namespace epilogue;

namespace {

/// A folder of the test's own, gone at its end.
struct Folder {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / ("note-" + random_uuid());
    Folder() { std::filesystem::create_directory(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }
};

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_row_is_posted_through_the_registry_with_the_settings_of_the_file) {
    const Folder folder;
    const ConfigSchema schema({.sinks = sink_sections()});
    const auto config = load_config(std::nullopt, {{"EPILOGUE_NOTE_FOLDER", folder.path.string()}}, schema);
    BOOST_REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().text));
    BOOST_TEST(validate_for_use(*config, schema).has_value());
    BOOST_TEST(example_toml(schema).find("# Posts to files.\n[note]\n") != std::string::npos);

    SinkSettings settings;
    settings.sections = config->extensions;
    const auto sinks = make_sinks(settings);
    const auto processor = decode_processor("note", R"({"file": "todo.txt", "more": 1})");
    BOOST_REQUIRE_MESSAGE(processor.has_value(), (processor ? "" : processor.error().text));
    BOOST_TEST(describe(*processor) == "note:todo.txt");
    BOOST_TEST(encode_processor("note", R"({"file": "a", "more": 1})", *processor).value() ==
               R"({"file": "todo.txt", "more": 1})");

    Sink& sink = *sinks.at(processor->sink);
    Post post;
    post.delivery_id = DeliveryId("d-1");
    post.target = processor->target;
    post.body = sink.render({.headline = "**Finished**", .final_message = "Done.", .facts = {}, .link = {}},
                            post.delivery_id);
    BOOST_TEST(sink.find(post).ok);
    BOOST_TEST(sink.find(post).found.empty());
    BOOST_CHECK(sink.create(post).answer == Answer::sent);
    BOOST_TEST(sink.find(post).found.size() == 1U);
    BOOST_TEST(content_of(folder.path / "todo.txt") == "d-1\n**Finished**\n\nDone.\n\n");
}

BOOST_AUTO_TEST_CASE(a_wrong_file_is_refused) {
    BOOST_TEST(decode_processor("note", R"({"file": "../x"})").error().text ==
               R"(processor_json: field "file": expected a file's name)");
}
