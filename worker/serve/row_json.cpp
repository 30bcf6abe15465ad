#include "worker/serve/row_json.h"

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/instant.h"
#include "base/json_text.h"

namespace epilogue {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Column& column, const std::optional<std::string>& value) {
    if (!value) return nullptr;
    switch (column.kind) {
        case Kind::number:
            return std::stoll(*value);
        case Kind::time: {
            const auto at = parse_instant(*value);
            return at ? Json(to_iso(*at)) : Json(*value);
        }
        case Kind::json: {
            const Json nested = parse_ordered_json(*value);
            return nested.is_discarded() ? Json(*value) : nested;
        }
        case Kind::blob:
        case Kind::text:
            break;
    }
    return *value;
}

Json object_of(const std::vector<Column>& columns, const SqlRow& row) {
    Json object = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i].name] = json_of(columns[i], row.at(i));
    return object;
}

}  // namespace

std::string object_json(const std::vector<Column>& columns, const SqlRow& row) {
    return json_indented(object_of(columns, row));
}

std::string array_json(const std::vector<Column>& columns, const std::vector<SqlRow>& rows) {
    Json array = Json::array();
    for (const SqlRow& row : rows) array.push_back(object_of(columns, row));
    return json_indented(array);
}

}  // namespace epilogue
