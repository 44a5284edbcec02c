#include "synth/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synth/marginals.h"
#include "synth/score.h"

namespace discreet::synth {
namespace {

constexpr char kStyle[] =
    "body{font:15px/1.5 system-ui,sans-serif;margin:0;background:#f6f7f9;color:#1c2330}"
    "main{max-width:1080px;margin:0 auto;padding:28px 24px 60px}"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:34px 0 10px}"
    "section,.card{background:#fff;border:1px solid #e2e6ec;border-radius:10px;padding:16px 20px}"
    ".warn{background:#fdecea;border:1px solid "
    "#d9534f;color:#8a1f17;border-radius:10px;padding:12px "
    "18px;margin:16px 0;font-weight:600}"
    ".promise{background:#eaf4ee;border-color:#6aa884}"
    "table{border-collapse:collapse;width:100%}th,td{padding:5px "
    "10px;text-align:left;border-bottom:"
    "1px solid #eceff3}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(310px,1fr));gap:14px}"
    ".maps{display:flex;flex-wrap:wrap;gap:18px}.muted{color:#68707d}svg text{font:10px "
    "system-ui,sans-serif;fill:#4a5260}";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// White to deep blue; differences white to red.
std::string colour(double value, bool difference) {
  const double x = std::clamp(value, 0.0, 1.0);
  const auto mix = [x](int from, int to) {
    return static_cast<int>(std::lround(from + (to - from) * std::sqrt(x)));
  };
  return difference ? fmt::format("rgb({},{},{})", mix(255, 190), mix(255, 30), mix(255, 45))
                    : fmt::format("rgb({},{},{})", mix(255, 18), mix(255, 62), mix(255, 128));
}

std::string heat_map(const std::string& title, const Domain& domain,
                     const std::vector<double>& values, bool difference) {
  const std::size_t n = domain.size();
  const double cell = std::clamp(330.0 / static_cast<double>(n), 8.0, 26.0);
  const double side = cell * static_cast<double>(n), pad = 92;
  std::string svg = fmt::format(
      "<div class=card><b>{}</b><br><svg width='{:.0f}' height='{:.0f}' role='img' "
      "aria-label='{}'>",
      escaped(title), side + pad + 46, side + pad + 10, escaped(title));
  for (std::size_t i = 0; i < n; ++i) {
    const double at = pad + cell * (static_cast<double>(i) + 0.5);
    const std::string label = escaped(domain[i].name.substr(0, 15));
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>", pad - 5, at + 3,
                       label);
    svg += fmt::format("<text transform='translate({:.1f},{:.1f}) rotate(-60)'>{}</text>", at + 2,
                       pad - 5, label);
    for (std::size_t j = 0; j < n; ++j) {
      const double value = values[i * n + j];
      svg += fmt::format(
          "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'><title>{} - {}: "
          "{:.3f}</title></rect>",
          pad + cell * static_cast<double>(j), pad + cell * static_cast<double>(i), cell - 0.6,
          cell - 0.6, i == j && !difference ? "#e4e7ec" : colour(value, difference),
          escaped(domain[i].name), escaped(domain[j].name), value);
    }
  }
  return svg + "</svg></div>";
}

// Bars of the twin, dots of the real table, whiskers of the private measurement.
std::string histogram(const ReportInput& input, std::uint32_t a) {
  const Domain& domain = input.twin->domain;
  const auto twin = count_marginal(*input.twin, Clique{a});
  const double m = static_cast<double>(std::max<std::size_t>(1, input.twin->rows()));
  std::vector<double> heights, dots;
  for (const auto count : twin) heights.push_back(static_cast<double>(count) / m);
  if (input.real != nullptr) {
    const double n = static_cast<double>(std::max<std::size_t>(1, input.real->rows()));
    for (const auto count : count_marginal(*input.real, Clique{a}))
      dots.push_back(static_cast<double>(count) / n);
  }
  double top = 1e-9;
  for (const double h : heights) top = std::max(top, h);
  for (const double d : dots) top = std::max(top, d);
  const double width = 290, height = 110, step = width / static_cast<double>(heights.size());
  std::string svg = fmt::format(
      "<div class=card><b>{}</b> <span class=muted>{} values</span><br><svg width='300' "
      "height='128' "
      "role='img' aria-label='{}'>",
      escaped(domain[a].name), domain[a].size, escaped(domain[a].name));
  for (std::size_t v = 0; v < heights.size(); ++v) {
    const double x = 4 + step * static_cast<double>(v);
    const double h = heights[v] / top * height;
    svg += fmt::format(
        "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='#7aa5d8'><title>code {}: "
        "{:.4f}</title></rect>",
        x, 118 - h, std::max(step * 0.85, 0.8), h, v, heights[v]);
    if (input.one_ways != nullptr && a < input.one_ways->size() && heights.size() <= 40) {
      const NoisyMarginal& noisy = (*input.one_ways)[a];
      const double low = (static_cast<double>(noisy.counts[v]) - 1.96 * noisy.sigma) / m / top;
      const double high = (static_cast<double>(noisy.counts[v]) + 1.96 * noisy.sigma) / m / top;
      svg += fmt::format(
          "<line x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}' stroke='#33507a'/>",
          x + step * 0.42, 118 - height * std::clamp(low, 0.0, 1.05),
          118 - height * std::clamp(high, 0.0, 1.05));
    }
    if (!dots.empty())
      svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{:.1f}' fill='#c23b22'/>",
                         x + step * 0.42, 118 - dots[v] / top * height,
                         std::clamp(step / 3, 1.0, 3.0));
  }
  return svg + "<line x1='3' x2='296' y1='118.5' y2='118.5' stroke='#9aa3af'/></svg></div>";
}

