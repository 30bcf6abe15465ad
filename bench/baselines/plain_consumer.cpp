// Baseline: reads a whole topic with librdkafka as it is and does nothing with it. One line of JSON when it
// is through: epilogue-bench-plain BROKERS TOPIC EVENTS
#include <cstdlib>

#include "bench/baselines/topic_reader.h"

int main(int argc, char** argv) {
    if (argc != 4) return 64;
    const long wanted = std::atol(argv[3]);
    epilogue::bench::TopicReader reader(argv[1], argv[2], "plain");
    for (long events = 0; events < wanted; ++events) reader.next();
    epilogue::bench::tell_and_end(reader, wanted);
}
