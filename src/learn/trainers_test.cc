// What trainers promise: they learn what is there, say so when they cannot, and survive a file.
#include "learn/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "learn/evaluate.h"
#include "learn/metrics.h"
#include "support/seeded_random.h"
#include "synth/dice.h"

namespace discreet::learn {
namespace {

ApproxDp budget(double epsilon) {
  return {Epsilon::make(epsilon).value(), Delta::make(1e-5).value()};
}

// Yes when a + b is large or the ward is 2, with a tenth of labels tossed; `c` is noise.
synth::RawTable made_up(std::size_t rows, std::uint64_t seed) {
  synth::Dice dice(seed, 0);
  synth::RawColumnBuilder a("a"), b("b"), c("c"), ward("ward"), y("y"), grade("grade"), sum("sum");
  for (std::size_t i = 0; i < rows; ++i) {
    const auto x = dice.below(100), z = dice.below(20), w = dice.below(4);
    const bool yes = dice.unit() < 0.1 ? dice.unit() < 0.5 : x + 5 * z > 110 || w == 2;
    a.add(std::to_string(x));
    b.add(std::to_string(z));
    c.add(std::to_string(dice.below(60)));
    ward.add(std::to_string(w));
    y.add(yes ? "1" : "0");
    grade.add(std::to_string(x < 30 ? 0 : x < 70 ? 1 : 2));
    sum.add(std::to_string(x + 2 * z));
  }
  synth::RawTable table;
  for (auto* column : {&a, &b, &c, &ward, &y, &grade, &sum})
    table.columns.push_back(column->take());
  return table;
}

FitRequest request(Method method, double epsilon, const std::string& target = "y") {
  FitRequest wanted{.method = method,
                    .specs = {},
                    .target = target,
                    .at_least = std::nullopt,
                    .budget = budget(epsilon)};
  wanted.specs = synth::parse_specs(R"({"a": 100, "b": 20, "c": 60, "ward": 4})").value();
  if (target == "y") wanted.specs.push_back({"y", synth::CodeColumn{2}});
  if (target == "grade") wanted.specs.push_back({"grade", synth::CodeColumn{3}});
  if (target == "sum") wanted.specs.push_back({"sum", synth::CodeColumn{140}});
  return wanted;
}

double value_of(const Evaluation& evaluation, const std::string& name) {
  for (const auto& [known, value] : evaluation.values)
    if (known == name) return value;
  return NAN;
}

class ClassifierTest : public testing::TestWithParam<Method> {};

TEST_P(ClassifierTest, LearnsWhatIsThereAndSurvivesAFile) {
  SeededRandom random(1);
  const auto training = made_up(6000, 1), fresh = made_up(3000, 2);
  const Model model = fit(request(GetParam(), 3), training, random).value();
  EXPECT_FALSE(model.majority);
  EXPECT_NEAR(model.rows_estimate, GetParam() == Method::Rules ? 0 : 6000, 200);
  const double right = value_of(evaluate(model, fresh).value(), "accuracy");
  std::cout << name_of(GetParam()) << ": accuracy " << right << "\n";
  EXPECT_GT(right, GetParam() == Method::Rules ? 0.65 : 0.88);

  const Model again = model_from_json(to_json(model)).value();
  const auto before = predict(model, fresh).value(), after = predict(again, fresh).value();
  ASSERT_EQ(before.size(), 3000u);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].value, after[i].value);
}
INSTANTIATE_TEST_SUITE_P(All, ClassifierTest,
                         testing::Values(Method::Logistic, Method::NaiveBayes, Method::Trees,
                                         Method::Network, Method::LogisticSgd, Method::Rules),
                         [](const auto& method) {
                           std::string name = name_of(method.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(TrainerTest, FastFormsLearnNearlyAsMuchAndOthersHaveNone) {
  for (const Method method : {Method::Logistic, Method::Trees}) {
    SeededRandom random(11);
    FitRequest wanted = request(method, 2);
    const double usual =
        value_of(evaluate(fit(wanted, made_up(8000, 1), random).value(), made_up(3000, 2)).value(),
                 "accuracy");
    wanted.fast = true;
    const double fast =
        value_of(evaluate(fit(wanted, made_up(8000, 1), random).value(), made_up(3000, 2)).value(),
                 "accuracy");
    std::cout << name_of(method) << ": accuracy " << usual << ", fast " << fast << "\n";
    EXPECT_GT(fast, usual - 0.03);
  }
  FitRequest wanted = request(Method::NaiveBayes, 2);
  wanted.fast = true;
  EXPECT_FALSE(check(wanted));
}

TEST(TrainerTest, SeveralClassesAreToldApart) {
  const auto training = made_up(6000, 3), fresh = made_up(2000, 4);
  for (const Method method :
       {Method::Logistic, Method::NaiveBayes, Method::Trees, Method::Network}) {
    SeededRandom random(2);
    const Model model = fit(request(method, 3, "grade"), training, random).value();
    const double right = value_of(evaluate(model, fresh).value(), "accuracy");
    std::cout << name_of(method) << ", three classes: accuracy " << right << "\n";
    EXPECT_GT(right, 0.9) << name_of(method);
  }
}

TEST(TrainerTest, ATargetCanBeWhetherANumberIsReached) {
  SeededRandom random(3);
  auto wanted = request(Method::Logistic, 3, "sum");
  wanted.at_least = 70;
  const Model model = fit(wanted, made_up(6000, 5), random).value();
  EXPECT_GT(value_of(evaluate(model, made_up(2000, 6)).value(), "accuracy"), 0.93);
}

TEST(TrainerTest, FewRowsAtASmallEpsilonMeanTheMajorityAndItSaysSo) {
  const auto training = made_up(800, 7), fresh = made_up(3000, 8);
  std::size_t ones = 0;
  for (const auto row : fresh.columns[4].rows) ones += fresh.columns[4].texts[row] == "1";
  const double share = static_cast<double>(ones) / 3000;
  for (const Method method : {Method::Logistic, Method::Trees, Method::NaiveBayes}) {
    SeededRandom random(4);
    auto wanted = request(method, 0.02);
    const Model model = fit(wanted, training, random).value();
    ASSERT_TRUE(model.majority) << name_of(method);
    EXPECT_NE(model.notes.back().find("CANNOT DO BETTER THAN THE MAJORITY"), std::string::npos);
    const double right = value_of(evaluate(model, fresh).value(), "accuracy");
    std::cout << name_of(method) << ": gave up with accuracy " << right << " of " << share << "\n";
    // One class for everybody.
    EXPECT_TRUE(std::fabs(right - share) < 1e-9 || std::fabs(right - (1 - share)) < 1e-9);
  }
}

TEST(TrainerTest, GivingUpItStillKnowsTheMostCommonClass) {
  // 800 rows of which a quarter are yes, at epsilon 0.1: the tables alone would often mistake it.
  synth::RawColumnBuilder a("a"), b("b"), c("c"), ward("ward"), y("y");
  synth::Dice dice(40, 0);
  for (int i = 0; i < 800; ++i) {
    a.add(std::to_string(dice.below(100)));
    b.add(std::to_string(dice.below(20)));
    c.add(std::to_string(dice.below(60)));
    ward.add(std::to_string(dice.below(4)));
    y.add(i % 4 == 0 ? "1" : "0");
  }
  synth::RawTable table;
  for (auto* column : {&a, &b, &c, &ward, &y}) table.columns.push_back(column->take());
  for (const Method method :
       {Method::Logistic, Method::Trees, Method::Network, Method::LogisticFtrl}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SeededRandom random(60 + seed);
      const Model model = fit(request(method, 0.05), table, random).value();
      ASSERT_TRUE(model.majority) << name_of(method);
      // 400 rows apart, noise of about 100: beyond four deviations, 20 times, below 1e-3 in all,
      // and the seeds are fixed.
      EXPECT_DOUBLE_EQ(value_of(evaluate(model, table).value(), "accuracy"), 0.75)
          << name_of(method);
    }
  }
}

TEST(TrainerTest, EmptyTablesAndOddValuesAreNotRefused) {
  for (const Method method : {Method::Logistic, Method::NaiveBayes, Method::Trees, Method::Network,
                              Method::Rules, Method::KMeans, Method::Components}) {
    SeededRandom random(5);
    EXPECT_TRUE(fit(request(method, 1), made_up(0, 1), random).has_value()) << name_of(method);
  }
  SeededRandom random(6);
  EXPECT_TRUE(fit(request(Method::Linear, 1, "sum"), made_up(0, 1), random).has_value());
  auto odd = made_up(50, 9);
  odd.columns[0].texts[0] = "not a number";
  odd.columns[1].rows[3] = synth::RawColumn::kNull;
  odd.columns[4].texts[0] = "7";
  EXPECT_TRUE(fit(request(Method::Logistic, 1), odd, random).has_value());
}

TEST(TrainerTest, WhatCannotBeLearnedIsRefusedBeforeRowsAreRead) {
  auto no_target = request(Method::Logistic, 1, "");
  EXPECT_EQ(check(no_target).error().code, ErrorCode::InvalidParameter);
  auto unknown = request(Method::Logistic, 1, "z");
  EXPECT_EQ(check(unknown).error().code, ErrorCode::NotFound);
  auto keys = request(Method::Logistic, 1);
  keys.specs.push_back({"zip", synth::KeyColumn{}});
  EXPECT_EQ(check(keys).error().code, ErrorCode::Refused);
  auto no_delta = request(Method::Logistic, 1);
  no_delta.budget.delta = Delta::zero();
  EXPECT_EQ(check(no_delta).error().code, ErrorCode::InvalidParameter);
  EXPECT_EQ(parse_method("psychic").error().code, ErrorCode::InvalidParameter);
}

TEST(TrainerTest, RegressionFindsTheCoefficients) {
  SeededRandom random(7);
  const Model model = fit(request(Method::Linear, 1, "sum"), made_up(8000, 10), random).value();
  const double r2 = value_of(evaluate(model, made_up(2000, 11)).value(), "r2");
  std::cout << "R2 " << r2 << "\n";
  EXPECT_GT(r2, 0.97);
}

TEST(TrainerTest, ClustersAndComponentsFindWhatWasMade) {
  synth::Dice dice(12, 0);
  synth::RawColumnBuilder x("x"), y("y"), z("z");
  for (int i = 0; i < 9000; ++i) {
    const double centre = i % 3 == 0 ? 20 : i % 3 == 1 ? 50 : 80;
    x.add(std::to_string(static_cast<int>(centre + 4 * dice.normal())));
    y.add(std::to_string(static_cast<int>(100 - centre + 4 * dice.normal())));
    z.add(std::to_string(static_cast<int>(50 + 2 * dice.normal())));
  }
  synth::RawTable table;
  for (auto* column : {&x, &y, &z}) table.columns.push_back(column->take());
  FitRequest wanted = request(Method::KMeans, 1, "");
  wanted.clusters = 3;
  wanted.specs = synth::parse_specs(R"({"x": 101, "y": 101, "z": 101})").value();
  SeededRandom random(8);
  const Model clusters = fit(wanted, table, random).value();
  // Within a cluster the variances are 16, 16 and 4, on ranges of 100; truncation adds a little.
  const double inertia = value_of(evaluate(clusters, table).value(), "inertia_per_row");
  std::cout << "inertia " << inertia << "\n";
  EXPECT_LT(inertia, 1.1 * 36.3 / 10'000);
  wanted.method = Method::Components;
  wanted.components = 1;
  const Model components = fit(wanted, table, random).value();
  EXPECT_GT(value_of(evaluate(components, table).value(), "explained"), 0.97);
  for (const Model* model : {&clusters, &components}) {
    const Model again = model_from_json(to_json(*model)).value();
    EXPECT_EQ(predict(*model, table).value()[5].value, predict(again, table).value()[5].value);
  }
}

TEST(TrainerTest, AModelFileThatWasTamperedWithIsRefused) {
  SeededRandom random(9);
  const std::string good =
      to_json(fit(request(Method::Trees, 3), made_up(500, 13), random).value());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_TRUE(model_from_json(good).has_value());
  for (const std::string& bad :
       {std::string("{}"), std::string("nonsense"),
        with("\"discreet_model\": 1", "\"discreet_model\": 9"),
        with("\"form\": \"trees\"", "\"form\": \"forest\""), with("\"b\": 20", "\"b\": 21"),
        with("\"prior\"", "\"earlier\""), with("\"epsilon\": 3", "\"epsilon\": -3")})
    EXPECT_FALSE(model_from_json(bad).has_value());
}

TEST(TrainerTest, TheForecastFallsWithRowsAndIsOfTheRightSize) {
  const auto wanted = request(Method::Logistic, 0.3);
  const auto said = forecast(wanted, {1e3, 6e3, 1e5}).value();
  EXPECT_GT(said.at[0].loss, said.at[1].loss);
  EXPECT_GT(said.at[1].loss, said.at[2].loss);
  // What privacy really takes at 6,000 rows, against the same trainer at a large epsilon.
  const auto fresh = made_up(3000, 15);
  double lost = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SeededRandom random(20 + seed);
    const auto training = made_up(6000, 30 + seed);
    const Model hidden = fit(wanted, training, random).value();
    const Model open = fit(request(Method::Logistic, 50), training, random).value();
    lost += (value_of(evaluate(open, fresh).value(), "accuracy") -
             value_of(evaluate(hidden, fresh).value(), "accuracy")) /
            5;
  }
  std::cout << "forecast " << said.at[1].loss << ", lost " << lost << "\n";
  EXPECT_LT(lost, 4 * said.at[1].loss);
}

TEST(EvaluateTest, PrivateAccuracyIsNoisyAndNearTheExactOne) {
  SeededRandom random(10);
  const auto fresh = made_up(5000, 16);
  const Model model = fit(request(Method::Logistic, 3), made_up(5000, 14), random).value();
  const double exact = value_of(evaluate(model, fresh).value(), "accuracy");
  const auto noisy = evaluate_privately(model, fresh, Epsilon::make(0.5).value(), random).value();
  EXPECT_TRUE(noisy.is_private);
  EXPECT_NEAR(value_of(noisy, "accuracy"), exact, 0.02);  // e^-25 beyond it
  EXPECT_NE(value_of(noisy, "accuracy"), exact);
}

TEST(MetricsTest, AreasAndSharesAreWhatTheyShouldBe) {
  const std::vector<std::uint16_t> labels = {0, 0, 1, 1, 1};
  const std::vector<double> scores = {0.1, 0.5, 0.5, 0.7, 0.9};
  EXPECT_DOUBLE_EQ(area_under_curve(scores, labels), 5.5 / 6);
  EXPECT_DOUBLE_EQ(accuracy(std::vector<std::uint32_t>{0, 1, 1, 1, 0}, labels), 0.6);
  EXPECT_DOUBLE_EQ(r_squared(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}), 1);
}

}  // namespace
}  // namespace discreet::learn
