// Errors as values. An error says what its receiver may do about it.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace epilogue {

/// What the receiver of an error may do.
enum class Remedy {
    retry,   ///< back off and try again; nothing advances meanwhile
    poison,  ///< this input can never work: dead letter, then advance
    fatal,   ///< stop; a person has to mend something
};

/// What an error of our own ports is about, where its receiver has to know more than the remedy.
enum class Cause {
    other,
    fenced,           ///< another owner has a newer generation (worker/store/fence.h)
    owned_elsewhere,  ///< another group or cluster reads the partition (worker/consume/claim_partition.h)
};

struct Error {
    Remedy remedy = Remedy::fatal;
    int code = 0;      ///< the library's own number (errno, MySQL, curl, Kafka); 0 when there is none
    std::string text;  ///< for people; never holds a secret
    Cause cause = Cause::other;
};

/// A T, or an Error that says why not.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  public:
    using tl::expected<T, Error>::expected;
};

using Failure = tl::unexpected<Error>;

/// Failures by remedy; `code` as in Error.
inline Failure retryable(std::string text, int code = 0) {
    return Failure(Error{Remedy::retry, code, std::move(text), Cause::other});
}
inline Failure poisonous(std::string text, int code = 0) {
    return Failure(Error{Remedy::poison, code, std::move(text), Cause::other});
}
inline Failure fatal(std::string text, int code = 0) {
    return Failure(Error{Remedy::fatal, code, std::move(text), Cause::other});
}
/// A failure with a cause of ours.
inline Failure failure(Remedy remedy, Cause cause, std::string text) {
    return Failure(Error{remedy, 0, std::move(text), cause});
}

}  // namespace epilogue

#define EPILOGUE_JOIN_(a, b) a##b
#define EPILOGUE_JOIN(a, b) EPILOGUE_JOIN_(a, b)

/// `TRY(auto rows, query(...));` declares `rows` from the value, or returns the error to the caller.
#define TRY(declaration, expression)                                                  \
    auto EPILOGUE_JOIN(try_, __LINE__) = (expression);                                \
    if (!EPILOGUE_JOIN(try_, __LINE__))                                               \
        return ::epilogue::Failure(std::move(EPILOGUE_JOIN(try_, __LINE__)).error()); \
    declaration = std::move(*EPILOGUE_JOIN(try_, __LINE__))

/// The same for a Result<void>.
#define TRY_VOID(expression)                                                                   \
    do {                                                                                       \
        if (auto EPILOGUE_JOIN(try_, __LINE__) = (expression); !EPILOGUE_JOIN(try_, __LINE__)) \
            return ::epilogue::Failure(std::move(EPILOGUE_JOIN(try_, __LINE__)).error());      \
    } while (false)
