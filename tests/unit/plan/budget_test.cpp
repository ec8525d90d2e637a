#include "plan/budget.hpp"

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::plan;

namespace {

Budget budget(std::int64_t limit, std::int64_t g_p, std::int64_t g_d, std::int64_t minimum = 1) {
    Budget b;
    b.limit = Gpus{limit};
    b.minimum = {Replicas{minimum}, Replicas{minimum}};
    b.each = {Gpus{g_p}, Gpus{g_d}};
    return b;
}

PerRole<Replicas> pair(std::int64_t p, std::int64_t d) { return {Replicas{p}, Replicas{d}}; }

void check_pair(PerRole<Replicas> got, std::int64_t p, std::int64_t d) {
    CHECK(got.prefill.count() == p);
    CHECK(got.decode.count() == d);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("budget, reference pair: the examples of the specification (core semantics 9.2)") {
        struct Example {
            std::int64_t p, d, g_p, g_d, limit, minimum, want_p, want_d;
        };
        constexpr Example examples[] = {
            {6, 6, 1, 1, 8, 1, 4, 4}, {3, 4, 2, 1, 8, 1, 2, 4},  {1, 9, 4, 1, 8, 1, 1, 4},
            {2, 1, 8, 1, 8, 1, 0, 0}, {5, 2, 2, 2, 10, 1, 3, 2}, {10, 1, 1, 1, 8, 1, 7, 1},
            {4, 4, 1, 1, 8, 2, 4, 4}, {9, 3, 1, 4, 16, 1, 6, 2},
        };
        for (const Example& e : examples) {
            CAPTURE(e.p);
            CAPTURE(e.d);
            check_pair(budget_pair_reference(budget(e.limit, e.g_p, e.g_d, e.minimum), pair(e.p, e.d)),
                       e.want_p, e.want_d);
        }
    }

    TEST_CASE(
        "budget: the reference gives decode what prefill leaves, shrink_only gives no role more than asked") {
        const Budget b = budget(15, 6, 1);  // case A18
        check_pair(budget_pair_reference(b, pair(8, 1)), 2, 3);
        check_pair(budget_pair_shrink_only(b, pair(8, 1), pair(1, 1)), 2, 1);
    }

    TEST_CASE("budget, shrink_only: never over the budget, never more than wanted, serving ones kept") {
        int cut = 0;
        for (std::int64_t limit = 2; limit <= 20; ++limit) {
            for (std::int64_t g_p = 1; g_p <= 4; ++g_p) {
                for (std::int64_t g_d = 1; g_d <= 4; ++g_d) {
                    if (limit < g_p + g_d) continue;
                    for (std::int64_t p = 1; p <= 9; ++p) {
                        for (std::int64_t d = 1; d <= 9; ++d) {
                            const PerRole<Replicas> ready = pair(2, 2);
                            const auto got =
                                budget_pair_shrink_only(budget(limit, g_p, g_d), pair(p, d), ready);
                            const std::int64_t used = got.prefill.count() * g_p + got.decode.count() * g_d;
                            REQUIRE(used <= limit);
                            REQUIRE(got.prefill.count() <= p);
                            REQUIRE(got.decode.count() <= d);
                            REQUIRE(got.prefill.count() >= 1);
                            REQUIRE(got.decode.count() >= 1);
                            if (std::min<std::int64_t>(p, 2) * g_p + std::min<std::int64_t>(d, 2) * g_d <=
                                limit) {
                                REQUIRE(got.prefill >= std::min(Replicas{p}, ready.prefill));
                                REQUIRE(got.decode >= std::min(Replicas{d}, ready.decode));
                            }
                            if (got.prefill.count() != p || got.decode.count() != d) ++cut;
                        }
                    }
                }
            }
        }
        CHECK(cut > 1000);
    }

    TEST_CASE("budget, shrink_only: where the minima do not fit, what serves stays") {
        check_pair(budget_pair_shrink_only(budget(4, 2, 2, 3), pair(3, 3), pair(2, 1)), 2, 1);
        CHECK(budget_single_shrink_only(budget(4, 2, 2, 3), Role::decode, Replicas{3}, Replicas{2}) ==
              Replicas{2});
    }

    TEST_CASE("budget: one role alone") {
        const Budget b = budget(8, 2, 2);
        CHECK(budget_single_reference(b, Role::decode, Replicas{9}) == Replicas{4});
        CHECK(budget_single_reference(b, Role::decode, Replicas{0}) == Replicas{1});
        CHECK(budget_single_reference(budget(8, 2, 2, 5), Role::decode, Replicas{5}) == Replicas{0});
        CHECK(budget_single_shrink_only(b, Role::decode, Replicas{9}, Replicas{1}) == Replicas{4});
        CHECK(budget_single_shrink_only(budget(-1, 2, 2), Role::decode, Replicas{9}, Replicas{1}) ==
              Replicas{9});
    }

    TEST_CASE("budget: without a GPU count the reference leaves everything as it is, the minimum too") {
        Budget b = budget(8, 2, 2, 3);
        b.each.decode.reset();
        CHECK(budget_single_reference(b, Role::decode, Replicas{1}) == Replicas{1});
        check_pair(budget_pair_reference(b, pair(50, 60)), 50, 60);
    }
}