std::string errors_section(const ReportInput& input, Workers& workers) {
  const Domain& domain = input.real->domain;
  std::string html =
      "<h2>How far off</h2><section><table><tr><th>marginals<th class=n>how many<th "
      "class=n>largest "
      "error of a cell<th class=n>mean total variation</tr>";
  const auto line = [&](const std::string& what, const Workload& workload) {
    const Score score = score_twin(*input.real, *input.twin, workload, workers);
    html += fmt::format("<tr><td>{}<td class=n>{}<td class=n>{:.5f}<td class=n>{:.4f}</tr>", what,
                        workload.marginals.size(), score.max_error, score.mean_tvd);
    return score;
  };
  for (std::uint32_t ways = 1; ways <= 3 && ways <= domain.size(); ++ways) {
    Workload workload = Workload::all(domain, ways, 50'000).value();
    if (workload.marginals.size() > 400) workload.marginals.resize(400);
    line(fmt::format("{}-way", ways), workload);
  }
  const Score score = line("the workload", *input.workload);
  html +=
      "</table></section><h2>Worst marginals</h2><section><table><tr><th>columns<th "
      "class=n>largest error<th class=n>total variation</tr>";
  std::vector<std::size_t> order(score.marginals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return score.marginals[a].tvd > score.marginals[b].tvd; });
  for (std::size_t i = 0; i < std::min<std::size_t>(10, order.size()); ++i) {
    std::string names;
    for (const auto a : input.workload->marginals[order[i]].attributes)
      names += (names.empty() ? "" : ", ") + escaped(domain[a].name);
    html += fmt::format("<tr><td>{}<td class=n>{:.5f}<td class=n>{:.4f}</tr>", names,
                        score.marginals[order[i]].max_error, score.marginals[order[i]].tvd);
  }
  const std::uint32_t label = input.label.value_or(static_cast<std::uint32_t>(domain.size() - 1));
  html += fmt::format(
      "</table></section><h2>Train on the twin, test on the real rows</h2><section>A naive Bayes "
      "classifier of <b>{}</b>: {:.1f} % right when trained on the twin, {:.1f} % when trained on "
      "the "
      "real rows (and tested on the same).</section>",
      escaped(domain[label].name), 100 * naive_bayes_accuracy(*input.twin, *input.real, label),
      100 * naive_bayes_accuracy(*input.real, *input.real, label));
  return html;
}

}  // namespace

std::vector<double> association(const CodedTable& table, Workers& workers) {
  const std::size_t n = table.domain.size();
  std::vector<double> values(n * n, 0);
  workers.run(n, [&](std::size_t i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) {
        values[i * n + j] = 1;
        continue;
      }
      const auto a = static_cast<std::uint32_t>(i), b = static_cast<std::uint32_t>(j);
      const auto joint = count_marginal(table, Clique{a, b});
      const auto x = count_marginal(table, Clique{a}), y = count_marginal(table, Clique{b});
      const double rows = static_cast<double>(std::max<std::size_t>(1, table.rows()));
      double chi2 = 0, used_x = 0, used_y = 0;
      for (const auto count : x) used_x += count > 0;
      for (const auto count : y) used_y += count > 0;
      for (std::size_t c = 0; c < joint.size(); ++c) {
        const double expected =
            static_cast<double>(x[c / y.size()]) * static_cast<double>(y[c % y.size()]) / rows;
        if (expected > 0) chi2 += std::pow(static_cast<double>(joint[c]) - expected, 2) / expected;
      }
      const double freedom = std::min(used_x, used_y) - 1;
      values[i * n + j] = freedom > 0 ? std::sqrt(chi2 / rows / freedom) : 0;
    }
  });
  return values;
}

