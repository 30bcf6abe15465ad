// One operation of a sink, without I/O: it says which request it wants next and reads the answer, until it
// knows the outcome. Written as a coroutine, so that the steps stand one below the other:
//
//     Dialogue<Attempt> NoteSink::create(Post post) {
//         HttpRequest request = api_.request("POST", "/notes", post.body);
//         const HttpAnswer answer = co_await request;
//         co_return attempt_of(answer);
//     }
//
// The holder of the dialogue makes the requests, one after the other (transport.h does so and waits):
//
//     while (HttpRequest* request = dialogue.request()) dialogue.answer(send(*request));
//     use(dialogue.outcome());
//
// What is awaited has a name: g++ 12 destroys temporaries of a co_await's expression twice, so an expression
// that would make some does not compile.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "base/http_message.h"

namespace epilogue {

/// What a dialogue and its holder share: the request that waits, and what goes on when it is answered.
class Exchange {
  public:
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    /// The request to be made now, its timeout left to the holder; null when there is none left: the outcome
    /// is known. The first call begins the dialogue.
    HttpRequest* request();
    /// The answer to that request; the dialogue goes on to its next request or to its end.
    void answer(HttpAnswer answer);

  private:
    friend class DialoguePromise;

    void go_on();

    std::coroutine_handle<> suspended_;  // goes on next; null once all is over
    HttpRequest* request_ = nullptr;     // in the frame of the dialogue that asks
    HttpAnswer answer_;
};

template <class Outcome>
class Dialogue;

/// What the coroutines of all outcomes have in common. A dialogue may await another one: both then speak
/// through the exchange of the outermost.
class DialoguePromise {
  public:
    DialoguePromise() = default;
    DialoguePromise(const DialoguePromise&) = delete;
    DialoguePromise& operator=(const DialoguePromise&) = delete;

    /// Nothing runs before the holder asks for the first request.
    std::suspend_always initial_suspend() noexcept { return {}; }
    /// Goes on with the dialogue that awaits this one; the outermost goes back to its holder.
    auto final_suspend() noexcept {
        struct Return {
            DialoguePromise& ended;

            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept {
                return ended.awaited_by_ ? ended.awaited_by_ : std::noop_coroutine();
            }
            void await_resume() noexcept {}
        };
        return Return{*this};
    }
    /// To the holder: out of request() or answer(). The dialogue is of no use afterwards.
    void unhandled_exception() { throw; }

    /// co_await of a request gives its answer.
    auto await_transform(HttpRequest& request) {
        struct Ask {
            Exchange& exchange;

            bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<> asking) noexcept { exchange.suspended_ = asking; }
            HttpAnswer await_resume() { return std::move(exchange.answer_); }
        };
        exchange_->request_ = &request;
        return Ask{*exchange_};
    }
    void await_transform(HttpRequest&&) = delete;
    /// co_await of a dialogue gives its outcome.
    template <class Outcome>
    auto await_transform(Dialogue<Outcome>& inner) {
        struct Await {
            typename Dialogue<Outcome>::promise_type& inner;
            Exchange* exchange;

            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
                inner.exchange_ = exchange;
                inner.awaited_by_ = awaiting;
                return Dialogue<Outcome>::handle_of(inner);
            }
            Outcome await_resume() { return std::move(*inner.outcome); }
        };
        return Await{inner.promise(), exchange_};
    }
    template <class Outcome>
    void await_transform(Dialogue<Outcome>&&) = delete;

    Exchange& exchange() { return *exchange_; }

  protected:
    void begin_with(std::coroutine_handle<> first) { own_.suspended_ = first; }

  private:
    Exchange own_;
    Exchange* exchange_ = &own_;
    std::coroutine_handle<> awaited_by_;
};

/// Owns a coroutine that ends with `co_return` of an Outcome. Its parameters are values, not references: it
/// outlives the call that made it. A sink outlives its dialogues.
template <class Outcome>
class [[nodiscard]] Dialogue {
  public:
    class promise_type : public DialoguePromise {  // NOLINT(readability-identifier-naming): the language's
      public:
        Dialogue get_return_object() {
            begin_with(handle_of(*this));
            return Dialogue(*this);
        }
        void return_value(Outcome value) { outcome = std::move(value); }

        std::optional<Outcome> outcome;
    };

    Dialogue(Dialogue&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
    Dialogue(const Dialogue&) = delete;
    Dialogue& operator=(const Dialogue&) = delete;
    Dialogue& operator=(Dialogue&&) = delete;
    ~Dialogue() {
        if (promise_ != nullptr) handle_of(*promise_).destroy();
    }

    Exchange& exchange() { return promise_->exchange(); }
    /// As Exchange has them.
    HttpRequest* request() { return exchange().request(); }
    void answer(HttpAnswer answer) { exchange().answer(std::move(answer)); }
    /// Once, when no request is left.
    Outcome outcome() { return std::move(promise_->outcome).value(); }

  private:
    friend class DialoguePromise;

    explicit Dialogue(promise_type& promise) : promise_(&promise) {}
    static std::coroutine_handle<promise_type> handle_of(promise_type& promise) {
        return std::coroutine_handle<promise_type>::from_promise(promise);
    }
    promise_type& promise() { return *promise_; }

    promise_type* promise_;
};

}  // namespace epilogue