double naive_bayes_accuracy(const CodedTable& train, const CodedTable& test, std::uint32_t label) {
  const Domain& domain = train.domain;
  if (test.rows() == 0) return 0;
  const std::uint32_t labels = domain[label].size;
  const auto prior = count_marginal(train, Clique{label});
  std::vector<std::vector<double>> logs(domain.size());
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    if (a == label) continue;
    const auto joint = count_marginal(train, Clique{a, label});
    for (std::size_t c = 0; c < joint.size(); ++c)
      logs[a].push_back(std::log((static_cast<double>(joint[c]) + 0.5) /
                                 (static_cast<double>(prior[c % labels]) + 0.5 * domain[a].size)));
  }
  std::size_t right = 0;
  for (std::size_t row = 0; row < test.rows(); ++row) {
    std::uint32_t best = 0;
    double top = -INFINITY;
    for (std::uint32_t l = 0; l < labels; ++l) {
      double sum = std::log(static_cast<double>(prior[l]) + 0.5);
      for (std::uint32_t a = 0; a < domain.size(); ++a)
        if (a != label) sum += logs[a][std::size_t{test.columns[a][row]} * labels + l];
      if (sum > top) {
        top = sum;
        best = l;
      }
    }
    right += test.columns[label][row] == best;
  }
  return static_cast<double>(right) / static_cast<double>(test.rows());
}

std::string report_html(const ReportInput& input, Workers& workers) {
  const Domain& domain = input.twin->domain;
  std::string html = fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content='width=device-width'><title>{0}</title><style>{1}</style><main><h1>{0}</h1><p "
      "class=muted>{2} rows, {3} columns, {4} marginals in the workload</p>",
      escaped(input.title), kStyle, input.twin->rows(), domain.size(),
      input.workload->marginals.size());
  if (input.real != nullptr)
    html +=
        "<div class=warn>This page compares the twin with the real rows, without noise. It is NOT "
        "private: keep it where the real table is kept.</div>";
  if (input.epsilon > 0) {
    html += fmt::format(
        "<section class=promise><b>What is promised.</b> The twin is differentially private with "
        "epsilon = {:g} and delta = {:g} for adding or removing one {}: whatever anybody computes "
        "from it, its chance changes by a factor of at most e<sup>{:g}</sup> = {:.3g} (but for a "
        "probability of {:g}) whether or not that {} is in the table. Even the number of rows is "
        "private. The twin can be shared and queried freely; nothing more is spent.</section>",
        input.epsilon, input.delta, escaped(input.unit), input.epsilon, std::exp(input.epsilon),
        input.delta, escaped(input.unit));
  }
  if (!input.notes.empty()) {
    html += "<h2>How it was made</h2><section><ul>";
    for (const std::string& note : input.notes) html += "<li>" + escaped(note);
    html += "</ul></section>";
  }
  if (input.real != nullptr) html += errors_section(input, workers);
  html += "<h2>Association of columns (Cram&eacute;r's V)</h2><div class=maps>";
  const auto twin = association(*input.twin, workers);
  html += heat_map("twin", domain, twin, false);
  if (input.real != nullptr) {
    const auto real = association(*input.real, workers);
    html += heat_map("real rows", domain, real, false);
    std::vector<double> difference(real.size());
    for (std::size_t i = 0; i < real.size(); ++i) difference[i] = std::abs(real[i] - twin[i]);
    html += heat_map("difference", domain, difference, true);
  }
  html +=
      fmt::format("</div><h2>Columns</h2><p class=muted>Bars: the twin.{}{}</p><div class=grid>",
                  input.one_ways != nullptr ? " Lines: 95 % intervals of the private counts." : "",
                  input.real != nullptr ? " Dots: the real rows." : "");
  for (std::uint32_t a = 0; a < std::min<std::size_t>(domain.size(), 60); ++a)
    html += histogram(input, a);
  return html + "</div></main></html>\n";
}

}  // namespace discreet::synth
